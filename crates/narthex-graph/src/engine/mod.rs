//! A graph in a store: looked at, and changed by what this prepares.
//!
//! Nothing here commits. Every change is [`Prepared`]: what a store is to write, what to say once it
//! is durable, and the hold on the branch that must be kept until then. Whoever commits it decides
//! and records first. In one process the hold lets one change at a time be made on a branch; between
//! processes the store refuses what was made for another head.

mod branches;
mod commit;
mod error;
mod holds;
mod load;
mod look;
mod merge;
mod mutate;
mod plans;
mod revert;
mod schema;
#[cfg(test)]
mod tests;
mod verify;

use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use moka::sync::Cache;
use narthex_core::{Actor, AgentId, BranchName, CommitId, Digest, Taint, Timestamp};
use narthex_store::{At, Branch, Clock, GraphInfo, GraphView, GraphWrite, Graphs};

pub use branches::{NewBranch, Unmerged};
pub use error::GraphError;
pub use holds::BranchHold;
pub use load::{Load, LoadAsk, LoadMode, Loading};
pub use look::{Ask, DiffAnswer, ShownDiff, Snapshot, TypeCount};
pub use merge::MergeAsk;
pub use mutate::Mutation;
pub use revert::Revert;
pub use schema::{SchemaAnswer, SchemaChange};

use crate::exec::{Counts, Limits};
use crate::schema::Schema;
use holds::Holds;
use plans::Plans;

/// Graphs in a store. A clone of it is the same engine.
#[derive(Debug, Clone)]
pub struct Engine {
    graphs: Arc<dyn Graphs>,
    clock: Arc<dyn Clock>,
    holds: Arc<Holds>,
    /// Where large loads are put aside; where the system puts such files, unless said.
    spool: Option<PathBuf>,
    /// Schemas that were read, by their digests.
    schemas: Cache<Digest, Arc<Schema>>,
    /// Queries that were checked.
    plans: Plans,
}

/// Who makes a change.
#[derive(Debug, Clone)]
pub struct Maker {
    /// As the ledger and the commit say it.
    pub actor: Actor,
    /// The agent, if it is one.
    pub agent: Option<AgentId>,
    /// What it had taken in.
    pub taint: Taint,
}

/// A change that is ready.
#[derive(Debug)]
pub struct Prepared {
    /// What is to be written; none if there is nothing to change.
    pub write: Option<GraphWrite>,
    /// What to say once that is durable.
    pub done: Done,
    /// Kept until it is, or was refused.
    pub hold: Option<BranchHold>,
}

/// What came of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// The branch.
    pub branch: BranchName,
    /// The commit it stands at now.
    pub commit: Option<CommitId>,
    /// Whether that is a new one.
    pub committed: bool,
    /// What changed.
    pub counts: Counts,
}

/// A branch that is looked at, with the schema it has there.
pub(crate) struct Looked {
    pub(crate) view: Box<dyn GraphView>,
    pub(crate) schema: Arc<Schema>,
}

impl Engine {
    /// Over a store.
    pub fn new(graphs: Arc<dyn Graphs>, clock: Arc<dyn Clock>) -> Self {
        let (holds, schemas) = (Arc::default(), Cache::new(SCHEMAS));
        Self { graphs, clock, holds, spool: None, schemas, plans: Plans::default() }
    }

    /// Puts what large loads need beside memory into this folder, in files without names.
    pub fn spooling_in(self, folder: impl Into<PathBuf>) -> Self {
        Self { spool: Some(folder.into()), ..self }
    }

    /// The store.
    pub fn graphs(&self) -> &dyn Graphs {
        self.graphs.as_ref()
    }

    /// A graph somewhere in its history.
    pub(crate) async fn look(&self, graph: &GraphInfo, at: &At) -> Result<Looked, GraphError> {
        let Some(view) = self.graphs.view(graph.id, at).await? else {
            return Err(self.nowhere(graph, at).await?);
        };
        let schema = self.schema_of(graph, view.placed().commit.schema).await?;
        Ok(Looked { view, schema })
    }

    /// The schema of this digest.
    pub(crate) async fn schema_of(
        &self,
        graph: &GraphInfo,
        digest: Digest,
    ) -> Result<Arc<Schema>, GraphError> {
        if let Some(schema) = self.schemas.get(&digest) {
            return Ok(schema);
        }
        let missing = || GraphError::Damaged(format!("the schema {digest} is missing"));
        let text = self.graphs.graph_schema(graph.id, digest).await?.ok_or_else(missing)?;
        let schema = Schema::from_stored(&text)
            .map_err(|error| GraphError::Damaged(format!("a stored schema: {error}")))?;
        let schema = Arc::new(schema);
        self.schemas.insert(digest, Arc::clone(&schema));
        Ok(schema)
    }

    /// The branch of this name.
    pub async fn branch(&self, graph: &GraphInfo, name: &BranchName) -> Result<Branch, GraphError> {
        match self.graphs.branch(graph.id, name).await? {
            Some(branch) => Ok(branch),
            None => Err(self.nowhere(graph, &At::Branch(name.clone())).await?),
        }
    }

    /// Why nothing is there.
    async fn nowhere(&self, graph: &GraphInfo, at: &At) -> Result<GraphError, GraphError> {
        let name = match at {
            At::Commit(id) => return Ok(GraphError::NoCommit(*id)),
            At::Time(name, time) if self.graphs.branch(graph.id, name).await?.is_some() => {
                return Ok(GraphError::NothingYet { branch: name.clone(), at: *time });
            }
            At::Branch(name) | At::Time(name, _) => name,
        };
        let branches = self.graphs.branches(graph.id).await?;
        let known = branches.iter().map(|branch| branch.name.as_str());
        let nearest = crate::diagnostic::nearest(name.as_str(), known).map(str::to_owned);
        Ok(GraphError::NoBranch { name: name.clone(), nearest })
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// A moment as queries know it.
pub(crate) fn moment(at: Timestamp) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(at.as_millis()).unwrap_or_default()
}

/// The branch still stands where the caller saw it.
pub(crate) fn expect_head(
    view: &dyn GraphView,
    branch: &BranchName,
    expected: Option<CommitId>,
) -> Result<(), GraphError> {
    let head = view.placed().commit.id;
    match expected {
        Some(expected) if expected != head => {
            Err(GraphError::HeadMoved { branch: branch.clone(), expected, head })
        }
        _ => Ok(()),
    }
}

/// How much a load may change at once.
pub(crate) fn load_limits(limits: &Limits) -> Limits {
    Limits { changes: LOAD_ROWS, scanned: u64::MAX, ..limits.clone() }
}

/// Schemas that are kept at hand.
const SCHEMAS: u64 = 256;
/// Rows of one load. What is loaded on a branch can be merged.
const LOAD_ROWS: u64 = crate::merge::MERGE_ROWS as u64;
