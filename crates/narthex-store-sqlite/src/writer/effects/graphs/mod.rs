//! Graphs: founded, branched, committed to, taken away.

mod ahead;
mod bulk;
mod commit;
mod found;
mod index;
mod lines;
mod pending;
mod remove;
mod rows;
mod texts;

use narthex_core::GraphId;
use narthex_store::{Effected, GraphDone, GraphWrite, Refused};

use crate::fault::Fault;
use crate::gate::Bench;
use crate::graphs::{GraphRow, known_graph};

/// Carries out one change.
pub(super) async fn write(bench: &mut Bench<'_>, write: GraphWrite) -> Result<Effected, Fault> {
    let done: GraphDone = match write {
        GraphWrite::Found { graph, commit, schema } => {
            found::found(bench, &graph, commit, &schema).await?
        }
        GraphWrite::Branch(line) => {
            let graph = graph(bench, line.graph).await?;
            let line = lines::make(bench, &graph, &line).await?;
            lines::done(bench, &line).await?
        }
        GraphWrite::DropBranch { graph: id, line, head } => {
            let graph = graph(bench, id).await?;
            let mut line = lines::at(bench, &graph, line, head).await?;
            if line.fork.is_none() {
                return Err(Refused::RootBranch.into());
            }
            line.dropped = true;
            lines::keep(bench, &line).await?;
            lines::done(bench, &line).await?
        }
        GraphWrite::Protect { graph: id, line, protected } => {
            let graph = graph(bench, id).await?;
            let mut line = lines::named(bench, &graph, line).await?;
            line.protected = protected;
            lines::keep(bench, &line).await?;
            lines::done(bench, &line).await?
        }
        GraphWrite::Commit(commit) => {
            let graph = graph(bench, commit.graph).await?;
            commit::commit(bench, &graph, commit).await?
        }
        GraphWrite::Remove { graph: id } => {
            let graph = graph(bench, id).await?;
            remove::remove(bench.conn, graph.n).await?
        }
    };
    Ok(Effected::Graph(done))
}

async fn graph(bench: &mut Bench<'_>, graph: GraphId) -> Result<GraphRow, Fault> {
    known_graph(bench.conn, bench.key, graph)
        .await?
        .ok_or(Fault::Refused(Refused::NotFound("graph")))
}
