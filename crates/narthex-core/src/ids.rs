//! One id type per kind of thing, so that a page id is never taken for a space id.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The text was not an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an id")]
pub struct IdError;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps an id that was generated elsewhere (this crate has no randomness).
            pub const fn from_uuid(id: Uuid) -> Self {
                Self(id)
            }

            /// The sixteen bytes, for storage.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            /// Reads the sixteen bytes of storage.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, IdError> {
                Uuid::from_slice(bytes).map(Self).map_err(|_| IdError)
            }

            /// The plain uuid.
            pub const fn uuid(&self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            /// Only the hyphenated form is an id: two spellings of one thing would be two keys.
            fn from_str(text: &str) -> Result<Self, IdError> {
                if text.len() != 36 {
                    return Err(IdError);
                }
                Uuid::try_parse(text).map(Self).map_err(|_| IdError)
            }
        }
    )+};
}

id! {
    /// A space.
    SpaceId,
    /// A page.
    PageId,
    /// One revision of a page.
    RevisionId,
    /// A registered agent.
    AgentId,
    /// An agent's token (the public half).
    TokenId,
    /// A proposal in the inbox.
    ProposalId,
    /// A conversation of the owner's.
    ConversationId,
    /// A request for the owner's approval.
    ApprovalId,
    /// A graph.
    GraphId,
    /// One call through the gate; joins the records it leaves in the ledger.
    CallId,
    /// A run of an agent's program; joins the calls it made.
    RunId,
}
