//! A graph, somebody who works on it, and what comes of it in short.

use std::sync::Arc;

use narthex_core::{Actor, BranchName, CommitId, GraphId, SpaceId, Taint, Timestamp};
use narthex_store::{At, GraphInfo, ManualClock, fresh_uuid};
use serde_json::{Map, Value as Json, json};

use crate::engine::{
    Ask, Done, Engine, GraphError, Load, LoadMode, Maker, MergeAsk, Mutation, NewBranch, Prepared,
    Revert, SchemaChange,
};
use crate::exec::{Limits, Page};
use crate::merge::Asked;
use crate::testing::MemoryGraphs;

pub(super) const SCHEMA: &str = r"
node Person {
    slug: String @key
    name: String @index
    age: I32? @range(0..150)
    email: String? @unique
    big: I64?
}
node Company { slug: String @key  name: String? }
edge Knows: Person -> Person { since: Date? }
edge WorksAt: Person -> Company @card(0..1)
";

pub(super) struct House {
    pub(super) engine: Engine,
    pub(super) store: Arc<MemoryGraphs>,
    pub(super) clock: Arc<ManualClock>,
    pub(super) graph: GraphInfo,
    pub(super) limits: Limits,
}

pub(super) fn owner() -> Maker {
    Maker { actor: Actor::Owner, agent: None, taint: Taint::CLEAN }
}

pub(super) fn branch(name: &str) -> BranchName {
    name.parse().unwrap()
}

impl House {
    pub(super) async fn new() -> Self {
        let store = Arc::new(MemoryGraphs::default());
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let engine = Engine::new(Arc::clone(&store) as _, Arc::clone(&clock) as _);
        let (id, space) = (GraphId::from_uuid(fresh_uuid()), SpaceId::from_uuid(fresh_uuid()));
        let slug: narthex_core::Slug = "people".parse().unwrap();
        let founded = engine.found(slug.clone(), space, id, [7; 16], &owner());
        store.apply(founded.write.unwrap()).unwrap();
        let graph = engine.graphs().graph(&slug).await.unwrap().unwrap();
        let house = Self { engine, store, clock, graph, limits: Limits::default() };
        house.schema("main", SCHEMA, false).await.unwrap();
        house
    }

    /// Makes a change durable.
    pub(super) fn made(&self, prepared: Prepared) -> Result<Done, GraphError> {
        if let Some(write) = prepared.write {
            self.store.apply(write)?;
        }
        self.clock.advance_millis(10);
        Ok(prepared.done)
    }

    pub(super) async fn schema(
        &self,
        on: &str,
        source: &str,
        allow_data_loss: bool,
    ) -> Result<Done, GraphError> {
        let ask = SchemaChange {
            source,
            branch: &branch(on),
            expected: None,
            allow_data_loss,
            message: "",
            limits: &self.limits,
        };
        self.made(self.engine.apply_schema(&self.graph, &ask, &owner()).await?)
    }

    pub(super) async fn mutate(&self, on: &str, source: &str) -> Result<Done, GraphError> {
        self.mutate_with(on, source, json!({}), None).await
    }

    pub(super) async fn mutate_with(
        &self,
        on: &str,
        source: &str,
        params: Json,
        expected: Option<CommitId>,
    ) -> Result<Done, GraphError> {
        let params = object(&params);
        let ask = Mutation {
            source,
            name: None,
            params: &params,
            branch: &branch(on),
            expected,
            message: "",
            limits: &self.limits,
        };
        self.made(self.engine.mutate(&self.graph, &ask, &owner()).await?)
    }

    pub(super) async fn load(
        &self,
        on: &str,
        from: Option<&str>,
        mode: LoadMode,
        data: &str,
    ) -> Result<Done, GraphError> {
        let from = from.map(|name| At::Branch(branch(name)));
        let ask = Load {
            data: data.as_bytes(),
            branch: &branch(on),
            from: from.as_ref(),
            mode,
            expected: None,
            message: "",
            limits: &self.limits,
        };
        self.made(self.engine.load(&self.graph, &ask, &owner()).await?)
    }

    pub(super) async fn fork(&self, name: &str, from: &str) -> Result<Done, GraphError> {
        let (name, from) = (branch(name), At::Branch(branch(from)));
        let new = NewBranch { name, from, protected: false };
        self.made(self.engine.create_branch(&self.graph, &new, &owner()).await?)
    }

    pub(super) async fn merge(&self, from: &str, into: &str) -> Result<Done, GraphError> {
        self.merge_with(from, into, &[]).await
    }

    pub(super) async fn merge_with(
        &self,
        from: &str,
        into: &str,
        resolutions: &[Asked],
    ) -> Result<Done, GraphError> {
        self.merge_as((from, into), resolutions, false).await
    }

    pub(super) async fn merge_as(
        &self,
        (from, into): (&str, &str),
        resolutions: &[Asked],
        allow_data_loss: bool,
    ) -> Result<Done, GraphError> {
        let ask = MergeAsk {
            from: &branch(from),
            into: &branch(into),
            expected: None,
            resolutions,
            message: "",
            allow_data_loss,
            limits: &self.limits,
        };
        self.made(self.engine.merge(&self.graph, &ask, &owner()).await?)
    }

    pub(super) async fn revert(
        &self,
        on: &str,
        commit: CommitId,
        resolutions: &[Asked],
    ) -> Result<Done, GraphError> {
        let ask = Revert {
            commit,
            branch: &branch(on),
            expected: None,
            resolutions,
            limits: &self.limits,
        };
        self.made(self.engine.revert(&self.graph, &ask, &owner()).await?)
    }

    pub(super) async fn ask_at(
        &self,
        at: At,
        source: &str,
        params: Json,
    ) -> Result<Json, GraphError> {
        let params = object(&params);
        let (page, limits) = (Page::default(), &self.limits);
        let ask = Ask { source, name: None, params: &params, at, page, limits };
        Ok(self.engine.query(&self.graph, &ask).await?.0.to_json())
    }

    pub(super) async fn ask(&self, on: &str, source: &str) -> Json {
        self.ask_at(At::Branch(branch(on)), source, json!({})).await.unwrap()
    }

    /// `slug age`, of everyone.
    pub(super) async fn people(&self, on: &str) -> String {
        let source = "match { $p: Person } return { $p.slug as s, $p.age as a } order { s }";
        line(&self.ask(on, source).await)
    }

    /// `from to`, of all who know each other.
    pub(super) async fn knows(&self, on: &str) -> String {
        let source = "match { $p: Person  $p knows $q } return { $p.slug as a, $q.slug as b } order { a, b }";
        line(&self.ask(on, source).await)
    }
}

/// Rows in a line: values parted by spaces, rows by commas.
pub(super) fn line(rows: &Json) -> String {
    let cell = |cell: &Json| match cell {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    let row =
        |row: &Json| row.as_object().unwrap().values().map(cell).collect::<Vec<_>>().join(" ");
    rows.as_array().unwrap().iter().map(row).collect::<Vec<_>>().join(", ")
}

pub(super) fn object(json: &Json) -> Map<String, Json> {
    json.as_object().cloned().unwrap()
}

pub(super) fn add(slug: &str, age: u32) -> String {
    format!("insert Person {{ slug: \"{slug}\", name: \"{slug}\", age: {age} }}")
}

pub(super) fn grow(slug: &str, age: u32) -> String {
    format!("update Person set {{ age: {age} }} where slug = \"{slug}\"")
}

pub(super) fn link(a: &str, b: &str) -> String {
    format!("insert Knows {{ from: \"{a}\", to: \"{b}\" }}")
}

pub(super) fn unlink(a: &str, b: &str) -> String {
    format!("delete Knows where from = \"{a}\" and to = \"{b}\"")
}
