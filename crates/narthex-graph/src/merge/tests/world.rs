//! A small graph to merge in: people who know each other.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};

use narthex_core::{Actor, CommitId, Digest, GraphId, SpaceId, Taint, Timestamp};
use narthex_store::{
    At, Commit, CommitKind, GraphCommit, GraphInfo, GraphView, GraphWrite, LineNo, NewLine, RowNo,
    Seen, Tag,
};
use serde_json::json;

use crate::exec::indexing::row_writes;
use crate::merge::{
    Body, Conflicts, How, MergeError, MergePlan, MergedRows, Resolution, RowChange, RowId, plan,
    rows_by_id, typed, write_body,
};
use crate::schema::{EdgeType, Kind, NodeType, Property, Schema};
use crate::testing::{MemoryGraph, MemoryView};

/// A graph with its schema.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) graph: MemoryGraph,
    pub(crate) schema: Schema,
    /// The schema that commits say they hold to.
    pub(crate) digest: Digest,
    commits: u64,
}

/// Rows by their numbers.
pub(crate) type Rows = BTreeMap<RowId, Body>;

impl World {
    /// An empty graph with the branch `main`.
    pub(crate) fn new() -> Self {
        let schema = schema();
        let info = GraphInfo {
            id: "00000000-0000-7000-8000-000000000001".parse::<GraphId>().unwrap(),
            slug: "people".parse().unwrap(),
            space: "00000000-0000-7000-8000-000000000002".parse::<SpaceId>().unwrap(),
            salt: [7; 16],
            created: Timestamp::from_millis(0),
        };
        let seen = Seen::from([(LineNo(1), 1)]);
        let graph = MemoryGraph::found(info, commit(0, CommitKind::Init, seen), String::new());
        Self { graph: graph.unwrap(), schema, digest: Digest::of(b"schema"), commits: 0 }
    }

    pub(crate) fn view(&self, branch: &str) -> MemoryView {
        self.graph.view(&At::Branch(branch.parse().unwrap())).unwrap()
    }

    pub(crate) fn at(&self, commit: CommitId) -> MemoryView {
        self.graph.view(&At::Commit(commit)).unwrap()
    }

    /// Makes a branch where another stands.
    pub(crate) fn fork(&mut self, from: &str, name: &str) {
        let placed = self.view(from).placed().clone();
        let new = NewLine {
            graph: self.graph.info().id,
            name: name.parse().unwrap(),
            from: (placed.line, placed.head),
            created: Timestamp::from_millis(0),
            owner: None,
            protected: false,
        };
        self.graph.apply(GraphWrite::Branch(new)).unwrap();
    }

    /// Commits these rows to a branch.
    pub(crate) fn commit(&mut self, branch: &str, rows: Vec<(RowId, Option<Body>)>) -> CommitId {
        let placed = self.view(branch).placed().clone();
        let mut seen = placed.commit.seen.clone();
        seen.insert(placed.line, placed.head + 1);
        let parents = vec![placed.commit.id];
        let ids: Vec<RowId> = rows.iter().map(|(row, _)| *row).collect();
        let mut were = now(rows_by_id(&mut self.view(branch), &ids)).unwrap();
        let changes = rows.into_iter().map(|((tag, row), body)| RowChange {
            tag,
            row,
            ends: ends((tag, row)),
            before: were.remove(&(tag, row)),
            theirs: None,
            after: body.map(|body| write_body(&body).unwrap()),
        });
        self.put(branch, CommitKind::Mutate, seen, parents, changes.collect())
    }

    fn put(
        &mut self,
        branch: &str,
        kind: CommitKind,
        seen: Seen,
        parents: Vec<CommitId>,
        rows: Vec<RowChange>,
    ) -> CommitId {
        let placed = self.view(branch).placed().clone();
        let typed = typed(rows, &self.schema);
        assert!(typed.untyped.is_empty());
        let rows = row_writes(&typed.changes, &self.schema, &self.schema, placed.line).unwrap();
        self.commits += 1;
        let new = Commit {
            line: placed.line,
            seq: placed.head + 1,
            parents,
            schema: self.digest,
            ..commit(self.commits, kind, seen)
        };
        let id = new.id;
        let write = GraphCommit {
            graph: self.graph.info().id,
            new_line: None,
            head: placed.head,
            commit: new,
            schema: Some(String::new()),
            rows: rows.into(),
            builds: Vec::new(),
        };
        self.graph.apply(GraphWrite::Commit(write)).unwrap();
        id
    }

    /// What a merge would do.
    pub(crate) fn plan(
        &self,
        into: &str,
        from: &str,
        resolutions: &[Resolution],
    ) -> Result<MergePlan, MergeError> {
        let (mut ours, mut theirs) = (self.view(into), self.view(from));
        now(plan(&mut ours, &mut theirs, &self.schema, resolutions))
    }

    /// Merges, or says what is in the way.
    pub(crate) fn merge(&mut self, into: &str, from: &str) -> Result<Option<CommitId>, Conflicts> {
        self.merge_with(into, from, &[])
    }

    pub(crate) fn merge_with(
        &mut self,
        into: &str,
        from: &str,
        resolutions: &[Resolution],
    ) -> Result<Option<CommitId>, Conflicts> {
        match self.plan(into, from, resolutions).unwrap() {
            MergePlan::AlreadyMerged => Ok(None),
            MergePlan::Conflicts(conflicts) => Err(conflicts),
            MergePlan::Merged(merged) => Ok(Some(self.put_merge(into, merged))),
        }
    }

    pub(crate) fn put_merge(&mut self, into: &str, merged: MergedRows) -> CommitId {
        self.put(into, CommitKind::Merge, merged.seen, merged.parents.to_vec(), merged.changes)
    }

    /// All rows of a branch.
    pub(crate) fn rows(&self, branch: &str) -> Rows {
        let mut view = self.view(branch);
        let mut rows = Rows::new();
        for tag in [*PERSON, *KNOWS] {
            for row in now(view.scan(tag, None, u32::MAX)).unwrap() {
                let body = serde_json::from_str(row.body.as_deref().unwrap()).unwrap();
                rows.insert((tag, row.row), body);
            }
        }
        rows
    }
}

static PERSON: LazyLock<Tag> = LazyLock::new(|| person().tag());
static KNOWS: LazyLock<Tag> = LazyLock::new(|| knows().tag());

/// The row of a person.
pub(crate) fn p(key: i64) -> RowId {
    (*PERSON, RowNo(key))
}

/// The row of an edge between two people.
pub(crate) fn k(from: i64, to: i64) -> RowId {
    (*KNOWS, RowNo(1000 + 10 * from + to))
}

/// A person's body.
#[expect(clippy::unnecessary_wraps, reason = "beside none, which is gone")]
pub(crate) fn body(key: i64, name: &str, age: Option<i64>) -> Option<Body> {
    let mut body = Body::from([
        ("slug".to_owned(), json!(format!("p{key}"))),
        ("name".to_owned(), json!(name)),
    ]);
    body.extend(age.map(|age| ("age".to_owned(), json!(age))));
    Some(body)
}

/// An edge's body.
#[expect(clippy::unnecessary_wraps, reason = "beside none, which is gone")]
pub(crate) fn tie(from: i64, to: i64, since: &str) -> Option<Body> {
    Some(Body::from([
        ("@from".to_owned(), json!(["Person", format!("p{from}")])),
        ("@to".to_owned(), json!(["Person", format!("p{to}")])),
        ("since".to_owned(), json!(since)),
    ]))
}

pub(crate) fn resolve(row: RowId, how: How) -> Resolution {
    Resolution { row, how }
}

/// Memory never waits.
pub(crate) fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("memory waits"),
    }
}

fn ends((tag, row): RowId) -> Option<(RowNo, RowNo)> {
    let at = row.0 - 1000;
    (tag == *KNOWS).then_some((RowNo(at / 10), RowNo(at % 10)))
}

fn commit(no: u64, kind: CommitKind, seen: Seen) -> Commit {
    Commit {
        id: CommitId::of(Digest::of(&no.to_be_bytes())),
        line: LineNo(1),
        seq: 1,
        parents: Vec::new(),
        seen,
        schema: Digest::of(b"schema"),
        kind,
        actor: Actor::Owner,
        taint: Taint::CLEAN,
        message: String::new(),
        at: Timestamp::from_millis(0),
        rows: 0,
    }
}

pub(crate) fn property(name: &str, kind: Kind) -> Property {
    Property {
        name: name.to_owned(),
        slot: name.to_owned(),
        kind,
        nullable: true,
        index: None,
        lapsed: 0,
        range: None,
        embed: None,
        description: None,
    }
}

pub(crate) fn person() -> NodeType {
    NodeType {
        name: "Person".to_owned(),
        slot: "Person".to_owned(),
        interfaces: Vec::new(),
        properties: vec![
            property("slug", Kind::String),
            property("name", Kind::String),
            property("age", Kind::I64),
        ],
        key: 0,
        uniques: Vec::new(),
        checks: Vec::new(),
        description: None,
    }
}

pub(crate) fn knows() -> EdgeType {
    EdgeType {
        name: "Knows".to_owned(),
        slot: "Knows".to_owned(),
        from: "Person".to_owned(),
        to: "Person".to_owned(),
        properties: vec![property("since", Kind::String)],
        key: Vec::new(),
        uniques: Vec::new(),
        checks: Vec::new(),
        card: None,
        description: None,
    }
}

fn schema() -> Schema {
    Schema { nodes: vec![person()], edges: vec![knows()], ..Schema::default() }
}
