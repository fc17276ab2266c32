//! Who is knocking: credentials and what verifies them.

mod cache;
mod token;

use std::fmt::Debug;
use std::net::IpAddr;
use std::sync::Arc;

use async_trait::async_trait;
use narthex_core::{Agent, Timestamp, TokenId};
use narthex_store::Guard;

pub use cache::TokenVerifier;
pub use token::{IssuedToken, SecretKey, issue_token, owner_token_in_clear};

pub(crate) use token::{BearerForm, parse_bearer};

/// Where a request came from, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// A network address.
    Address(IpAddr),
    /// This machine, through standard input or the local socket.
    Local,
}

impl Source {
    /// What failures are counted by: a whole /64 of IPv6 is one source.
    pub(crate) fn key(self) -> Self {
        match self {
            Self::Address(IpAddr::V6(address)) => {
                if let Some(v4) = address.to_ipv4_mapped() {
                    return Self::Address(IpAddr::V4(v4));
                }
                let [a, b, c, d, ..] = address.segments();
                Self::Address(IpAddr::V6([a, b, c, d, 0, 0, 0, 0].into()))
            }
            other => other,
        }
    }
}

/// A credential as it was presented.
#[derive(Clone, Copy)]
pub struct Presented<'a> {
    /// What stood behind `Bearer `; none if there was no such header or it was not readable.
    pub bearer: Option<&'a str>,
    /// Where it came from.
    pub source: Source,
}

impl Debug for Presented<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bearer = if self.bearer.is_some() { "present" } else { "absent" };
        f.debug_struct("Presented").field("bearer", &bearer).field("source", &self.source).finish()
    }
}

/// Whose credential it is.
#[derive(Debug, Clone)]
pub enum Verified {
    /// An agent's.
    Agent {
        /// The agent, as it is now.
        agent: Arc<Agent>,
        /// The credential's public id.
        token: TokenId,
    },
    /// The owner's, which opens no agent's endpoint.
    Owner,
}

/// A credential could not be verified.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// It is not good: malformed, unknown, wrong, expired, revoked; one answer for all.
    #[error("the credential is not valid")]
    Bad,
    /// It cannot be said now.
    #[error("the credential cannot be checked now: {0}")]
    Unavailable(String),
}

/// Verifies one kind of credential. Nothing behind it knows which kind.
#[async_trait]
pub trait Verifier: Debug + Send + Sync {
    /// Says whose credential this is.
    async fn verify(&self, bearer: &str) -> Result<Verified, VerifyError>;

    /// Whether a credential that was good is still good, without waiting.
    async fn still_good(&self, token: TokenId) -> bool;

    /// What must still hold of a credential when the writer gets to a change it asked for, where
    /// the store can tell. A kind of credential that the store knows nothing of has no such guard.
    fn guard(&self, token: TokenId, now: Timestamp) -> Option<Guard> {
        let _ = (token, now);
        None
    }
}
