//! Tokens for other people's servers that want OAuth.
//!
//! ```text
//! server ── discover ── its authorization server ── token ── account ── Credentials
//!              │ (RFC 9728, 8414)     │ (RFC 6749, 8707)    │ one renewal for many callers
//! owner ── login ── browser ── callback ── token            └ keep: sealed, durable before it is used
//!              (RFC 7636, 9207, 7591)
//! ```
//!
//! Whoever answers here may be hostile: a server that names somebody else's authorization server, an
//! authorization server that names an address of the inside. So everything goes through the egress
//! filter over lines that never leave their origin; an issuer must be the one that was asked; what it
//! names lies at its own origin unless the owner wrote the issuer down.
//!
//! It must never know: MCP, a database, an agent or an agent's token. No secret is in an error, a
//! `Debug` or a record.
//!
//! To add a way of proving who we are to an authorization server: a variant of `ClientProof` in
//! `token.rs`, and a row in `tests/it/machine.rs`.

mod account;
mod callback;
mod challenge;
mod desk;
mod discover;
mod fault;
mod keep;
mod login;
mod place;
mod register;
#[cfg(feature = "testing")]
pub mod testing;
mod token;
mod wire;

pub use callback::{Callback, CallbackFault, Waiting};
pub use desk::{OAuthDesk, OAuthParts};
pub use keep::KeepKey;
