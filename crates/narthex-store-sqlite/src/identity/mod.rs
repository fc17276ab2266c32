//! Agents, tokens and spaces in a database that cannot be believed.
//!
//! Each row carries a MAC over all its columns ([`Signed`]), so that an edited one is not served.
//! An older row that is put back is genuine too: so the writer holds the MAC of every row
//! ([`Identities`]), a row counts only with that one, and the seal over the gate's state is over
//! them as well. To add a column: a migration, its place in `tables`, in `docs/ledger-format.md` and
//! in `narthex-verify`.

mod bench;
mod load;
mod signed;
mod tables;

pub(crate) use bench::seal_all;
pub(crate) use load::{SEALED, look};
pub(crate) use signed::{Signed, bytes, number, older, text};
pub(crate) use tables::{AGENTS, SPACES, TOKENS, Table, agents, spaces, tokens};

use narthex_core::{AgentId, SpaceId, TokenId};

use crate::held::{Held, Named};

/// Whose row it is, in the order the MACs are sealed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name {
    /// Of a space.
    Space(SpaceId),
    /// Of an agent.
    Agent(AgentId),
    /// Of a token.
    Token(TokenId),
}

impl Name {
    /// The key of the row.
    pub(crate) const fn id(&self) -> &[u8; 16] {
        match self {
            Self::Space(id) => id.as_bytes(),
            Self::Agent(id) => id.as_bytes(),
            Self::Token(id) => id.as_bytes(),
        }
    }

    /// The table it is in.
    pub(crate) const fn table(&self) -> &'static Table {
        match self {
            Self::Space(_) => &SPACES,
            Self::Agent(_) => &AGENTS,
            Self::Token(_) => &TOKENS,
        }
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Space(id) => write!(f, "space {id}"),
            Self::Agent(id) => write!(f, "agent {id}"),
            Self::Token(id) => write!(f, "token {id}"),
        }
    }
}

impl Named for Name {
    const SEAL: &'static str = "gate_seal identity";
}

/// The MAC of every row there is.
pub(crate) type Identities = Held<Name>;
