//! What a store must be able to do, whatever database is behind it.
//!
//! Reading goes through repository traits, one a file. Writing goes through one door:
//! [`Commits::commit`] takes a [`UnitOfWork`] (guards, at most one [`Effect`], the ledger
//! records that belong to it) and makes all of it durable or none of it. A [`Receipt`] is the
//! proof. The ledger's rules (framing, chain, head) are in [`chain`], independent of any database, so
//! that a back end cannot get them wrong in its own way.
//!
//! It must never know: SQL, HTTP, MCP, policy.
//!
//! To add an effect: a variant of [`Effect`] with its answer in [`Effected`], its behaviour in
//! every back end (the match is exhaustive), and its cases in [`suite`].

pub mod chain;
mod clock;
mod effect;
mod error;
mod graphs;
mod head_file;
mod repositories;
mod row_key;
mod search;
mod unit;

#[cfg(feature = "suite")]
pub mod suite;

pub use clock::{Clock, ManualClock, SystemClock, fresh_uuid};
pub use effect::{Effect, Effected, ImportOutcome, ImportedPage, PageWrite};
pub use error::{Refused, StoreError};
pub use graphs::{
    At, Branch, Commit, CommitKind, GraphCommit, GraphDone, GraphInfo, GraphView, GraphWrite,
    Graphs, IndexBuild, IndexRange, Layer, LineNo, NewLine, Placed, RowNo, RowPages, RowSource,
    RowWrite, RowWrites, Seen, Side, StoredRow, Tag, TextEntry,
};
pub use head_file::HeadFile;
pub use repositories::{
    Agents, ApprovalFilter, Approvals, Conversations, GateBooks, Hit, LedgerReader, Pages,
    ParkedRuns, ProposalFilter, Proposals, RevisionFilter, Soundness, Spaces, TokenRecord, Tokens,
};
pub use row_key::RowKey;
pub use search::{SearchQuery, Term};
pub use unit::{Commits, Committed, Guard, Receipt, UnitOfWork};

/// Everything a back end implements.
pub trait Store:
    Spaces
    + Pages
    + Agents
    + Tokens
    + Proposals
    + Approvals
    + ParkedRuns
    + Conversations
    + GateBooks
    + Soundness
    + Graphs
    + LedgerReader
    + Commits
{
}

impl<T> Store for T where
    T: Spaces
        + Pages
        + Agents
        + Tokens
        + Proposals
        + Approvals
        + ParkedRuns
        + Conversations
        + GateBooks
        + Soundness
        + Graphs
        + LedgerReader
        + Commits
{
}
