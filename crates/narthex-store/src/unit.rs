//! The unit of work: all of it durable, or none of it.

use std::fmt::Debug;

use async_trait::async_trait;
use narthex_core::{AgentId, Digest, RecordDraft, Timestamp, TokenId};

use crate::{Effect, Effected, StoreError};

/// Something that must still hold inside the transaction, however long ago it was decided on.
///
/// The gate decides on snapshots; what could have changed since is checked again here, by the
/// one writer. Kill switch, taint, budget and the burning of an approval are guards as well.
#[derive(Debug, Clone)]
pub enum Guard {
    /// The agent exists and is not disabled.
    AgentActive(AgentId),
    /// The token is neither revoked nor expired at this moment.
    TokenLive {
        /// Which one.
        token: TokenId,
        /// Now.
        now: Timestamp,
    },
}

/// What is to be made durable together.
#[derive(Debug, Clone, Default)]
pub struct UnitOfWork {
    /// What must hold.
    pub guards: Vec<Guard>,
    /// What is to change.
    pub effect: Option<Effect>,
    /// What is to be in the ledger with it.
    pub records: Vec<RecordDraft>,
}

impl UnitOfWork {
    /// Only records.
    pub fn records(records: Vec<RecordDraft>) -> Self {
        Self { records, ..Self::default() }
    }

    /// A change and the record of it.
    pub fn effect(effect: Effect, record: RecordDraft) -> Self {
        Self { guards: Vec::new(), effect: Some(effect), records: vec![record] }
    }
}

/// Proof that a record is durable. Only a store's writer makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    seq: u64,
    hash: Digest,
}

impl Receipt {
    /// For back ends, after the commit has reached the disk and not before.
    pub const fn after_commit(seq: u64, hash: Digest) -> Self {
        Self { seq, hash }
    }

    /// The record's number.
    pub const fn seq(&self) -> u64 {
        self.seq
    }

    /// The chain's value at this record.
    pub const fn hash(&self) -> Digest {
        self.hash
    }
}

/// What came of a unit of work.
#[derive(Debug, Clone)]
pub struct Committed {
    /// What the effect brought about.
    pub effected: Effected,
    /// One for each record, in order.
    pub receipts: Vec<Receipt>,
}

/// The one way to change anything.
#[async_trait]
pub trait Commits: Debug + Send + Sync {
    /// Makes the unit durable, or changes nothing. Units of concurrent callers may share one
    /// flush to disk; each stands or falls alone.
    async fn commit(&self, unit: UnitOfWork) -> Result<Committed, StoreError>;

    /// Whether writes are possible: false from the first failed flush until a restart.
    fn is_writable(&self) -> bool;

    /// A number that rises whenever an agent, a token or a space changed (after the commit), so
    /// that what was remembered of them can be dropped at once.
    fn identity_epoch(&self) -> u64;
}
