//! The HTTP edge: connections, who may talk to us, and one MCP endpoint.

mod accept;
mod bearer;
mod body;
mod connection;
mod early;
mod endpoint;
mod first_head;
mod form;
mod host;
mod linger;
mod negotiate;
mod owner;
mod refuse;
mod standing;
mod tls;

pub use accept::{Listening, serve};
pub use endpoint::{LargeCall, McpEndpoint, Rooms, Served, mcp_rooms, mcp_service};
pub use host::{HostPolicy, HostPolicyError, HostRefusal};
pub use owner::owner_only;
pub use refuse::error_response;
pub use tls::{Tls, TlsError};
