//! The store in memory has no graphs.

use async_trait::async_trait;
use narthex_core::{BranchName, CommitId, Digest, GraphId, Slug, SpaceId};
use narthex_store::{At, Branch, Commit, GraphInfo, GraphView, Graphs, LineNo, StoreError};

use super::MemoryStore;

#[async_trait]
impl Graphs for MemoryStore {
    async fn graphs(&self, _: Option<SpaceId>) -> Result<Vec<GraphInfo>, StoreError> {
        Ok(Vec::new())
    }
    async fn graph(&self, _: &Slug) -> Result<Option<GraphInfo>, StoreError> {
        Ok(None)
    }
    async fn branches(&self, _: GraphId) -> Result<Vec<Branch>, StoreError> {
        Ok(Vec::new())
    }
    async fn branch(&self, _: GraphId, _: &BranchName) -> Result<Option<Branch>, StoreError> {
        Ok(None)
    }
    async fn branch_of(&self, _: GraphId, _: LineNo) -> Result<Option<Branch>, StoreError> {
        Ok(None)
    }
    async fn graph_commit(&self, _: GraphId, _: CommitId) -> Result<Option<Commit>, StoreError> {
        Ok(None)
    }
    async fn graph_commits(
        &self,
        _: GraphId,
        _: &BranchName,
        _: Option<CommitId>,
        _: u32,
    ) -> Result<Vec<Commit>, StoreError> {
        Ok(Vec::new())
    }
    async fn graph_schema(&self, _: GraphId, _: Digest) -> Result<Option<String>, StoreError> {
        Ok(None)
    }
    async fn view(&self, _: GraphId, _: &At) -> Result<Option<Box<dyn GraphView>>, StoreError> {
        Ok(None)
    }
}
