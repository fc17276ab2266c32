//! The MCP edge: HTTP and stdio in, one reply out, with rmcp's model types in between.
//!
//! ```text
//! serve ─ connection ─ HostPolicy ─ McpEndpoint ─ bearer ─ Gate::identify ─ Gate::admit ─┐
//! StdioServer ─ line ─ Gate::admit_stdio ───────────────────────────────────────────────┤
//!                                        body ─ strict parse ─ era ─ headers ─ dispatch ┘
//! ```
//!
//! [`serve`] owns the sockets (HTTP/1.1, TLS, limits, drain) and applies the [`HostPolicy`] to
//! every route of whatever service it is given. [`mcp_service`] makes the service for one MCP
//! path, [`mcp_rooms`] one for paths that lead to a surface each; [`StdioServer`] serves the same surface on lines; [`run_proxy`] bridges a client that
//! only speaks stdio to an endpoint elsewhere. Both eras of the protocol are served on one path,
//! and every method passes the gate.
//!
//! Where the gate keeps legacy sessions, `dispatch/session.rs` finds the one a message belongs to
//! and `http/standing.rs` answers GET and DELETE; a call that waits for the owner is told in the
//! way its client speaks by `dispatch/waiting.rs`.
//!
//! The other way round, `upstream/` asks other people's servers: [`UpstreamConnector`] is behind the
//! port that the gate defines, in both eras, over pipes and HTTP.
//!
//! It must never know: a database, a policy language, which surfaces exist. It is the only crate
//! that names rmcp.
//!
//! To add a method: an arm in `dispatch/mod.rs`, its function in a file of its own beside it, its
//! capability in `dispatch/wire.rs`, and its rows in `tests/it`. To add a way in: something that
//! makes an `Asked` message and an admitted agent, and hands both to `Dispatch::answer`.

mod asking;
mod config;
mod console;
mod dispatch;
mod era;
mod events;
mod fault;
mod http;
mod in_flight;
mod lines;
mod message;
mod named;
mod progress;
mod proxy;
mod raw;
mod reply;
mod stdio;
mod upstream;

use narthex_core::strict;

pub use crate::http::{
    HostPolicy, HostPolicyError, HostRefusal, LargeCall, Listening, McpEndpoint, Rooms, Served,
    Tls, TlsError, error_response, mcp_rooms, mcp_service, owner_only, serve,
};
pub use config::EdgeConfig;
pub use console::{ConsoleUrl, ConsoleUrlError};
pub use proxy::{ProxyConfig, ProxyError, run_proxy};
pub use stdio::StdioServer;
pub use upstream::{UpstreamConfig, UpstreamConnector};
