//! Where a call came from and what its client calls it.

use serde::{Deserialize, Serialize};

use crate::Bound;

/// How the call arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// Over HTTP.
    Http,
    /// Over standard input and output.
    Stdio,
    /// From the owner, through the local socket or the program itself.
    Local,
}

/// A client's request id as the ledger keeps it: bounded, and only ever text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(String);

impl RequestId {
    /// Cuts at the bound.
    pub fn new(text: &str) -> Self {
        Self(text.chars().take(Bound::REQUEST_ID_CHARS).collect())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A legacy session's id, where there is one; the ledger keeps a digest of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Hash)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    /// Wraps an id this server minted.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
