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

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use narthex_core::{AgentId, Digest, SpaceId, TokenId};
use narthex_store::RowKey;

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

/// The MAC of every row there is. Cloning shares them: most changes of the gate's state are not
/// theirs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Identities {
    macs: Arc<BTreeMap<Name, Digest>>,
    seal: OnceLock<Digest>,
}

impl Identities {
    /// Whether this is the row as it was written last.
    pub(crate) fn holds(&self, name: &Name, mac: &Digest) -> bool {
        self.macs.get(name) == Some(mac)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.macs.is_empty()
    }

    pub(crate) fn keep(&mut self, name: Name, mac: Digest) {
        Arc::make_mut(&mut self.macs).insert(name, mac);
        self.seal.take();
    }

    pub(crate) fn forget(&mut self, name: &Name) {
        Arc::make_mut(&mut self.macs).remove(name);
        self.seal.take();
    }

    /// The MAC over all of them, in their order.
    pub(crate) fn seal(&self, key: &RowKey) -> Digest {
        *self.seal.get_or_init(|| {
            let macs: Vec<&[u8]> = self.macs.values().map(|mac| &mac.as_bytes()[..]).collect();
            key.row("gate_seal identity", &macs)
        })
    }
}
