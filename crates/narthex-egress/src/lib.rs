//! The one HTTP client for everything Narthex itself fetches, and the filter inside it.
//!
//! ```text
//! judge the text ─ resolve ─ judge every address ─ connect to those alone ─ read under caps
//!        └────────────────────── again, from the start, at each redirect ──────┘
//! ```
//!
//! A URL may come from someone who would like Narthex to knock on a door that only Narthex can
//! reach: a metadata service, a router, the owner's own machines. So [`EgressClient`] has one
//! constructor, it takes an [`EgressPolicy`], and the inner client is built in one place (`wire`)
//! that takes only an `Admitted`, which only the policy makes. Between the check and the
//! connection nobody asks a name server again. Nothing is read from the environment: no proxy,
//! no certificates.
//!
//! Who asks the same origin again and again takes an [`EgressLine`]: it keeps its connections, but
//! what was looked up and judged holds only for a while, and then all of it is done anew.
//!
//! It must never know: what is fetched and why, tokens, the ledger, a database, MCP.
//!
//! To add a range that must not be reached: a row in `address/registry.rs`, and a row in its
//! test. To add a way of hiding an address in a URL: a [`UrlFault`], its check in `parse/`, and
//! rows in the list of hostile URLs (`tests/it/hostile.rs`).

mod address;
mod allow;
mod client;
mod config;
mod error;
mod line;
mod message;
mod parse;
mod policy;
mod redirect;
mod resolve;
mod tls;
mod wire;

pub use address::AddressKind;
pub use client::EgressClient;
pub use config::{EgressConfig, LoopbackHttp, PolicyError};
pub use error::{EgressError, RedirectFault};
pub use line::{Answering, EgressLine, LineRequest, LineTerms};
pub use message::{Fetched, Request};
pub use parse::{Host, Target, UrlFault};
pub use policy::EgressPolicy;
pub use resolve::{Answer, Resolve, ResolveError, SystemResolver};
