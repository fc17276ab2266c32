//! What an owner can ask of graphs.
//!
//! A graph goes by its slug. A place in its history is a branch, a commit (its id, or the first
//! eight characters of it and more), or a branch at a time: `main@2026-01-31T12:00:00Z`.

use narthex_graph::engine::LoadMode;
use narthex_graph::merge::Asked;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::graphs::Bytes;

/// What can be asked of graphs.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum GraphRequest {
    /// Makes a graph.
    Init {
        /// The space it lives in.
        space: String,
        /// Its slug, unlike any other graph's in the house.
        graph: String,
        /// The text of its schema; it has no types without one.
        schema: Option<String>,
    },
    /// All graphs.
    List {
        /// Only of this space.
        space: Option<String>,
    },
    /// A schema, as it is somewhere in a graph's history.
    Schema {
        /// Which graph.
        graph: String,
        /// Where; `main` if absent.
        at: Option<String>,
    },
    /// What applying a schema would do.
    Plan {
        /// Which graph.
        graph: String,
        /// On which branch; `main` if absent.
        branch: Option<String>,
        /// The text of the schema.
        schema: String,
    },
    /// Applies a schema.
    Apply {
        /// What every change says.
        change: GraphChange,
        /// The text of the schema.
        schema: String,
        /// Whether something may be lost.
        allow_data_loss: bool,
    },
    /// Answers a query that looks.
    Query {
        /// Which graph.
        graph: String,
        /// Which query, and what it is told.
        query: GraphQuery,
        /// Where to look; `main` if absent.
        at: Option<String>,
        /// From where on: the `next` of the page before.
        cursor: Option<String>,
        /// At most so many rows.
        limit: u32,
    },
    /// Carries out a query that changes something.
    Mutate {
        /// What every change says.
        change: GraphChange,
        /// Which query, and what it is told.
        query: GraphQuery,
    },
    /// A file, part by part.
    Load(LoadRequest),
    /// Rows as lines that can be loaded again, a page of them.
    Export {
        /// Which graph.
        graph: String,
        /// Where; `main` if absent.
        at: Option<String>,
        /// From where on: the `next` of the page before.
        after: Option<String>,
    },
    /// Branches.
    Branch(BranchRequest),
    /// Brings one branch into another.
    Merge {
        /// What every change says; its branch is the one that is merged into.
        change: GraphChange,
        /// The branch that is brought in.
        from: String,
        /// How rows are to be, where that has to be said.
        resolutions: Vec<Asked>,
        /// Whether what the merged schema no longer shows may be lost.
        allow_data_loss: bool,
    },
    /// Commits as a branch sees them, newest first.
    Log {
        /// Which graph.
        graph: String,
        /// Which branch; `main` if absent.
        branch: Option<String>,
        /// From before this commit on.
        before: Option<String>,
        /// At most so many.
        limit: u32,
    },
    /// What differs between two places, a page of it.
    Diff {
        /// Which graph.
        graph: String,
        /// The first place.
        from: String,
        /// The second.
        to: String,
        /// From where on: the `next` of the page before.
        after: Option<String>,
        /// At most so many rows.
        limit: u32,
    },
    /// Takes a commit back.
    Revert {
        /// What every change says.
        change: GraphChange,
        /// The commit.
        commit: String,
        /// How rows are to be, where that has to be said.
        resolutions: Vec<Asked>,
    },
    /// The stored queries of a graph, and how they are shown to agents.
    Stored {
        /// Which graph.
        graph: String,
    },
    /// Takes a graph away with all that is in it.
    Remove {
        /// Which graph.
        graph: String,
        /// Its slug again, as the person typed it.
        typed: String,
    },
}

/// What every change to a graph says.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct GraphChange {
    /// Which graph.
    pub graph: String,
    /// On which branch; `main` if absent.
    pub branch: Option<String>,
    /// The commit the branch must stand at.
    pub expected: Option<String>,
    /// What is said about it.
    pub message: String,
}

/// A query and what it is told.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct GraphQuery {
    /// Its text; a stored query if absent.
    pub text: Option<String>,
    /// Which of several in the text, or the name of the stored query.
    pub name: Option<String>,
    /// Its parameters as JSON.
    pub params: Map<String, Json>,
    /// More of them as people type them, read as what each of them is.
    pub words: Vec<(String, String)>,
}

/// A file, part by part. A connection has one under way at a time.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "load", rename_all = "snake_case")]
pub enum LoadRequest {
    /// Begins; one that was under way is dropped.
    Begin {
        /// What every change says.
        change: GraphChange,
        /// The branch is new, and begins there.
        from: Option<String>,
        /// What to do with what is there.
        mode: LoadMode,
    },
    /// The next part of the file, at most [`MAX_LOAD_PART`] bytes.
    Part {
        /// What is in it.
        bytes: Bytes,
    },
    /// That was all: now it is made, or nothing is.
    End,
}

/// Branches.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "branch", rename_all = "snake_case")]
pub enum BranchRequest {
    /// All of a graph.
    List {
        /// Which graph.
        graph: String,
    },
    /// Makes one.
    Create {
        /// In which graph.
        graph: String,
        /// Its name.
        name: String,
        /// Where it begins; where `main` is if absent.
        from: Option<String>,
        /// Whether it is protected.
        protected: bool,
    },
    /// Takes one away.
    Delete {
        /// In which graph.
        graph: String,
        /// Its name.
        name: String,
        /// Even if it has commits that no other branch has.
        force: bool,
    },
    /// Protects one, or no longer.
    Protect {
        /// In which graph.
        graph: String,
        /// Its name.
        name: String,
        /// Whether.
        protected: bool,
    },
}

/// Bytes that one part of a load may carry.
pub const MAX_LOAD_PART: usize = 1024 * 1024;
