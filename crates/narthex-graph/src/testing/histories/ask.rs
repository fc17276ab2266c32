//! What a history asks of an engine, in short.

use std::collections::BTreeMap;

use narthex_core::{BranchName, CommitId};
use narthex_store::{At, GraphInfo};
use serde_json::{Map, Value as Json};

use super::stage::owner;
use super::{Key, Row, Rows, Stage};
use crate::GraphError;
use crate::engine::{
    Ask, Done, Load, LoadMode, MergeAsk, Mutation, NewBranch, Prepared, Revert, SchemaChange,
    Unmerged,
};
use crate::exec::{Limits, Page};
use crate::history::diff;
use crate::merge::{Asked, Body, RowId};
use crate::rows::{edge_number, node_number};
use crate::schema::tag;
use crate::value::Value;

/// Rows that are not the same in two places, as each has them.
pub(super) type Unlike = BTreeMap<RowId, (Option<Body>, Option<Body>)>;

/// A graph on a stage.
pub(super) struct Hand<'a, S> {
    pub(super) stage: &'a mut S,
    pub(super) graph: GraphInfo,
    pub(super) limits: Limits,
    /// Where the branch that is changed must stand.
    pub(super) expected: Option<CommitId>,
}

impl<S: Stage> Hand<'_, S> {
    pub(super) async fn made(&self, prepared: Prepared) -> Result<Done, GraphError> {
        let Prepared { write, done, hold } = prepared;
        if let Some(write) = write {
            self.stage.commit(write).await?;
        }
        drop(hold);
        Ok(done)
    }

    pub(super) async fn mutate(&self, branch: usize, source: &str) -> Result<Done, GraphError> {
        let (params, branch) = (Map::new(), name(branch));
        let ask = Mutation {
            source,
            name: None,
            params: &params,
            branch: &branch,
            expected: self.expected,
            message: "",
            limits: &self.limits,
        };
        self.made(self.stage.engine().mutate(&self.graph, &ask, &owner()).await?).await
    }

    pub(super) async fn load(
        &self,
        branch: usize,
        from: Option<usize>,
        data: &str,
        mode: LoadMode,
    ) -> Result<Done, GraphError> {
        let (branch, from) = (name(branch), from.map(|from| At::Branch(name(from))));
        let ask = Load {
            data: data.as_bytes(),
            branch: &branch,
            from: from.as_ref(),
            mode,
            expected: self.expected,
            message: "",
            limits: &self.limits,
        };
        self.made(self.stage.engine().load(&self.graph, &ask, &owner()).await?).await
    }

    pub(super) async fn schema(
        &self,
        branch: usize,
        source: &str,
        allow_data_loss: bool,
    ) -> Result<Done, GraphError> {
        let ask = SchemaChange {
            source,
            branch: &name(branch),
            expected: self.expected,
            allow_data_loss,
            message: "",
            limits: &self.limits,
        };
        self.made(self.stage.engine().apply_schema(&self.graph, &ask, &owner()).await?).await
    }

    pub(super) async fn fork(&self, new: usize, from: At) -> Result<Done, GraphError> {
        let new = NewBranch { name: name(new), from, protected: false };
        self.made(self.stage.engine().create_branch(&self.graph, &new, &owner()).await?).await
    }

    pub(super) async fn delete(&self, branch: usize) -> Result<Done, GraphError> {
        let gone =
            self.stage.engine().delete_branch(&self.graph, &name(branch), Unmerged::Lost).await?;
        self.made(gone).await
    }

    pub(super) async fn merge(
        &self,
        (into, from): (usize, usize),
        resolutions: &[Asked],
        allow_data_loss: bool,
    ) -> Result<Done, GraphError> {
        let ask = MergeAsk {
            from: &name(from),
            into: &name(into),
            expected: self.expected,
            resolutions,
            message: "",
            allow_data_loss,
            limits: &self.limits,
        };
        self.made(self.stage.engine().merge(&self.graph, &ask, &owner()).await?).await
    }

    pub(super) async fn revert(
        &self,
        branch: usize,
        commit: CommitId,
        resolutions: &[Asked],
    ) -> Result<Done, GraphError> {
        let ask = Revert {
            commit,
            branch: &name(branch),
            expected: self.expected,
            resolutions,
            limits: &self.limits,
        };
        self.made(self.stage.engine().revert(&self.graph, &ask, &owner()).await?).await
    }

    /// What a query finds: the values of its rows.
    pub(super) async fn ask(&self, branch: usize, source: &str) -> Vec<Vec<String>> {
        let params = Map::new();
        let (at, page) = (At::Branch(name(branch)), Page::default());
        let ask = Ask { source, name: None, params: &params, at, page, limits: &self.limits };
        let answer = self.stage.engine().query(&self.graph, &ask).await;
        let (answer, _) = answer.unwrap_or_else(|error| panic!("{source}: {error}"));
        let text = |json: &Json| json.as_str().unwrap_or_default().to_owned();
        let rows = answer.to_json();
        let row = |row: &Json| row.as_object().expect("a row").values().map(text).collect();
        rows.as_array().expect("rows").iter().map(row).collect()
    }

    /// All rows of these types somewhere, as they are kept.
    pub(super) async fn rows(&self, at: &At, types: &[String]) -> Result<Rows, GraphError> {
        let graphs = self.stage.engine().graphs();
        let Some(mut view) = graphs.view(self.graph.id, at).await? else {
            return Err(GraphError::Damaged(format!("nothing is at {at:?}")));
        };
        let mut rows = Rows::new();
        for slot in types {
            let what = if is_edge(slot) { "edge" } else { "node" };
            let found = view.scan(tag(what, &[slot]), None, 1_000).await?;
            let names: BTreeMap<_, Key> =
                keys(slot).map(|key| (self.number(slot, key), key)).collect();
            for row in found {
                let body: Body = serde_json::from_str(row.body.as_deref().expect("a body"))
                    .expect("a body is JSON");
                rows.insert((slot.clone(), names[&row.row]), body);
            }
        }
        Ok(rows)
    }

    /// What differs between two commits, page by page; and as many rows are told by name.
    pub(super) async fn diff(&self, from: CommitId, to: CommitId) -> Unlike {
        let engine = self.stage.engine();
        let (from, to) = (At::Commit(from), At::Commit(to));
        let mut sides = Vec::new();
        for at in [&from, &to] {
            let view = engine.graphs().view(self.graph.id, at).await.expect("reads");
            sides.push(view.expect("a commit"));
        }
        let [one, other] = &mut sides[..] else { panic!("two sides") };
        let (mut unlike, mut after) = (Unlike::new(), None);
        loop {
            let page = diff(one.as_mut(), other.as_mut(), after, 5).await.expect("reads");
            let rows = page.rows.into_iter();
            unlike.extend(rows.map(|of| ((of.tag, of.row), (of.before, of.after))));
            let Some(next) = page.next else { break };
            after = Some(next);
        }
        let told = engine.diff(&self.graph, &from, &to, None, 1_000).await.expect("reads");
        assert_eq!(told.rows.len(), unlike.len(), "{told:?}");
        unlike
    }

    /// How a store calls a row.
    pub(super) fn row_id(&self, slot: &str, key: Key) -> RowId {
        let what = if is_edge(slot) { "edge" } else { "node" };
        (tag(what, &[slot]), self.number(slot, key))
    }

    fn number(&self, slot: &str, key: Key) -> narthex_store::RowNo {
        let person = |no: u8| format!("p{no}");
        match key {
            Key::Node(no) => node_number(&self.graph.salt, slot, &person(no)),
            Key::Edge(from, to) | Key::Call(from, to, _) => {
                let keys = match key {
                    Key::Call(_, _, no) => vec![Value::Int(no.into())],
                    Key::Node(_) | Key::Edge(..) => Vec::new(),
                };
                let (from, to) = (person(from), person(to));
                edge_number(&self.graph.salt, slot, ("Person", &from), ("Person", &to), &keys)
            }
        }
    }
}

fn is_edge(slot: &str) -> bool {
    ["Knows", "Calls", "Likes"].contains(&slot)
}

/// What rows of a type there can be.
fn keys(slot: &str) -> impl Iterator<Item = Key> {
    let people = || 1..=super::PEOPLE;
    let pairs = people().flat_map(move |one| people().map(move |other| (one, other)));
    let keys: Vec<Key> = match slot {
        "Calls" => pairs.flat_map(|(a, b)| [Key::Call(a, b, 0), Key::Call(a, b, 1)]).collect(),
        slot if is_edge(slot) => pairs.map(|(a, b)| Key::Edge(a, b)).collect(),
        _ => people().map(Key::Node).collect(),
    };
    keys.into_iter()
}

/// What a branch is called.
pub(super) fn name(branch: usize) -> BranchName {
    match branch {
        0 => BranchName::main(),
        other => format!("b{other}").parse().expect("a name"),
    }
}

/// A person's row.
pub(super) fn person(no: u8) -> Row {
    ("Person".to_owned(), Key::Node(no))
}

/// An edge's row.
pub(super) fn knows(one: u8, other: u8) -> Row {
    ("Knows".to_owned(), Key::Edge(one, other))
}
