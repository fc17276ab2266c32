//! Graphs.

use narthex_core::{BranchName, CommitId, GraphId, Slug, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// What comes back about graphs.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "graph", content = "value", rename_all = "snake_case")]
pub enum GraphReply {
    /// A graph that was made.
    Graph(Box<GraphShown>),
    /// Graphs.
    Graphs(Vec<GraphShown>),
    /// A schema.
    Schema(SchemaShown),
    /// What applying a schema would do.
    Plan(Vec<StepShown>),
    /// A change was made, or there was nothing to change.
    Changed(GraphChanged),
    /// The answer to a query, or a page of it.
    Answer(Box<QueryAnswer>),
    /// A part of a load was taken.
    Taken,
    /// Rows as lines.
    Lines(LinesPage),
    /// Branches.
    Branches(Vec<BranchShown>),
    /// Commits.
    Commits(Vec<CommitShown>),
    /// What differs.
    Diff(DiffPage),
    /// Stored queries.
    Stored(StoredShown),
    /// A graph is gone.
    Removed(GraphGone),
    /// Nothing was done: the text of a schema or a query is wrong.
    Faults(Vec<TextFault>),
    /// Nothing was done: somebody has to say how rows are to be.
    Conflicts(ConflictsShown),
}

/// A graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphShown {
    /// Its id.
    pub id: GraphId,
    /// Its slug.
    pub slug: Slug,
    /// The space it lives in.
    pub space: Slug,
    /// The commit `main` stands at.
    pub commit: CommitId,
    /// How many branches it has.
    pub branches: usize,
    /// How many types of nodes `main` has.
    pub node_types: usize,
    /// How many types of edges.
    pub edge_types: usize,
    /// How many stored queries are declared for it, if they hold to its schema.
    pub stored: Option<usize>,
    /// When it was made.
    pub created: Timestamp,
}

/// A schema as it is somewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaShown {
    /// The commit that was looked at.
    pub commit: CommitId,
    /// Its text.
    pub source: String,
}

/// A step from one schema to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepShown {
    /// What it asks for: additive, needs_check, destructive or refused.
    pub class: String,
    /// What changes.
    pub at: String,
    /// How, in a word.
    pub change: String,
    /// In a sentence.
    pub sentence: String,
    /// What to do instead, or besides.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub advice: Option<String>,
}

/// What came of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the counts are what they are called")]
pub struct GraphChanged {
    /// Which graph.
    pub graph: Slug,
    /// Which branch.
    pub branch: BranchName,
    /// The commit it stands at now.
    pub commit: Option<CommitId>,
    /// Whether that is a new one; if not, there was nothing to change.
    pub committed: bool,
    pub nodes_inserted: u64,
    pub nodes_updated: u64,
    pub nodes_deleted: u64,
    pub edges_inserted: u64,
    pub edges_updated: u64,
    pub edges_deleted: u64,
}

/// The answer to a query, or a page of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueryAnswer {
    /// The commit it is of.
    pub commit: CommitId,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Its rows: a value for each column.
    pub rows: Vec<Vec<Json>>,
    /// Where the next page begins, if there is one.
    pub next: Option<String>,
}

/// Rows as lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinesPage {
    /// The commit they are of.
    pub commit: CommitId,
    /// Each a JSON object.
    pub lines: Vec<String>,
    /// Edges that were left out, because the schema no longer has the type of one of their ends.
    pub left_out: u64,
    /// Where the next page begins, if there is one.
    pub next: Option<String>,
}

/// A branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchShown {
    /// Its name.
    pub name: BranchName,
    /// The commit it stands at.
    pub commit: CommitId,
    /// How many commits it has of its own.
    pub own_commits: u64,
    /// The agent whose own it is.
    pub agent: Option<String>,
    /// Whether it is protected.
    pub protected: bool,
    /// When it was made.
    pub created: Timestamp,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitShown {
    /// Its id.
    pub id: CommitId,
    /// What it was made on; a merge has two.
    pub parents: Vec<CommitId>,
    /// What kind of change it is.
    pub kind: String,
    /// Who made it: `owner`, or an agent.
    pub by: String,
    /// What is said about it.
    pub message: String,
    /// When.
    pub at: Timestamp,
    /// How many rows it changed.
    pub rows: u64,
}

/// What differs between two places.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiffPage {
    /// The first commit.
    pub from: CommitId,
    /// The second.
    pub to: CommitId,
    /// Rows that differ.
    pub rows: Vec<DiffRow>,
    /// Where the next page begins, if there is one.
    pub next: Option<String>,
}

/// A row that differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiffRow {
    /// added, removed or changed.
    pub change: String,
    /// What people call it.
    pub name: String,
    /// Its name as data.
    pub row: Json,
    /// As it was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub before: Option<Json>,
    /// As it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<Json>,
    /// The properties that differ.
    pub properties: Vec<String>,
}

/// The stored queries of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredShown {
    /// Which graph.
    pub graph: Slug,
    /// What the settings say: auto, per_query or meta.
    pub declared: String,
    /// What is in force: `per_query` (a tool each) or `meta` (two tools for all).
    pub mode: String,
    /// From how many exposed queries on `auto` means `meta`.
    pub threshold: usize,
    /// How many of them agents may know of.
    pub exposed: usize,
    /// All of them, by name.
    pub queries: Vec<StoredQueryShown>,
}

/// A stored query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredQueryShown {
    /// Its name.
    pub name: String,
    /// The name of its tool.
    pub tool: String,
    /// Whether agents may know of it.
    pub exposed: bool,
    /// Whether it changes something.
    pub writes: bool,
    /// The file it is from.
    pub file: String,
    /// What a model is told about it.
    pub description: String,
    /// What it is told.
    pub params: Vec<ParamShown>,
}

/// A parameter of a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParamShown {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: String,
    /// Whether it must be given.
    pub required: bool,
}

/// A graph that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphGone {
    /// Its id.
    pub id: GraphId,
    /// Its slug.
    pub slug: Slug,
}

/// Something wrong in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextFault {
    /// What is wrong.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// What to do instead.
    pub help: Option<String>,
}

/// What somebody has to decide on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConflictsShown {
    /// How many there are.
    pub total: u32,
    /// The first of them.
    pub listed: Vec<ConflictShown>,
}

/// Something that cannot be merged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConflictShown {
    /// In a sentence.
    pub said: String,
    /// As data: its kind, its row, what each side has.
    pub conflict: Json,
}
