//! Graphs in the database: what someone with the files can do to them.

#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

mod kept;
mod tamper;
mod tiny;

use narthex_core::{
    Actor, BranchName, CommitId, Digest, GraphId, Space, SpaceId, Taint, Timestamp, Title,
};
use narthex_store::{
    Commit, CommitKind, Commits as _, Effect, Effected, GraphCommit, GraphDone, GraphInfo,
    GraphWrite, Graphs as _, LineNo, NewLine, RowNo, RowWrite, StoreError, Tag, UnitOfWork,
    fresh_uuid,
};
use narthex_store_sqlite::SqliteStore;

use crate::backend::{SqliteBackend, record};

pub(crate) const NODE: Tag = Tag(1);

/// A house with a graph in it.
pub(crate) struct Net {
    pub(crate) backend: SqliteBackend,
    pub(crate) store: SqliteStore,
    pub(crate) graph: GraphId,
    pub(crate) main: LineNo,
}

impl Net {
    pub(crate) async fn open() -> Self {
        Self::over(SqliteBackend::new()).await
    }

    /// One that does not look for other hands.
    pub(crate) async fn blind() -> Self {
        Self::over(SqliteBackend::blind()).await
    }

    async fn over(backend: SqliteBackend) -> Self {
        let store = backend.store().await.expect("opens");
        let space = Space {
            id: SpaceId::from_uuid(fresh_uuid()),
            slug: "a".parse().expect("a slug"),
            name: Title::parse("A").expect("a title"),
            ceiling: None,
            created: Timestamp::from_millis(1),
        };
        let (id, graph) = (space.id, GraphId::from_uuid(fresh_uuid()));
        effect(&store, Effect::AddSpace(space)).await.expect("a space");
        let info = GraphInfo {
            id: graph,
            slug: "net".parse().expect("a slug"),
            space: id,
            salt: [1; 16],
            created: Timestamp::from_millis(1),
        };
        let commit = first();
        let found = GraphWrite::Found { graph: info, commit, schema: "schema".to_owned() };
        let done = write(&store, found).await.expect("founds");
        Self { backend, store, graph, main: done.line }
    }

    pub(crate) async fn next(&self, name: &BranchName, rows: Vec<RowWrite>) -> GraphCommit {
        let branch = self.store.branch(self.graph, name).await.expect("reads").expect("a branch");
        let on = self.store.graph_commit(self.graph, branch.commit).await.expect("reads");
        let on = on.expect("a commit");
        let mut seen = on.seen.clone();
        seen.insert(branch.line, branch.head + 1);
        let commit = Commit {
            id: fresh_id(),
            line: branch.line,
            seq: branch.head + 1,
            parents: vec![branch.commit],
            seen,
            kind: CommitKind::Mutate,
            rows: rows.len() as u64,
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

    pub(crate) async fn commit(&self, name: &BranchName, rows: Vec<RowWrite>) -> GraphDone {
        let next = self.next(name, rows).await;
        write(&self.store, GraphWrite::Commit(next)).await.expect("commits")
    }

    pub(crate) async fn fork(&self, name: &BranchName, upto: u64) -> LineNo {
        let line = NewLine {
            graph: self.graph,
            name: name.clone(),
            from: (self.main, upto),
            owner: None,
            protected: true,
            created: Timestamp::from_millis(2),
        };
        write(&self.store, GraphWrite::Branch(line)).await.expect("forks").line
    }
}

pub(crate) async fn write(store: &SqliteStore, write: GraphWrite) -> Result<GraphDone, StoreError> {
    match effect(store, Effect::Graph(Box::new(write))).await? {
        Effected::Graph(done) => Ok(done),
        other => panic!("{other:?}"),
    }
}

async fn effect(store: &SqliteStore, effect: Effect) -> Result<Effected, StoreError> {
    let unit = UnitOfWork::effect(effect, record("owner.action"));
    store.commit(unit).await.map(|done| done.effected)
}

pub(crate) fn node(row: i64, body: &str) -> RowWrite {
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

fn fresh_id() -> CommitId {
    CommitId::of(Digest::of(fresh_uuid().as_bytes()))
}

fn first() -> Commit {
    Commit {
        id: fresh_id(),
        line: LineNo(0),
        seq: 1,
        parents: Vec::new(),
        seen: [(LineNo(0), 1)].into(),
        schema: Digest::of(b"schema"),
        kind: CommitKind::Init,
        actor: Actor::Owner,
        taint: Taint::CLEAN,
        message: String::new(),
        at: Timestamp::from_millis(1),
        rows: 0,
    }
}
