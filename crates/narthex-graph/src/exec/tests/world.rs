//! A graph in memory that tests write to and look at.

use chrono::{DateTime, TimeZone as _, Utc};
use narthex_core::{Actor, CommitId, Digest, GraphId, SpaceId, Taint, Timestamp};
use narthex_store::{
    At, Commit, CommitKind, GraphCommit, GraphInfo, GraphWrite, LineNo, RowNo, Seen,
};

use crate::exec::indexing::row_writes;
use crate::exec::{
    Answer, Changed, Changes, Context, ExecError, Limits, Page, RowKind, run_read, run_write,
};
use crate::query::{EdgeNo, NodeNo, Read, Statement};
use crate::rows::{EdgeBody, edge_number, encode, key_text, node_number};
use crate::schema::{Card, EdgeType, Interface, Kind, NodeType, Property, Schema};
use crate::testing::{MemoryGraph, MemoryView};
use crate::value::Value;

pub(in crate::exec) const SALT: [u8; 16] = [7; 16];
pub(in crate::exec) const PERSON: NodeNo = NodeNo(0);
pub(in crate::exec) const COMPANY: NodeNo = NodeNo(1);
pub(in crate::exec) const KNOWS: EdgeNo = EdgeNo(0);
pub(in crate::exec) const WORKS_AT: EdgeNo = EdgeNo(1);
pub(in crate::exec) const LIKES: EdgeNo = EdgeNo(2);

/// A graph, its schema, and what queries are carried out with.
#[derive(Debug, Clone)]
pub(in crate::exec) struct World {
    pub(in crate::exec) graph: MemoryGraph,
    pub(in crate::exec) schema: Schema,
    pub(in crate::exec) limits: Limits,
    pub(in crate::exec) params: Vec<Value>,
    /// Whether views pretend to have no index.
    pub(in crate::exec) without_indexes: bool,
    commits: u64,
}

impl World {
    /// An empty graph.
    pub(in crate::exec) fn new(schema: Schema) -> Self {
        let id = |bytes: &[u8; 16]| GraphId::from_bytes(bytes).unwrap();
        let info = GraphInfo {
            id: id(&[1; 16]),
            slug: "g".parse().unwrap(),
            space: SpaceId::from_bytes(&[2; 16]).unwrap(),
            salt: SALT,
            created: Timestamp::from_millis(0),
        };
        let first = commit(0, 0, LineNo(0), 1, CommitKind::Init);
        let graph = MemoryGraph::found(info, first, String::new()).unwrap();
        let limits = Limits::default();
        Self { graph, schema, limits, params: Vec::new(), without_indexes: false, commits: 0 }
    }

    pub(in crate::exec) fn now() -> DateTime<Utc> {
        Utc.with_ymd_and_hms(2026, 1, 31, 12, 0, 0).unwrap()
    }

    pub(in crate::exec) fn context(&self) -> Context<'_> {
        Context {
            schema: &self.schema,
            salt: &SALT,
            params: &self.params,
            now: Self::now(),
            limits: &self.limits,
        }
    }

    pub(in crate::exec) fn view(&self) -> MemoryView {
        let mut view = self.graph.view(&At::Branch("main".parse().unwrap())).unwrap();
        view.without_indexes = self.without_indexes;
        view
    }

    /// Puts changes on `main` as they are.
    pub(in crate::exec) fn commit(&mut self, changes: &Changes) {
        use narthex_store::GraphView as _;
        let view = self.view();
        let placed = view.placed();
        let rows = row_writes(changes, &self.schema, &self.schema, placed.line).unwrap();
        self.commits += 1;
        let write = GraphCommit {
            graph: self.graph.info().id,
            new_line: None,
            head: placed.head,
            commit: Commit {
                parents: vec![placed.commit.id],
                ..commit(self.commits, rows.len(), placed.line, placed.head + 1, CommitKind::Mutate)
            },
            schema: None,
            rows: rows.into(),
            builds: Vec::new(),
        };
        self.graph.apply(GraphWrite::Commit(write)).unwrap();
    }

    pub(in crate::exec) fn read(&self, read: &Read) -> Result<Answer, ExecError> {
        self.page(read, &Page::default()).map(|(answer, _)| answer)
    }

    /// A page, and what the view was asked for it.
    pub(in crate::exec) fn page(
        &self,
        read: &Read,
        page: &Page,
    ) -> Result<(Answer, Vec<&'static str>), ExecError> {
        let mut view = self.view();
        let answer = wait(run_read(&mut view, &self.context(), read, page))?;
        Ok((answer, view.asked))
    }

    /// Carries statements out without committing.
    pub(in crate::exec) fn changes(&self, statements: &[Statement]) -> Result<Changes, ExecError> {
        wait(run_write(&mut self.view(), &self.context(), statements))
    }

    /// A change that inserts a node, whatever the rules.
    pub(in crate::exec) fn node(
        &self,
        no: NodeNo,
        values: &[Value],
    ) -> ((narthex_store::Tag, RowNo), Changed) {
        let node = &self.schema.nodes[no.0];
        let key = key_text(&node.key_property().unwrap().kind, &values[node.key]).unwrap();
        let row = node_number(&SALT, &node.slot, &key);
        let after = Some(encode(&node.properties, values).unwrap());
        let change = Changed { kind: RowKind::Node(no), before: None, after, ends: None };
        ((node.tag(), row), change)
    }

    /// A change that inserts an edge, whatever the rules.
    pub(in crate::exec) fn edge(
        &self,
        no: EdgeNo,
        from: (NodeNo, &str),
        to: (NodeNo, &str),
        values: &[Value],
    ) -> ((narthex_store::Tag, RowNo), Changed) {
        let edge = &self.schema.edges[no.0];
        let slot = |no: NodeNo| self.schema.nodes[no.0].slot.as_str();
        let keys: Vec<Value> = edge.key.iter().map(|number| values[*number].clone()).collect();
        let row = edge_number(&SALT, &edge.slot, (slot(from.0), from.1), (slot(to.0), to.1), &keys);
        let ends =
            Some((node_number(&SALT, slot(from.0), from.1), node_number(&SALT, slot(to.0), to.1)));
        let named = |(no, key): (NodeNo, &str)| (slot(no).to_owned(), key.to_owned());
        let body = EdgeBody { from: named(from), to: named(to), values: values.to_vec() };
        let after = Some(body.encode(&edge.properties).unwrap());
        ((edge.tag(), row), Changed { kind: RowKind::Edge(no), before: None, after, ends })
    }
}

/// Runs what never really waits.
pub(in crate::exec) fn wait<T>(future: impl Future<Output = T> + Send) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn commit(number: u64, rows: usize, line: LineNo, seq: u64, kind: CommitKind) -> Commit {
    Commit {
        id: CommitId::of(Digest::of(&number.to_be_bytes())),
        line,
        seq,
        parents: Vec::new(),
        seen: Seen::from([(line, seq)]),
        schema: Digest::of(b"schema"),
        kind,
        actor: Actor::Owner,
        taint: Taint::CLEAN,
        message: String::new(),
        at: Timestamp::from_millis(i64::try_from(number).unwrap()),
        rows: rows as u64,
    }
}

/// People who know each other, work at companies and like both.
pub(in crate::exec) fn schema() -> Schema {
    let words = ["lead", "member", "alumni"].map(str::to_owned).to_vec();
    let named = |index| vec![property("name", Kind::String, false, index)];
    Schema {
        nodes: vec![
            NodeType {
                name: "Person".into(),
                slot: "Person".into(),
                interfaces: vec!["Named".into()],
                properties: vec![
                    property("slug", Kind::String, false, None),
                    property("name", Kind::String, false, Some(1)),
                    property("age", Kind::I32, true, Some(1)),
                    property("bio", Kind::String, true, Some(1)),
                    property("tags", Kind::List(Box::new(Kind::String)), false, Some(1)),
                    property("stage", Kind::Enum(words), false, None),
                    property("at", Kind::Vector(2), true, None),
                ],
                key: 0,
                uniques: vec![vec![1, 5]],
                checks: Vec::new(),
                description: None,
            },
            NodeType {
                name: "Company".into(),
                slot: "Company".into(),
                interfaces: vec!["Named".into()],
                properties: vec![
                    property("slug", Kind::String, false, None),
                    property("name", Kind::String, false, Some(1)),
                    property("worth", Kind::I64, true, None),
                ],
                key: 0,
                uniques: Vec::new(),
                checks: Vec::new(),
                description: None,
            },
        ],
        edges: vec![
            edge_type("Knows", "Person", vec![property("since", Kind::Date, true, None)], None),
            edge_type("WorksAt", "Company", Vec::new(), Some(Card { min: 0, max: Some(1) })),
            edge_type("Likes", "Named", vec![property("much", Kind::I32, true, None)], None),
        ],
        interfaces: vec![Interface {
            name: "Named".into(),
            properties: named(Some(1)),
            description: None,
        }],
        ..Schema::default()
    }
}

fn edge_type(name: &str, to: &str, properties: Vec<Property>, card: Option<Card>) -> EdgeType {
    EdgeType {
        name: name.into(),
        slot: name.into(),
        from: "Person".into(),
        to: to.into(),
        properties,
        key: Vec::new(),
        uniques: Vec::new(),
        checks: Vec::new(),
        card,
        description: None,
    }
}

fn property(name: &str, kind: Kind, nullable: bool, index: Option<u32>) -> Property {
    Property {
        name: name.into(),
        slot: name.into(),
        kind,
        nullable,
        index,
        lapsed: 0,
        range: None,
        embed: None,
        description: None,
    }
}
