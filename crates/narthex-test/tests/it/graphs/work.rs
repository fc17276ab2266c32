//! What a look and a change cost after many commits, counted and not timed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use narthex_core::{BranchName, CommitId, Digest, GraphId, Slug, SpaceId};
use narthex_graph::Engine;
use narthex_store::{
    At, Branch, Commit, GraphInfo, GraphView, Graphs, IndexRange, Layer, LineNo, Placed, RowNo,
    Seen, Side, Store, StoreError, StoredRow, SystemClock, Tag,
};

use super::histories::Rooms;
use super::{Net, SCHEMA};

/// How often a store was asked, and for how many rows it answered.
#[derive(Debug, Default)]
struct Work {
    calls: AtomicU64,
    rows: AtomicU64,
}

impl Work {
    fn done<T>(&self, answer: &[T]) {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.rows.fetch_add(answer.len() as u64, Ordering::SeqCst);
    }

    fn take(&self) -> (u64, u64) {
        (self.calls.swap(0, Ordering::SeqCst), self.rows.swap(0, Ordering::SeqCst))
    }
}

/// A store that counts what is asked of it.
#[derive(Debug)]
struct Counting {
    inner: Arc<dyn Store>,
    work: Arc<Work>,
}

#[async_trait]
impl Graphs for Counting {
    async fn graphs(&self, space: Option<SpaceId>) -> Result<Vec<GraphInfo>, StoreError> {
        let found = self.inner.graphs(space).await?;
        self.work.done(&found);
        Ok(found)
    }

    async fn graph(&self, slug: &Slug) -> Result<Option<GraphInfo>, StoreError> {
        self.work.done::<()>(&[]);
        self.inner.graph(slug).await
    }

    async fn branches(&self, graph: GraphId) -> Result<Vec<Branch>, StoreError> {
        let found = self.inner.branches(graph).await?;
        self.work.done(&found);
        Ok(found)
    }

    async fn branch(
        &self,
        graph: GraphId,
        name: &BranchName,
    ) -> Result<Option<Branch>, StoreError> {
        self.work.done::<()>(&[]);
        self.inner.branch(graph, name).await
    }

    async fn branch_of(&self, graph: GraphId, line: LineNo) -> Result<Option<Branch>, StoreError> {
        self.work.done::<()>(&[]);
        self.inner.branch_of(graph, line).await
    }

    async fn graph_commit(
        &self,
        graph: GraphId,
        id: CommitId,
    ) -> Result<Option<Commit>, StoreError> {
        self.work.done::<()>(&[]);
        self.inner.graph_commit(graph, id).await
    }

    async fn graph_commits(
        &self,
        graph: GraphId,
        branch: &BranchName,
        before: Option<CommitId>,
        limit: u32,
    ) -> Result<Vec<Commit>, StoreError> {
        let found = self.inner.graph_commits(graph, branch, before, limit).await?;
        self.work.done(&found);
        Ok(found)
    }

    async fn graph_schema(
        &self,
        graph: GraphId,
        schema: Digest,
    ) -> Result<Option<String>, StoreError> {
        self.work.done::<()>(&[]);
        self.inner.graph_schema(graph, schema).await
    }

    async fn view(
        &self,
        graph: GraphId,
        at: &At,
    ) -> Result<Option<Box<dyn GraphView>>, StoreError> {
        self.work.done::<()>(&[]);
        let view = self.inner.view(graph, at).await?;
        let work = Arc::clone(&self.work);
        Ok(view.map(|inner| Box::new(Seeing { inner, work }) as Box<dyn GraphView>))
    }
}

#[derive(Debug)]
struct Seeing {
    inner: Box<dyn GraphView>,
    work: Arc<Work>,
}

#[async_trait]
impl GraphView for Seeing {
    fn placed(&self) -> &Placed {
        self.inner.placed()
    }

    async fn rows(&mut self, tag: Tag, rows: &[RowNo]) -> Result<Vec<StoredRow>, StoreError> {
        let found = self.inner.rows(tag, rows).await?;
        self.work.done(&found);
        Ok(found)
    }

    async fn scan(
        &mut self,
        tag: Tag,
        after: Option<RowNo>,
        limit: u32,
    ) -> Result<Vec<StoredRow>, StoreError> {
        let found = self.inner.scan(tag, after, limit).await?;
        self.work.done(&found);
        Ok(found)
    }

    async fn edges(
        &mut self,
        tag: Tag,
        side: Side,
        of: &[RowNo],
        bodies: bool,
    ) -> Result<Vec<StoredRow>, StoreError> {
        let found = self.inner.edges(tag, side, of, bodies).await?;
        self.work.done(&found);
        Ok(found)
    }

    async fn scan_edges(
        &mut self,
        tag: Tag,
        after: Option<RowNo>,
        limit: u32,
    ) -> Result<Vec<StoredRow>, StoreError> {
        let found = self.inner.scan_edges(tag, after, limit).await?;
        self.work.done(&found);
        Ok(found)
    }

    async fn index(
        &mut self,
        index: Tag,
        range: &IndexRange,
        limit: u32,
    ) -> Result<Option<Vec<RowNo>>, StoreError> {
        let found = self.inner.index(index, range, limit).await?;
        self.work.done(found.as_deref().unwrap_or_default());
        Ok(found)
    }

    async fn search(
        &mut self,
        index: Tag,
        words: &[String],
        prefix: bool,
        limit: u32,
    ) -> Result<Option<Vec<RowNo>>, StoreError> {
        let found = self.inner.search(index, words, prefix, limit).await?;
        self.work.done(found.as_deref().unwrap_or_default());
        Ok(found)
    }

    async fn touched(
        &mut self,
        spans: &[(LineNo, u64, u64)],
    ) -> Result<Vec<(Tag, RowNo)>, StoreError> {
        let found = self.inner.touched(spans).await?;
        self.work.done(&found);
        Ok(found)
    }

    async fn writes(
        &mut self,
        lines: &[Layer],
        rows: &[(Tag, RowNo)],
    ) -> Result<Vec<StoredRow>, StoreError> {
        let found = self.inner.writes(lines, rows).await?;
        self.work.done(&found);
        Ok(found)
    }

    async fn seen(&mut self, commits: &[(LineNo, u64)]) -> Result<Vec<Seen>, StoreError> {
        let found = self.inner.seen(commits).await?;
        self.work.done(&found);
        Ok(found)
    }

    async fn schemas(&mut self, commits: &[(LineNo, u64)]) -> Result<Vec<Digest>, StoreError> {
        let found = self.inner.schemas(commits).await?;
        self.work.done(&found);
        Ok(found)
    }
}

/// Regression 8: a look, a change and a merge of a small difference cost the same after many
/// commits as after few. That each statement behind a call goes by a key and walks through nothing
/// is proven beside the statements (`every_look_goes_by_a_key`).
#[tokio::test]
async fn work_does_not_grow_with_history() -> anyhow::Result<()> {
    let rooms = Rooms::new().await;
    let mut net = Net::over(rooms.store()).await?;
    net.schema(SCHEMA).await?;
    let work = Arc::new(Work::default());
    let counting = Counting { inner: Arc::clone(&net.store), work: Arc::clone(&work) };
    net.engine = Engine::new(Arc::new(counting), Arc::new(SystemClock));
    for slug in ["ada", "bob"] {
        net.mutate(
            "main",
            &format!("insert Person {{ slug: \"{slug}\", name: \"{slug}\", seen: 0 }}"),
        )
        .await?;
    }
    net.mutate("main", "insert Knows { from: \"ada\", to: \"bob\" }").await?;
    let few = costs(&net, &work, 0).await?;
    for round in 0..COMMITS {
        let source = format!(
            "update Person set {{ seen: {round} + 10, name: \"n{round}\" }} where slug = \"ada\""
        );
        assert!(net.mutate("main", &source).await?.committed);
    }
    let many = costs(&net, &work, 1).await?;
    assert!(few.iter().all(|(_, (calls, _))| *calls > 0), "{few:?}");
    assert_eq!(few, many);
    Ok(())
}

async fn costs(
    net: &Net,
    work: &Work,
    round: u8,
) -> anyhow::Result<Vec<(&'static str, (u64, u64))>> {
    let mut costs = Vec::new();
    // Schemas are read once and remembered.
    net.ask("main", "match { $p: Person { slug: \"bob\" } } return { $p.seen }").await?;
    work.take();
    net.ask("main", "match { $p: Person { slug: \"ada\" } } return { $p.seen }").await?;
    costs.push(("a look by key", work.take()));
    net.ask("main", "match { $p: Person { name: \"bob\" } } return { $p.seen }").await?;
    costs.push(("a look by index", work.take()));
    net.ask("main", "match { $p: Person { slug: \"ada\" }  $p knows $q } return { $q.slug }")
        .await?;
    costs.push(("a step", work.take()));
    net.mutate("main", &format!("update Person set {{ seen: {round} + 1 }} where slug = \"ada\""))
        .await?;
    costs.push(("a change", work.take()));
    let (branch, slug) = (format!("b{round}"), format!("s{round}"));
    net.fork(&branch, "main").await?;
    costs.push(("a branch", work.take()));
    net.mutate(&branch, &format!("insert Person {{ slug: \"{slug}\", name: \"x\", seen: 0 }}"))
        .await?;
    costs.push(("a change on a branch", work.take()));
    net.merge(&branch, "main").await?;
    costs.push(("a merge", work.take()));
    Ok(costs)
}

const COMMITS: u32 = 500;
