//! From a name to addresses. Who answers is behind a trait; what is done with the answer is not.

mod system;

use std::fmt;
use std::net::IpAddr;

use async_trait::async_trait;

pub use system::SystemResolver;

/// Answers for names.
///
/// To add one: return every address that was found, and every alias on the way. Judge nothing:
/// that is the policy's.
#[async_trait]
pub trait Resolve: Send + Sync + fmt::Debug {
    /// All addresses of a name, which is absolute: no search domain is added to it.
    async fn resolve(&self, name: &str) -> Result<Answer, ResolveError>;
}

/// What was found for a name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// All of its addresses.
    pub addresses: Vec<IpAddr>,
    /// The names it went through (CNAME).
    pub aliases: Vec<String>,
}

impl Answer {
    /// These addresses, without a detour.
    pub fn from_addresses(addresses: impl IntoIterator<Item = IpAddr>) -> Self {
        Self { addresses: addresses.into_iter().collect(), aliases: Vec::new() }
    }
}

/// Why a name has no addresses. All of them mean: refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// The name does not exist, or has no address.
    #[error("it has no address")]
    NoAnswer,
    /// More addresses or aliases than the caps allow.
    #[error("its answer has too many addresses or aliases (egress.addresses, egress.aliases)")]
    TooMany,
    /// The name server failed or was silent.
    #[error("the name server did not answer: {0}")]
    Failed(String),
}

impl ResolveError {
    /// Whether another try may bring another answer.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Failed(_))
    }
}
