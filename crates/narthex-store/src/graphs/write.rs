//! A change to a graph, ready to be made.

use std::fmt::Debug;
use std::sync::Arc;

use narthex_core::{AgentId, BranchName, CommitId, GraphId, Timestamp};

use super::{Commit, GraphInfo, LineNo, RowNo, Tag};
use crate::StoreError;

/// A change to a graph.
#[derive(Debug, Clone)]
pub enum GraphWrite {
    /// Makes a graph, with its first commit on `main`, which is protected.
    Found {
        /// The graph.
        graph: GraphInfo,
        /// Its first commit; the line's number is given by the store.
        commit: Commit,
        /// The text of its schema.
        schema: String,
    },
    /// Makes a branch, whatever its size in no time.
    Branch(NewLine),
    /// Takes a branch away, if it still stands at this commit. Its commits stay, for what was
    /// forked or merged from it.
    DropBranch {
        /// In which graph.
        graph: GraphId,
        /// Its line.
        line: LineNo,
        /// Its last commit.
        head: u64,
    },
    /// Says whether a branch is protected.
    Protect {
        /// In which graph.
        graph: GraphId,
        /// Its line.
        line: LineNo,
        /// Whether.
        protected: bool,
    },
    /// Puts a commit on a line.
    Commit(GraphCommit),
    /// Takes a graph away with all that is in it.
    Remove {
        /// Which.
        graph: GraphId,
    },
}

/// What a change to a graph came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphDone {
    /// The line it was made on, or that was made. 0 where the whole graph was taken away.
    pub line: LineNo,
    /// The line's last commit now; 0 while it has none of its own.
    pub seq: u64,
    /// The commit it stands at now, where there is one.
    pub commit: Option<CommitId>,
}

/// A line to be made.
#[derive(Debug, Clone)]
pub struct NewLine {
    /// In which graph.
    pub graph: GraphId,
    /// Its name; refused if there is one.
    pub name: BranchName,
    /// Where it is forked from: a line, and a commit on it.
    pub from: (LineNo, u64),
    /// The agent whose own it is.
    pub owner: Option<AgentId>,
    /// Whether it is protected.
    pub protected: bool,
    /// When.
    pub created: Timestamp,
}

/// A commit with its rows.
#[derive(Debug, Clone)]
pub struct GraphCommit {
    /// In which graph.
    pub graph: GraphId,
    /// The line is made first, where it does not exist yet.
    pub new_line: Option<NewLine>,
    /// The line's last commit as the change was made on it: refused if it moved.
    pub head: u64,
    /// The commit. Its `seq` is one more than `head`; where there is a new line, its `line` and its
    /// own entry in `seen` (under line 0) are filled in by the store.
    pub commit: Commit,
    /// The text of the schema, where it is new to the graph.
    pub schema: Option<String>,
    /// What changes, each row once.
    pub rows: RowWrites,
    /// Indexes that come into being with it.
    pub builds: Vec<IndexBuild>,
}

/// The rows of a commit.
#[derive(Debug, Clone)]
pub enum RowWrites {
    /// All of them, in any order.
    Listed(Vec<RowWrite>),
    /// More than should be in memory at once.
    Source(Arc<dyn RowSource>),
}

/// Rows that are given page by page. Those of a type come one after the other, in the order of their
/// numbers.
pub trait RowSource: Debug + Send + Sync {
    /// How many there are.
    fn count(&self) -> u64;

    /// All of them, from the first; as often as they are asked for.
    fn pages(&self) -> RowPages;
}

/// Rows that are ready to be written, a page at a time.
pub type RowPages = Box<dyn Iterator<Item = Result<Vec<RowWrite>, StoreError>> + Send>;

impl RowWrites {
    /// How many there are.
    pub fn count(&self) -> u64 {
        match self {
            Self::Listed(rows) => rows.len() as u64,
            Self::Source(source) => source.count(),
        }
    }

    /// All of them: those that are listed on one page, in the order a source would give them.
    pub fn into_pages(self) -> RowPages {
        match self {
            Self::Listed(mut rows) => {
                rows.sort_by_key(|row| (row.tag, row.row));
                Box::new(std::iter::once(Ok(rows)))
            }
            Self::Source(source) => source.pages(),
        }
    }
}

impl From<Vec<RowWrite>> for RowWrites {
    fn from(rows: Vec<RowWrite>) -> Self {
        Self::Listed(rows)
    }
}

/// A row that changes.
#[derive(Debug, Clone)]
pub struct RowWrite {
    /// Its type.
    pub tag: Tag,
    /// Its number.
    pub row: RowNo,
    /// Of an edge, where it begins and ends.
    pub ends: Option<(RowNo, RowNo)>,
    /// What is in it from now on; none if it is gone.
    pub body: Option<String>,
    /// What the line's own indexes have of the version before, if that was written on this line.
    pub unindex: Vec<(Tag, serde_json::Value)>,
    /// What they have of this one.
    pub index: Vec<(Tag, serde_json::Value)>,
    /// The texts that are searched, by index; those of the version before on this line go.
    pub texts: Vec<TextEntry>,
}

/// A text that is searched.
#[derive(Debug, Clone)]
pub struct TextEntry {
    /// By which index.
    pub index: Tag,
    /// Its words, parted by single spaces, already folded: a back end splits at spaces and does
    /// nothing else.
    pub words: String,
}

/// An index that comes into being on a line: it holds the rows that lie on that line itself.
///
/// From its commit on, the line counts as indexed. A new line is indexed as long as nothing of
/// its own says otherwise.
#[derive(Debug, Clone)]
pub struct IndexBuild {
    /// The index.
    pub index: Tag,
    /// The type of the rows that are in it.
    pub of: Tag,
    /// The rows that are in it, beside those of the commit itself.
    pub entries: Vec<(RowNo, serde_json::Value)>,
    /// Or the texts.
    pub texts: Vec<(RowNo, String)>,
}
