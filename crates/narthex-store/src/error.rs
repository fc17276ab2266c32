//! What can go wrong in a store, and whose fault it is.

use narthex_core::{
    ApprovalStatus, BranchName, CommitId, Overspent, ProposalId, ProposalStatus, Slug, SwitchScope,
};

/// A store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The caller's: a rule of the house said no, and nothing changed.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Ours or the machine's: it cannot be written or read now. Nothing of it took effect.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// What is stored does not make sense; nothing of it is served.
    #[error("the store is damaged: {0}")]
    Damaged(String),
}

impl StoreError {
    /// Whether the same call may succeed later without anyone changing it.
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }
}

/// A rule that a unit of work ran into. The whole unit was undone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is not there (or not in that space).
    #[error("{0} not found")]
    NotFound(&'static str),
    /// The name is taken.
    #[error("{0} is taken")]
    Taken(&'static str),
    /// The page is at another revision than the caller thinks.
    #[error("the page is at revision {is}, not {expected}")]
    Stale {
        /// What the caller expected.
        expected: u32,
        /// What it is.
        is: u32,
    },
    /// The page is no longer in the space the proposal was made in.
    #[error("the page is no longer in this space")]
    PageLeft,
    /// The proposal was decided already.
    #[error("the proposal is {0} already")]
    AlreadyDecided(ProposalStatus),
    /// The agent has as many open proposals as it may.
    #[error("{cap} proposals of this agent are waiting for the owner already")]
    TooManyOpen {
        /// How many.
        cap: u32,
    },
    /// The agent asks for this merge already.
    #[error("proposal {0} asks for this merge already: wait until the owner has decided on it")]
    MergeAsked(ProposalId),
    /// The agent asks for this server already.
    #[error("proposal {0} asks for this server already: wait until the owner has decided on it")]
    ServerAsked(ProposalId),
    /// The server that is asked for is not approved.
    #[error(
        "the server {0} is not approved: look at it and approve it first with narthex mcp approve {0}"
    )]
    ServerNotApproved(Slug),
    /// A branch is not where the proposal says.
    #[error("the branch {branch} stands at {is} by now, and not where the proposal says")]
    BranchMoved {
        /// Which.
        branch: BranchName,
        /// Where it stands.
        is: CommitId,
    },
    /// The parts of a proposal do not go together.
    #[error("the proposal does not fit: {0}")]
    UnfitProposal(&'static str),
    /// A kill switch is engaged.
    #[error("stopped: the kill switch for {0} is engaged")]
    Stopped(SwitchScope),
    /// The switch is not engaged.
    #[error("the kill switch for {0} is not engaged")]
    NotEngaged(SwitchScope),
    /// A ceiling came down in the meantime.
    #[error("the ceiling no longer admits this tier")]
    OverCeiling,
    /// The owner gave the tool another tier in the meantime.
    #[error("the owner gave this tool another tier meanwhile: call it again")]
    TierMoved,
    /// An agent has as many tools with a tier of their own as it may.
    #[error("{cap} tools have a tier of their own for this agent already")]
    TooManyTiers {
        /// How many.
        cap: usize,
    },
    /// The posture came down in the meantime.
    #[error("the server's mode no longer admits this tier")]
    OverMode,
    /// The agent took something in after the decision: it must be made again.
    #[error("the agent has taken in more than the decision knew of")]
    TaintMoved,
    /// A budget is used up.
    #[error("{0}")]
    OverBudget(Overspent),
    /// The approval is not there for this call: decided otherwise, too old, or made for another.
    #[error("the approval is not good for this call ({0})")]
    NotApproved(ApprovalStatus),
    /// The agent has as many requests before the owner as it may.
    #[error("{cap} requests of this agent are waiting for the owner already")]
    TooManyWaiting {
        /// How many.
        cap: u32,
    },
    /// The agent has as many parked runs as it may.
    #[error("{cap} runs of this agent are waiting for the owner already")]
    TooManyParked {
        /// How many.
        cap: u32,
    },
    /// These records cannot be taken out of the ledger.
    #[error("the records cannot be taken out: {0}")]
    NotPrunable(&'static str),
    /// The agent was switched off, or is gone.
    #[error("the agent is disabled")]
    AgentInactive,
    /// The branch has commits that the change did not know of.
    #[error("the branch is at its commit {head} by now: look at it again and make the change anew")]
    HeadMoved {
        /// Its last commit.
        head: u64,
    },
    /// The name of a branch is taken.
    #[error("there is a branch of this name already: take another name, or drop that one first")]
    BranchExists,
    /// There is no such branch, or none any more.
    #[error("there is no such branch: it may have been dropped or renamed; list the branches")]
    NoSuchBranch,
    /// The branch that a graph begins with stays.
    #[error("the branch that the others were forked from stays; remove the graph if it is to go")]
    RootBranch,
    /// The name of a graph is taken.
    #[error("there is a graph of this name already: take another name")]
    GraphExists,
    /// A branch of a branch of a branch, and so on.
    #[error(
        "this would be a branch {most} branches away from where the graph began: merge one of them, or fork from a nearer one"
    )]
    TooDeep {
        /// How far it may be.
        most: usize,
    },
    /// A commit does not fit onto what it is put on.
    #[error("the commit does not fit: {0}")]
    UnfitCommit(&'static str),
    /// The token was revoked, has expired, or is gone.
    #[error("the token is no longer valid")]
    TokenDead,
}
