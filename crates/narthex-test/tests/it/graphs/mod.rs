//! Graphs in a real house: the engine over its store, each change with its record in one transaction.

mod hammer;
mod histories;
mod kinds;
mod twelve;
mod work;

use std::sync::Arc;

use anyhow::Context as _;
use narthex_core::{
    Actor, BranchName, CallId, GraphId, Phase, RecordDraft, Slug, Taint, Transport,
};
use narthex_graph::engine::{
    Ask, Done, Load, LoadMode, Maker, MergeAsk, Mutation, NewBranch, Prepared, SchemaChange,
};
use narthex_graph::exec::{Limits, Page};
use narthex_graph::merge::Asked;
use narthex_graph::{Engine, GraphError};
use narthex_store::{At, Effect, GraphInfo, Store, SystemClock, UnitOfWork, fresh_uuid};
use narthex_test::{HouseOptions, TestHouse};
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

const SCHEMA: &str = r"
node Person {
    slug: String @key
    name: String @index
    seen: I64
}
edge Knows: Person -> Person { since: Date? }
";

struct Net {
    store: Arc<dyn Store>,
    engine: Engine,
    graph: GraphInfo,
    limits: Limits,
}

impl Net {
    async fn open(house: &TestHouse) -> anyhow::Result<Self> {
        Self::over(house.store()).await
    }

    async fn over(store: Arc<dyn Store>) -> anyhow::Result<Self> {
        let engine = Engine::new(Arc::clone(&store) as _, Arc::new(SystemClock));
        let slug: Slug = "people".parse()?;
        let mut graph = store.graph(&slug).await?;
        if graph.is_none() {
            let space = store.spaces().await?.first().context("a space")?.id;
            let id = GraphId::from_uuid(fresh_uuid());
            let founded = engine.found(slug.clone(), space, id, [3; 16], &owner());
            commit(store.as_ref(), founded).await?;
            graph = store.graph(&slug).await?;
        }
        let graph = graph.context("the graph")?;
        Ok(Self { store, engine, graph, limits: Limits::default() })
    }

    async fn schema(&self, source: &str) -> Result<Done, GraphError> {
        let ask = SchemaChange {
            source,
            branch: &BranchName::main(),
            expected: None,
            allow_data_loss: false,
            message: "",
            limits: &self.limits,
        };
        let prepared = self.engine.apply_schema(&self.graph, &ask, &owner()).await?;
        commit(self.store.as_ref(), prepared).await
    }

    async fn mutate(&self, on: &str, source: &str) -> Result<Done, GraphError> {
        let (branch, params) = (on.parse()?, Map::new());
        let ask = Mutation {
            source,
            name: None,
            params: &params,
            branch: &branch,
            expected: None,
            message: "",
            limits: &self.limits,
        };
        let prepared = self.engine.mutate(&self.graph, &ask, &owner()).await?;
        commit(self.store.as_ref(), prepared).await
    }

    async fn load(&self, on: &str, data: &str) -> Result<Done, GraphError> {
        let branch = on.parse()?;
        let ask = Load {
            data: data.as_bytes(),
            branch: &branch,
            from: None,
            mode: LoadMode::Merge,
            expected: None,
            message: "",
            limits: &self.limits,
        };
        commit(self.store.as_ref(), self.engine.load(&self.graph, &ask, &owner()).await?).await
    }

    async fn fork(&self, name: &str, from: &str) -> Result<Done, GraphError> {
        let (name, from) = (name.parse()?, At::Branch(from.parse()?));
        let new = NewBranch { name, from, protected: false };
        let prepared = self.engine.create_branch(&self.graph, &new, &owner()).await?;
        commit(self.store.as_ref(), prepared).await
    }

    async fn merge(&self, from: &str, into: &str) -> Result<Done, GraphError> {
        self.merge_with(from, into, &[]).await
    }

    async fn merge_with(
        &self,
        from: &str,
        into: &str,
        resolutions: &[Asked],
    ) -> Result<Done, GraphError> {
        let (from, into) = (from.parse()?, into.parse()?);
        let ask = MergeAsk {
            from: &from,
            into: &into,
            expected: None,
            resolutions,
            message: "",
            allow_data_loss: false,
            limits: &self.limits,
        };
        commit(self.store.as_ref(), self.engine.merge(&self.graph, &ask, &owner()).await?).await
    }

    async fn ask(&self, on: &str, source: &str) -> Result<Value, GraphError> {
        let params = Map::new();
        let ask = Ask {
            source,
            name: None,
            params: &params,
            at: At::Branch(on.parse()?),
            page: Page::default(),
            limits: &self.limits,
        };
        Ok(self.engine.query(&self.graph, &ask).await?.0.to_json())
    }
}

fn owner() -> Maker {
    Maker { actor: Actor::Owner, agent: None, taint: Taint::CLEAN }
}

async fn commit(store: &dyn Store, prepared: Prepared) -> Result<Done, GraphError> {
    let Prepared { write, done, hold } = prepared;
    if let Some(write) = write {
        let call = CallId::from_uuid(fresh_uuid());
        let record =
            RecordDraft::new(Phase::Owner, call, Actor::Owner, Transport::Local, "graph.test");
        store.commit(UnitOfWork::effect(Effect::Graph(Box::new(write)), record)).await?;
    }
    drop(hold);
    Ok(done)
}

fn person(n: usize) -> String {
    format!("insert Person {{ slug: \"p{n}\", name: \"Person {n}\", seen: 0 }}")
}

#[tokio::test]
async fn a_graph_is_worked_on_and_outlives_the_house() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let net = Net::open(&house).await?;
    net.schema(SCHEMA).await?;
    let nodes = (0..400).map(|n| {
        format!("{{\"type\":\"Person\",\"data\":{{\"slug\":\"p{n}\",\"name\":\"Person {n}\",\"seen\":\"{n}\"}}}}\n")
    });
    let edges = (0..399)
        .map(|n| format!("{{\"edge\":\"Knows\",\"from\":\"p{n}\",\"to\":\"p{}\"}}\n", n + 1));
    let data: String = nodes.chain(edges).collect();
    let loaded = net.load("main", &data).await?;
    assert_eq!((loaded.counts.nodes_inserted, loaded.counts.edges_inserted), (400, 399));
    assert!(!net.load("main", &data).await?.committed);
    net.fork("work", "main").await?;
    net.mutate("work", "update Person set { seen: 9007199254740993 } where slug = \"p1\"").await?;
    net.mutate("work", "delete Person where slug = \"p399\"").await?;
    net.mutate("main", "update Person set { name: \"First\" } where slug = \"p0\"").await?;
    net.merge("work", "main").await?;
    let two = "match { $p: Person { slug: \"p0\" }  $p knows $q  $q knows $r } \
               return { $p.name as n, $q.seen as s, $r.slug as r }";
    let found = net.ask("main", two).await?;
    assert_eq!(found, json!([{"n": "First", "s": "9007199254740993", "r": "p2"}]));
    let words = "match { $p: Person  search($p.name, \"person 398\") } return { $p.slug }";
    assert_eq!(net.ask("main", words).await?, json!([{"p.slug": "p398"}]));
    assert_eq!(net.ask("work", words).await?, json!([{"p.slug": "p398"}]));
    let count = "match { $p: Person  $p knows $q } return { count() as n }";
    assert_eq!(net.ask("main", count).await?, json!([{"n": "398"}]));
    let before = net.engine.log(&net.graph, &BranchName::main(), None, 100).await?;
    house.verify().await?;
    drop(net);
    let folder = house.stop().await?.context("a folder")?;
    let house = TestHouse::open(&folder.path().join("house"), HouseOptions::default()).await?;
    let net = Net::open(&house).await?;
    assert_eq!(net.ask("main", two).await?, found);
    assert_eq!(net.engine.log(&net.graph, &BranchName::main(), None, 100).await?, before);
    Ok(())
}

/// Writers on one branch wait for each other: every change is there, none is lost or refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_writers_on_one_branch() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let net = Arc::new(Net::open(&house).await?);
    net.schema(SCHEMA).await?;
    net.mutate("main", &person(0)).await?;
    let mut writers = JoinSet::new();
    for writer in 1..=8 {
        let net = Arc::clone(&net);
        writers.spawn(async move {
            for n in 0..10 {
                net.mutate("main", &person(writer * 100 + n)).await?;
                net.mutate("main", "update Person set { seen: seen + 1 } where slug = \"p0\"")
                    .await?;
            }
            Ok::<_, GraphError>(())
        });
    }
    while let Some(done) = writers.join_next().await {
        done??;
    }
    let seen = net.ask("main", "match { $p: Person { slug: \"p0\" } } return { $p.seen as n }");
    assert_eq!(seen.await?, json!([{"n": "80"}]));
    let all = net.ask("main", "match { $p: Person } return { count() as n }").await?;
    assert_eq!(all, json!([{"n": "81"}]));
    Ok(())
}
