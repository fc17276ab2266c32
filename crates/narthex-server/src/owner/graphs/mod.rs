//! Graphs, for the owner: one family of requests a file.
//!
//! Every change goes through [`Desk::make`]: prepared by the engine, held against the stored
//! queries, and committed with the record that the owner did it, in one transaction.

mod branches;
mod bytes;
mod export;
mod history;
mod init;
mod load;
mod merge;
mod named;
mod query;
mod schema;
mod stored;
mod trouble;

pub use bytes::Bytes;
pub(super) use load::Loads;

use std::time::{Duration, Instant};

use narthex_core::{Actor, BranchName, CommitId, Subject, Taint};
use narthex_graph::GraphError;
use narthex_graph::engine::{Done, Maker, Prepared};
use narthex_graph::exec::Limits;
use narthex_store::{Effect, GraphInfo, GraphWrite, Refused, StoreError};

use self::trouble::Stop;
use super::graph_request::{GraphChange, GraphRequest};
use super::{Desk, GraphChanged, GraphReply, OwnerError, Reply};

impl Desk {
    /// Carries out a request about graphs.
    pub(super) async fn graph(&self, request: GraphRequest) -> Result<Reply, OwnerError> {
        let reply = match self.graph_reply(request).await {
            Ok(reply) => reply,
            Err(stop) => stop.reply()?,
        };
        Ok(Reply::Graph(reply))
    }

    async fn graph_reply(&self, request: GraphRequest) -> Result<GraphReply, Stop> {
        match request {
            GraphRequest::Init { space, graph, schema } => {
                self.graph_init(&space, &graph, schema.as_deref()).await
            }
            GraphRequest::List { space } => self.graph_list(space.as_deref()).await,
            GraphRequest::Schema { graph, at } => self.graph_schema(&graph, at.as_deref()).await,
            GraphRequest::Plan { graph, branch, schema } => {
                self.graph_plan(&graph, branch.as_deref(), &schema).await
            }
            GraphRequest::Apply { change, schema, allow_data_loss } => {
                self.graph_apply(&change, &schema, allow_data_loss).await
            }
            GraphRequest::Query { graph, query, at, cursor, limit } => {
                self.graph_query(&graph, &query, at.as_deref(), cursor, limit).await
            }
            GraphRequest::Mutate { change, query } => self.graph_mutate(&change, &query).await,
            GraphRequest::Load(request) => self.graph_load(request).await,
            GraphRequest::Export { graph, at, after } => {
                self.graph_export(&graph, at.as_deref(), after.as_deref()).await
            }
            GraphRequest::Branch(request) => self.graph_branch(request).await,
            GraphRequest::Merge { change, from, resolutions, allow_data_loss } => {
                self.graph_merge(&change, &from, &resolutions, allow_data_loss).await
            }
            GraphRequest::Log { graph, branch, before, limit } => {
                self.graph_log(&graph, branch.as_deref(), before.as_deref(), limit).await
            }
            GraphRequest::Diff { graph, from, to, after, limit } => {
                self.graph_diff(&graph, &from, &to, after.as_deref(), limit).await
            }
            GraphRequest::Revert { change, commit, resolutions } => {
                self.graph_revert(&change, &commit, &resolutions).await
            }
            GraphRequest::Stored { graph } => self.graph_stored(&graph).await,
            GraphRequest::Remove { graph, typed } => self.graph_remove(&graph, &typed).await,
        }
    }

    /// Makes a change, with its record. Where the branch moved under it, it is prepared anew.
    async fn make<F, P>(&self, action: &str, graph: &GraphInfo, prepare: F) -> Result<Done, Stop>
    where
        F: Fn() -> P,
        P: Future<Output = Result<Prepared, GraphError>>,
    {
        let mut tries = TRIES;
        loop {
            tries -= 1;
            match self.commit_prepared(action, graph, prepare().await?).await {
                Err(Stop::Store(StoreError::Refused(Refused::HeadMoved { .. }))) if tries > 0 => {}
                ended => return ended,
            }
        }
    }

    /// Commits what was prepared, with its record; the hold is kept until it is durable.
    async fn commit_prepared(
        &self,
        action: &str,
        graph: &GraphInfo,
        prepared: Prepared,
    ) -> Result<Done, Stop> {
        self.graphs.recheck(graph, &prepared)?;
        let Prepared { write, done, hold } = prepared;
        let Some(write) = write else { return Ok(done) };
        let subject = subject(graph, &done, &write);
        let effect = Effect::Graph(Box::new(write));
        let committed = self.change(action, Some(graph.space), subject, effect).await;
        drop(hold);
        committed?;
        Ok(done)
    }

    /// How much an owner's own query may take.
    fn owner_limits(&self) -> Limits {
        let limits = self.graphs.limits().clone();
        Limits {
            answer_bytes: limits.answer_bytes.min(ANSWER_BYTES),
            deadline: Some(Instant::now() + PATIENCE),
            ..limits
        }
    }
}

/// The graph, the branch and the commit it must stand at, as a change names them.
struct Target {
    graph: GraphInfo,
    branch: BranchName,
    expected: Option<CommitId>,
}

impl Desk {
    async fn target(&self, change: &GraphChange) -> Result<Target, Stop> {
        let graph = self.graph_named(&change.graph).await?;
        let branch = named::branch(change.branch.as_deref())?;
        let expected = match &change.expected {
            Some(commit) => Some(self.commit_named(&graph, commit).await?),
            None => None,
        };
        Ok(Target { graph, branch, expected })
    }
}

impl Target {
    fn changed(&self, done: Done) -> GraphReply {
        changed(&self.graph, done)
    }
}

fn changed(graph: &GraphInfo, done: Done) -> GraphReply {
    let counts = done.counts;
    GraphReply::Changed(GraphChanged {
        graph: graph.slug.clone(),
        branch: done.branch,
        commit: done.commit,
        committed: done.committed,
        nodes_inserted: counts.nodes_inserted,
        nodes_updated: counts.nodes_updated,
        nodes_deleted: counts.nodes_deleted,
        edges_inserted: counts.edges_inserted,
        edges_updated: counts.edges_updated,
        edges_deleted: counts.edges_deleted,
    })
}

/// What the record says: which graph, which branch, and the commit it stands at with that.
fn subject(graph: &GraphInfo, done: &Done, write: &GraphWrite) -> Subject {
    let rows = match write {
        GraphWrite::Commit(commit) => Some(commit.commit.rows),
        _ => None,
    };
    Subject {
        digest: done.commit.map(|commit| commit.digest()),
        count: rows,
        to: Some(done.branch.to_string()),
        ..Subject::one("graph", graph.id)
    }
}

/// The owner, at their desk.
const fn owner() -> Maker {
    Maker { actor: Actor::Owner, agent: None, taint: Taint::CLEAN }
}

/// How often a change is prepared for a branch that others move.
const TRIES: u32 = 5;
/// How long one query may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// Of one answer, about: as JSON it must fit a frame of the socket.
const ANSWER_BYTES: u64 = 8 * 1024 * 1024;
