//! Several graphs in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use narthex_core::{BranchName, CommitId, Digest, GraphId, Slug, SpaceId};
use narthex_store::{
    At, Branch, Commit, GraphDone, GraphInfo, GraphView, GraphWrite, Graphs, LineNo, Refused,
    StoreError,
};

use super::MemoryGraph;

/// Graphs in memory.
#[derive(Debug, Default)]
pub struct MemoryGraphs {
    graphs: Mutex<BTreeMap<GraphId, MemoryGraph>>,
}

impl MemoryGraphs {
    /// Makes a change, whole or not at all.
    pub fn apply(&self, write: GraphWrite) -> Result<GraphDone, StoreError> {
        let mut graphs = self.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        match write {
            GraphWrite::Found { graph, commit, schema } => {
                if graphs
                    .values()
                    .any(|of| of.info().slug == graph.slug || of.info().id == graph.id)
                {
                    return Err(Refused::GraphExists.into());
                }
                let (id, graph) = (graph.id, MemoryGraph::found(graph, commit, schema)?);
                let done = graph.done(LineNo(1));
                graphs.insert(id, graph);
                Ok(done)
            }
            GraphWrite::Remove { graph } => {
                graphs.remove(&graph).ok_or(Refused::NotFound("graph"))?;
                Ok(GraphDone { line: LineNo(0), seq: 0, commit: None })
            }
            write => {
                let graph = match &write {
                    GraphWrite::Branch(new) => new.graph,
                    GraphWrite::Commit(commit) => commit.graph,
                    GraphWrite::DropBranch { graph, .. }
                    | GraphWrite::Protect { graph, .. }
                    | GraphWrite::Remove { graph } => *graph,
                    GraphWrite::Found { graph, .. } => graph.id,
                };
                graphs.get_mut(&graph).ok_or(Refused::NotFound("graph"))?.apply(write)
            }
        }
    }

    fn one<T>(&self, graph: GraphId, look: impl FnOnce(&MemoryGraph) -> Option<T>) -> Option<T> {
        let graphs = self.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        graphs.get(&graph).and_then(look)
    }

    fn infos(&self) -> Vec<GraphInfo> {
        let graphs = self.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        let mut infos: Vec<GraphInfo> = graphs.values().map(|of| of.info().clone()).collect();
        infos.sort_by(|a, b| a.slug.as_str().cmp(b.slug.as_str()));
        infos
    }
}

#[async_trait]
impl Graphs for MemoryGraphs {
    async fn graphs(&self, space: Option<SpaceId>) -> Result<Vec<GraphInfo>, StoreError> {
        let all = self.infos().into_iter();
        Ok(all.filter(|of| space.is_none_or(|space| of.space == space)).collect())
    }

    async fn graph(&self, slug: &Slug) -> Result<Option<GraphInfo>, StoreError> {
        Ok(self.infos().into_iter().find(|of| of.slug == *slug))
    }

    async fn branches(&self, graph: GraphId) -> Result<Vec<Branch>, StoreError> {
        Ok(self.one(graph, |of| Some(of.branches())).unwrap_or_default())
    }

    async fn branch(
        &self,
        graph: GraphId,
        name: &BranchName,
    ) -> Result<Option<Branch>, StoreError> {
        Ok(self.one(graph, |of| of.branches().into_iter().find(|branch| branch.name == *name)))
    }

    async fn branch_of(&self, graph: GraphId, line: LineNo) -> Result<Option<Branch>, StoreError> {
        Ok(self.one(graph, |of| of.branch_of(line)))
    }

    async fn graph_commit(
        &self,
        graph: GraphId,
        id: CommitId,
    ) -> Result<Option<Commit>, StoreError> {
        Ok(self.one(graph, |of| of.commits().find(|commit| commit.id == id).cloned()))
    }

    async fn graph_commits(
        &self,
        graph: GraphId,
        branch: &BranchName,
        before: Option<CommitId>,
        limit: u32,
    ) -> Result<Vec<Commit>, StoreError> {
        Ok(self.one(graph, |of| of.log(branch, before, limit)).unwrap_or_default())
    }

    async fn graph_schema(
        &self,
        graph: GraphId,
        schema: Digest,
    ) -> Result<Option<String>, StoreError> {
        Ok(self.one(graph, |of| of.schema(schema).map(str::to_owned)))
    }

    async fn view(
        &self,
        graph: GraphId,
        at: &At,
    ) -> Result<Option<Box<dyn GraphView>>, StoreError> {
        Ok(self.one(graph, |of| of.view(at)).map(|view| Box::new(view) as Box<dyn GraphView>))
    }
}
