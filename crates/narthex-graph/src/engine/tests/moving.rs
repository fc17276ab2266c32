//! A branch that moves whenever somebody has looked at it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use narthex_core::{BranchName, CommitId, Digest, GraphId, Slug, SpaceId};
use narthex_store::{At, Branch, Commit, GraphInfo, GraphView, Graphs, LineNo, StoreError};
use serde_json::{Map, json};

use super::house::{House, add, branch, owner};
use crate::engine::{Engine, Load, LoadMode, Mutation, NewBranch};
use crate::testing::MemoryGraphs;

/// Graphs in which `main` has one more person after every look at it.
#[derive(Debug)]
struct Moving {
    inner: Arc<MemoryGraphs>,
    engine: Engine,
    graph: GraphInfo,
    moved: AtomicU32,
}

impl Moving {
    async fn go_on(&self) {
        let source = add(&format!("m{}", self.moved.fetch_add(1, Ordering::SeqCst)), 1);
        let (params, limits) = (Map::new(), crate::exec::Limits::default());
        let ask = Mutation {
            source: &source,
            name: None,
            params: &params,
            branch: &BranchName::main(),
            expected: None,
            message: "",
            limits: &limits,
        };
        let prepared = self.engine.mutate(&self.graph, &ask, &owner()).await.unwrap();
        self.inner.apply(prepared.write.unwrap()).unwrap();
    }
}

#[async_trait]
impl Graphs for Moving {
    async fn graphs(&self, space: Option<SpaceId>) -> Result<Vec<GraphInfo>, StoreError> {
        self.inner.graphs(space).await
    }

    async fn graph(&self, slug: &Slug) -> Result<Option<GraphInfo>, StoreError> {
        self.inner.graph(slug).await
    }

    async fn branches(&self, graph: GraphId) -> Result<Vec<Branch>, StoreError> {
        self.inner.branches(graph).await
    }

    async fn branch(
        &self,
        graph: GraphId,
        name: &BranchName,
    ) -> Result<Option<Branch>, StoreError> {
        self.inner.branch(graph, name).await
    }

    async fn branch_of(&self, graph: GraphId, line: LineNo) -> Result<Option<Branch>, StoreError> {
        self.inner.branch_of(graph, line).await
    }

    async fn graph_commit(
        &self,
        graph: GraphId,
        id: CommitId,
    ) -> Result<Option<Commit>, StoreError> {
        self.inner.graph_commit(graph, id).await
    }

    async fn graph_commits(
        &self,
        graph: GraphId,
        branch: &BranchName,
        before: Option<CommitId>,
        limit: u32,
    ) -> Result<Vec<Commit>, StoreError> {
        self.inner.graph_commits(graph, branch, before, limit).await
    }

    async fn graph_schema(
        &self,
        graph: GraphId,
        schema: Digest,
    ) -> Result<Option<String>, StoreError> {
        self.inner.graph_schema(graph, schema).await
    }

    async fn view(
        &self,
        graph: GraphId,
        at: &At,
    ) -> Result<Option<Box<dyn GraphView>>, StoreError> {
        let view = self.inner.view(graph, at).await?;
        if matches!(at, At::Branch(name) if *name == BranchName::main()) {
            self.go_on().await;
        }
        Ok(view)
    }
}

/// What is on a branch, and at the commit it says it began at.
async fn both(house: &House, on: &str, begun: CommitId) -> (String, String) {
    let people = "match { $p: Person } return { $p.slug } order { $p.slug }";
    let then = house.ask_at(At::Commit(begun), people, json!({})).await.unwrap();
    let now = house.ask_at(At::Branch(branch(on)), people, json!({})).await.unwrap();
    (super::house::line(&now), super::house::line(&then))
}

#[tokio::test]
async fn a_new_branch_begins_where_it_says_however_fast_the_other_moves() {
    let house = House::new().await;
    let moving = Moving {
        inner: Arc::clone(&house.store),
        engine: house.engine.clone(),
        graph: house.graph.clone(),
        moved: AtomicU32::new(0),
    };
    let engine = Engine::new(Arc::new(moving), Arc::clone(&house.clock) as _);
    let from = At::Branch(BranchName::main());
    let new = NewBranch { name: branch("plain"), from: from.clone(), protected: false };
    let plain = house.made(engine.create_branch(&house.graph, &new, &owner()).await.unwrap());
    let (now, then) = both(&house, "plain", plain.unwrap().commit.unwrap()).await;
    assert_eq!(now, then);
    let ask = Load {
        data: br#"{"type":"Person","data":{"slug":"a","name":"a"}}"#,
        branch: &branch("loaded"),
        from: Some(&from),
        mode: LoadMode::Merge,
        expected: None,
        message: "",
        limits: &house.limits,
    };
    house.made(engine.load(&house.graph, &ask, &owner()).await.unwrap()).unwrap();
    let log = house.engine.log(&house.graph, &branch("loaded"), None, 1).await.unwrap();
    let (now, then) = both(&house, "loaded", log[0].parents[0]).await;
    assert_eq!(now, format!("a, {then}"), "its own, and all of where it began");
}
