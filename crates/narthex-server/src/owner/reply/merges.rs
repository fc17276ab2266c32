//! Proposed merges.

use narthex_core::{BranchName, CommitId, Slug};
use narthex_graph::merge::{RowName, Shown};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// A merge that is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeInfo {
    /// The graph, if it is still there.
    pub graph: Option<Slug>,
    /// The branch that is brought in.
    pub from: BranchName,
    /// Where it stood: exactly this is merged.
    pub from_commit: CommitId,
    /// The branch it is brought into.
    pub into: BranchName,
    /// Where that stood.
    pub into_commit: CommitId,
    /// Whether what the merged schema no longer shows is lost with it.
    #[serde(default)]
    pub allow_data_loss: bool,
}

/// What a merge would change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MergeChange {
    /// Where the branch stands now that is brought in; none if it is gone.
    pub from_now: Option<CommitId>,
    /// Where the branch stands now that it is brought into; none if it is gone.
    pub into_now: Option<CommitId>,
    /// Whether the rows are what the merge would write now. If not, they are what the branch had
    /// when it was proposed and the other had not.
    pub as_merged: bool,
    /// Rows that become different.
    pub rows: Vec<MergeRow>,
    /// Whether there are more of them.
    pub more: bool,
    /// How many conflicts there are.
    pub conflicts_total: u32,
    /// The first of them.
    pub conflicts: Vec<MergeConflict>,
    /// What else stands in the way: stored queries that would not hold, say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trouble: Option<String>,
}

/// A row that becomes different.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MergeRow {
    /// What becomes of it.
    pub change: RowFate,
    /// Its name; none if its type is gone.
    pub row: Option<RowName>,
    /// As it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub before: Option<Shown>,
    /// As it would be.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<Shown>,
    /// The properties that differ.
    pub properties: Vec<String>,
}

/// What becomes of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RowFate {
    /// It comes.
    Added,
    /// It goes.
    Removed,
    /// It is another than before.
    Changed,
}

/// Something that somebody has to decide on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MergeConflict {
    /// In a sentence.
    pub said: String,
    /// As data: its kind, its row, what each side has.
    pub conflict: Json,
}

/// What a merge came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merged {
    /// The graph.
    pub graph: Slug,
    /// The branch it was brought into.
    pub branch: BranchName,
    /// The commit that stands at now.
    pub commit: Option<CommitId>,
    /// Whether that is a new one. If not, all of it was there already.
    pub committed: bool,
    /// How many rows it wrote.
    pub rows: u64,
}
