//! Graphs as a back end sees them: versioned rows with numbers, and nothing of types or queries.
//!
//! A graph has lines (a branch is a line with a name). A line has commits, numbered from 1, and
//! holds only the rows that were written on it; the rest it sees through the line it was forked
//! from, as that was at the fork. A row is a node or an edge. Its number is a digest of its name
//! (type and key; for an edge its type, both ends and what tells it from others between them), so
//! that a row is the same row on every line without anybody handing out numbers.
//!
//! What a row means, which indexes it belongs in, whether a change is allowed, how two lines are
//! merged: all of that is `narthex-graph`'s, and this must never know it. What it must guarantee is
//! that a [`GraphWrite`] is made whole or not at all, only onto the head it was made for, and that
//! a [`GraphView`] shows one moment however long it is looked at.

mod view;
mod write;

use std::collections::BTreeMap;
use std::fmt::Debug;

use async_trait::async_trait;
use narthex_core::{
    Actor, AgentId, BranchName, CommitId, Digest, GraphId, Slug, SpaceId, Taint, Timestamp,
};
use serde::{Deserialize, Serialize};

pub use view::{GraphView, IndexRange, Layer, Placed, Side};
pub use write::{
    GraphCommit, GraphDone, GraphWrite, IndexBuild, NewLine, RowPages, RowSource, RowWrite,
    RowWrites, TextEntry,
};

use crate::StoreError;

/// A graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphInfo {
    /// Its id.
    pub id: GraphId,
    /// Its name in the path, unlike any other graph's in the house.
    pub slug: Slug,
    /// The space it lives in.
    pub space: SpaceId,
    /// What row numbers are made with; secret, so that nobody can make two names meet.
    pub salt: [u8; 16],
    /// When it was made.
    pub created: Timestamp,
}

/// The number of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LineNo(pub i64);

/// The number of a type of rows, or of an index over one: a digest of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(pub i64);

/// The number of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowNo(pub i64);

/// What a line has seen of each line, itself included: everything up to this commit.
pub type Seen = BTreeMap<LineNo, u64>;

/// A line with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Its line.
    pub line: LineNo,
    /// Its name.
    pub name: BranchName,
    /// The number of its last commit on its own line; 0 while it has none of its own.
    pub head: u64,
    /// The commit it stands at: its own last, or the one it was forked from.
    pub commit: CommitId,
    /// Where it was forked from.
    pub fork: Option<(LineNo, u64)>,
    /// The agent whose own it is. The owner's and shared ones have none.
    pub owner: Option<AgentId>,
    /// Whether it is protected.
    pub protected: bool,
    /// When it was made.
    pub created: Timestamp,
}

/// What kind of change a commit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommitKind {
    /// The first of a graph.
    Init,
    /// By a query.
    Mutate,
    /// From a file.
    Load,
    /// Of two lines.
    Merge,
    /// Of the schema.
    Schema,
    /// Taking another back.
    Revert,
}

/// A commit, without its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its digest.
    pub id: CommitId,
    /// The line it is on.
    pub line: LineNo,
    /// Its number there.
    pub seq: u64,
    /// What it was made on. A merge has two, ours first.
    pub parents: Vec<CommitId>,
    /// What its line has seen with it.
    pub seen: Seen,
    /// The digest of the schema it holds to.
    pub schema: Digest,
    /// What kind of change it is.
    pub kind: CommitKind,
    /// Who made it.
    pub actor: Actor,
    /// Under what taint it was made; `untrusted` also if anything it was made on was, or is an
    /// agent's: what a branch shows is as trusted as its last commit says.
    pub taint: Taint,
    /// What is said about it.
    pub message: String,
    /// When.
    pub at: Timestamp,
    /// How many rows it changed.
    pub rows: u64,
}

/// A row as it lies there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRow {
    /// Its type.
    pub tag: Tag,
    /// Its number.
    pub row: RowNo,
    /// The line it was written on.
    pub line: LineNo,
    /// By which commit there.
    pub seq: u64,
    /// Of an edge, where it begins and ends.
    pub ends: Option<(RowNo, RowNo)>,
    /// What is in it. None if it is gone: asked for writes, not for rows, such are shown too.
    pub body: Option<String>,
}

/// Where to look at a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// As a branch is now.
    Branch(BranchName),
    /// As it was after a commit.
    Commit(CommitId),
    /// As a branch was at a time.
    Time(BranchName, Timestamp),
}

/// Reading graphs. The space leads: asked with one, what lies elsewhere is not there.
#[async_trait]
pub trait Graphs: Debug + Send + Sync {
    /// The graphs of a space, or all, by name.
    async fn graphs(&self, space: Option<SpaceId>) -> Result<Vec<GraphInfo>, StoreError>;

    /// The graph of this name.
    async fn graph(&self, slug: &Slug) -> Result<Option<GraphInfo>, StoreError>;

    /// Its branches, by name.
    async fn branches(&self, graph: GraphId) -> Result<Vec<Branch>, StoreError>;

    /// The branch of this name.
    async fn branch(&self, graph: GraphId, name: &BranchName)
    -> Result<Option<Branch>, StoreError>;

    /// The branch that a line is, or was: one that is gone has its name still, and whose it was.
    async fn branch_of(&self, graph: GraphId, line: LineNo) -> Result<Option<Branch>, StoreError>;

    /// A commit of this graph.
    async fn graph_commit(
        &self,
        graph: GraphId,
        id: CommitId,
    ) -> Result<Option<Commit>, StoreError>;

    /// Commits as a branch sees them, newest first, from before this one on.
    async fn graph_commits(
        &self,
        graph: GraphId,
        branch: &BranchName,
        before: Option<CommitId>,
        limit: u32,
    ) -> Result<Vec<Commit>, StoreError>;

    /// The text of a schema that was in force in this graph.
    async fn graph_schema(
        &self,
        graph: GraphId,
        schema: Digest,
    ) -> Result<Option<String>, StoreError>;

    /// A look at a graph. None if there is no such branch or commit, or nothing yet at that time.
    async fn view(&self, graph: GraphId, at: &At)
    -> Result<Option<Box<dyn GraphView>>, StoreError>;
}
