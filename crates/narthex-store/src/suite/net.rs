//! A house with a graph in it, and short ways to change and to look at it.

use std::sync::Arc;

use narthex_core::{Actor, BranchName, CommitId, Digest, GraphId, SpaceId, Taint};
use serde_json::{Value, json};

use super::Backend;
use super::house::{House, at, slug};
use crate::{
    At, Branch, Commit, CommitKind, Effect, Effected, GraphCommit, GraphDone, GraphInfo, GraphView,
    GraphWrite, IndexBuild, LineNo, NewLine, RowNo, RowWrite, Side, StoreError, StoredRow, Tag,
    TextEntry, fresh_uuid,
};

/// Nodes, edges, an index over the nodes, and one over their texts.
pub(super) const NODE: Tag = Tag(1);
pub(super) const EDGE: Tag = Tag(-2);
pub(super) const BY_VALUE: Tag = Tag(3);
pub(super) const BY_TEXT: Tag = Tag(i64::MAX);

pub(super) struct Net {
    pub(super) house: Arc<House>,
    pub(super) graph: GraphId,
    pub(super) main: LineNo,
}

impl Net {
    pub(super) async fn open(backend: &dyn Backend) -> Self {
        let house = Arc::new(House::open(backend).await);
        let (graph, main) = found(&house, house.a, "net").await;
        Self { house, graph, main }
    }

    /// Another graph of the same house.
    pub(super) async fn beside(&self, name: &str) -> Self {
        let (graph, main) = found(&self.house, self.house.b, name).await;
        Self { house: Arc::clone(&self.house), graph, main }
    }

    pub(super) async fn write(&self, write: GraphWrite) -> Result<GraphDone, StoreError> {
        match self.house.attempt(Effect::Graph(Box::new(write))).await? {
            Effected::Graph(done) => Ok(done),
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn branch(&self, name: &str) -> Branch {
        let found = self.house.store.branch(self.graph, &named(name)).await.expect("reads");
        found.expect("there is such a branch")
    }

    pub(super) async fn commit_of(&self, id: CommitId) -> Commit {
        let found = self.house.store.graph_commit(self.graph, id).await.expect("reads");
        found.expect("there is such a commit")
    }

    /// A commit that would go onto a branch now.
    pub(super) async fn next(&self, branch: &str, rows: Vec<RowWrite>) -> GraphCommit {
        let branch = self.branch(branch).await;
        let on = self.commit_of(branch.commit).await;
        let mut seen = on.seen.clone();
        seen.insert(branch.line, branch.head + 1);
        let commit = Commit {
            id: fresh_id(),
            line: branch.line,
            seq: branch.head + 1,
            parents: vec![branch.commit],
            seen,
            kind: CommitKind::Mutate,
            at: at(on.at.as_millis() + 10),
            rows: rows.len() as u64,
            message: format!("{} rows", rows.len()),
            ..on
        };
        GraphCommit {
            graph: self.graph,
            new_line: None,
            head: branch.head,
            commit,
            schema: None,
            rows: rows.into(),
            builds: Vec::new(),
        }
    }

    pub(super) async fn commit(&self, branch: &str, rows: Vec<RowWrite>) -> CommitId {
        let next = self.next(branch, rows).await;
        self.write(GraphWrite::Commit(next)).await.expect("commits").commit.expect("a commit")
    }

    /// The same with indexes that come into being.
    pub(super) async fn build(&self, branch: &str, rows: Vec<RowWrite>, builds: Vec<IndexBuild>) {
        let next = GraphCommit { builds, ..self.next(branch, rows).await };
        self.write(GraphWrite::Commit(next)).await.expect("commits");
    }

    /// A branch of another, as that is now.
    pub(super) async fn fork(&self, name: &str, from: &str) -> LineNo {
        let from = self.branch(from).await;
        let line = new_line(self.graph, name, (from.line, from.head));
        self.write(GraphWrite::Branch(line)).await.expect("forks").line
    }

    pub(super) async fn look(&self, at: &At) -> Option<Box<dyn GraphView>> {
        self.house.store.view(self.graph, at).await.expect("looks")
    }

    pub(super) async fn on(&self, branch: &str) -> Box<dyn GraphView> {
        self.look(&At::Branch(named(branch))).await.expect("there is such a branch")
    }

    /// What a branch has under these numbers.
    pub(super) async fn bodies(&self, branch: &str, rows: &[i64]) -> Vec<(i64, String)> {
        bodies(&mut *self.on(branch).await, rows).await
    }
}

pub(super) async fn bodies(view: &mut dyn GraphView, rows: &[i64]) -> Vec<(i64, String)> {
    let rows: Vec<RowNo> = rows.iter().map(|row| RowNo(*row)).collect();
    plain(view.rows(NODE, &rows).await.expect("reads"))
}

/// Numbers and bodies, by number.
pub(super) fn plain(rows: Vec<StoredRow>) -> Vec<(i64, String)> {
    let mut rows: Vec<_> =
        rows.into_iter().map(|row| (row.row.0, row.body.expect("it is there"))).collect();
    rows.sort();
    rows
}

/// The edges of a node, by number.
pub(super) async fn edges(view: &mut dyn GraphView, side: Side, of: &[i64]) -> Vec<i64> {
    let of: Vec<RowNo> = of.iter().map(|row| RowNo(*row)).collect();
    let mut bare = view.edges(EDGE, side, &of, false).await.expect("reads");
    let mut whole = view.edges(EDGE, side, &of, true).await.expect("reads");
    bare.sort_by_key(|edge| edge.row);
    whole.sort_by_key(|edge| edge.row);
    assert!(bare.iter().all(|edge| edge.body.as_deref() == Some("")));
    assert!(whole.iter().all(|edge| edge.body.as_deref() != Some("")));
    let ends = |edge: &StoredRow| (edge.row, edge.line, edge.seq, edge.ends, edge.tag);
    assert_eq!(
        bare.iter().map(ends).collect::<Vec<_>>(),
        whole.iter().map(ends).collect::<Vec<_>>()
    );
    bare.iter().map(|edge| edge.row.0).collect()
}

/// A node that says something.
pub(super) fn node(row: i64, body: &str) -> RowWrite {
    RowWrite {
        tag: NODE,
        row: RowNo(row),
        ends: None,
        body: Some(body.to_owned()),
        unindex: Vec::new(),
        index: Vec::new(),
        texts: Vec::new(),
    }
}

/// A node that is in both indexes.
pub(super) fn indexed(row: i64, value: &Value, words: &str) -> RowWrite {
    RowWrite {
        index: vec![(BY_VALUE, value.clone())],
        texts: vec![TextEntry { index: BY_TEXT, words: words.to_owned() }],
        ..node(row, &json!([value, words]).to_string())
    }
}

pub(super) fn edge(row: i64, from: i64, to: i64) -> RowWrite {
    RowWrite { tag: EDGE, ends: Some((RowNo(from), RowNo(to))), ..node(row, "{}") }
}

pub(super) fn gone(write: RowWrite) -> RowWrite {
    RowWrite { body: None, index: Vec::new(), texts: Vec::new(), ..write }
}

/// In place of a version of the same line.
pub(super) fn instead(write: RowWrite, of: &Value) -> RowWrite {
    RowWrite { unindex: vec![(BY_VALUE, of.clone())], ..write }
}

pub(super) fn new_line(graph: GraphId, name: &str, from: (LineNo, u64)) -> NewLine {
    NewLine { graph, name: named(name), from, owner: None, protected: false, created: at(900) }
}

pub(super) fn named(name: &str) -> BranchName {
    name.parse().expect("a branch name")
}

pub(super) fn fresh_id() -> CommitId {
    CommitId::of(Digest::of(fresh_uuid().as_bytes()))
}

pub(super) fn info(space: SpaceId, name: &str) -> GraphInfo {
    let id = GraphId::from_uuid(fresh_uuid());
    GraphInfo { id, slug: slug(name), space, salt: [9; 16], created: at(500) }
}

pub(super) fn first_commit() -> Commit {
    Commit {
        id: fresh_id(),
        line: LineNo(0),
        seq: 1,
        parents: Vec::new(),
        seen: [(LineNo(0), 1)].into(),
        schema: Digest::of(b"schema"),
        kind: CommitKind::Init,
        actor: Actor::Owner,
        taint: Taint { private: true, untrusted: false },
        message: "founded".to_owned(),
        at: at(1_000),
        rows: 0,
    }
}

async fn found(house: &House, space: SpaceId, name: &str) -> (GraphId, LineNo) {
    let graph = info(space, name);
    let id = graph.id;
    let write = GraphWrite::Found { graph, commit: first_commit(), schema: "schema".to_owned() };
    match house.done(Effect::Graph(Box::new(write))).await {
        Effected::Graph(done) => (id, done.line),
        other => panic!("{other:?}"),
    }
}
