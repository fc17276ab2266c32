//! The unit of work: all of it durable, or none of it.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;
use narthex_core::{
    AgentId, ApprovalId, Arming, Budget, CallId, Digest, Holder, Moment, Place, RecordDraft, Taint,
    Tier, Timestamp, TokenId, ToolName,
};

use crate::{Effect, Effected, StoreError};

/// Something that must still hold inside the transaction, however long ago it was decided on.
///
/// The gate decides on snapshots; what could have changed since is checked again here, by the
/// one writer. They are checked in the order given and the first that does not hold is the
/// answer; [`Guard::Approved`] comes last, so that nothing is used up by a call that does not
/// go ahead.
#[derive(Debug, Clone)]
pub enum Guard {
    /// No kill switch that is engaged stops a call at this place.
    NotStopped(Place),
    /// The agent exists and is not disabled.
    AgentActive(AgentId),
    /// The token is neither revoked nor expired at this moment.
    TokenLive {
        /// Which one.
        token: TokenId,
        /// Now.
        now: Timestamp,
    },
    /// The posture, the agent's ceiling and that of the space the call is in still admit this tier.
    CeilingAdmits {
        /// Whose, and in which space. If in none it may be in any, so all of them must admit it.
        holder: Holder,
        /// The tier of the call.
        tier: Tier,
    },
    /// The owner gave the tool no other tier for the agent since.
    TierStands {
        /// Which agent.
        agent: AgentId,
        /// Which tool.
        tool: ToolName,
        /// What the decision was made on.
        decided: Option<Tier>,
    },
    /// The agent has taken in nothing more than the decision knew of.
    TaintWithin {
        /// Whose.
        holder: Holder,
        /// What the decision was made on.
        decided: Taint,
    },
    /// What the unit's own records use up ([`narthex_core::Usage::of`]) and put in reserve
    /// ([`narthex_core::Reserve::of`]) still fits into the budget.
    WithinBudget {
        /// Whose.
        holder: Holder,
        /// How much there is.
        budget: Budget,
        /// Now.
        now: Timestamp,
    },
    /// The owner approved exactly this call, lately, and nobody has used it: it is used up here,
    /// together with the rest of the unit or not at all.
    Approved {
        /// The approval.
        id: ApprovalId,
        /// What the call is.
        digest: Digest,
        /// The call that uses it up.
        call: CallId,
        /// Now.
        now: Moment,
        /// How long an approval is good for.
        valid: Duration,
    },
}

/// What is to be made durable together.
#[derive(Debug, Clone, Default)]
pub struct UnitOfWork {
    /// What must hold.
    pub guards: Vec<Guard>,
    /// What is to change.
    pub effect: Option<Effect>,
    /// What the answer that this unit releases does to a latch.
    pub arms: Option<Arming>,
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
        Self { effect: Some(effect), records: vec![record], ..Self::default() }
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

    /// Whether the last write went well, or one that was tried since: what health is told.
    fn is_well(&self) -> bool {
        self.is_writable()
    }

    /// The same, tried by a write if there was none lately: a disk that fills up while nobody calls
    /// is noticed by whoever asks.
    async fn try_writing(&self) -> bool {
        self.is_well()
    }

    /// A number that rises whenever an agent, a token or a space changed (after the commit), so
    /// that what was remembered of them can be dropped at once.
    fn identity_epoch(&self) -> u64;
}
