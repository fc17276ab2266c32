//! A small graph with several kinds of everything.

use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Waker};

use narthex_core::{Actor, BranchName, GraphId, SpaceId, Taint, Timestamp};
use narthex_store::{At, GraphInfo, ManualClock};
use serde_json::Map;

use crate::engine::{Ask, Load, LoadMode, Maker, Mutation, SchemaChange};
use crate::exec::{Answer, Limits, Page};
use crate::schema::Schema;
use crate::testing::MemoryGraphs;
use crate::{Engine, GraphError};

/// Several kinds of everything.
pub(super) const SCHEMA: &str = "
interface Named { name: String @index }
interface Dated { at: DateTime }
interface Nobody { x: Bool }
node Person implements Named {
    slug: String @key   name: String @index   age: I32? @range(0..150)   bio: String? @index
    tags: [String]   stage: enum(lead, member, alumni)   embedding: Vector(3)?   big: U64?
    score: F32?   born: Date?   ok: Bool?   page: Blob?   email: String? @unique
    @check(age > 17 or stage != \"lead\")
}
node Company implements Named, Dated { slug: String @key   size: I64? }
node Event { no: I64 @key   at: DateTime   when: [DateTime]? }
edge Knows: Person -> Person { since: Date?   weight: F64? }
edge WorksAt: Person -> Company @card(0..1)
edge Likes: Person -> Named
edge Tagged: Named -> Event { word: String @key }
edge Empty: Person -> Nobody
";

const ROWS: &str = r#"
{"type":"Person","data":{"slug":"ada","name":"Ada Lovelace","age":36,"bio":"counts and counts","tags":["a","b"],"stage":"lead","embedding":[1,0,0.5],"big":"18446744073709551615","score":0.1,"born":"1815-12-10","ok":true,"page":"https://a.example/x","email":"a@x"}}
{"type":"Person","data":{"slug":"bob","name":"Bob","age":0,"bio":"","tags":[],"stage":"member","embedding":[0,1,0]}}
{"type":"Person","data":{"slug":"eve","name":"Ève","tags":["b"],"stage":"alumni"}}
{"type":"Company","data":{"slug":"acme","name":"Acme","at":"2026-01-31T12:00:00Z","size":"-9223372036854775808"}}
{"type":"Event","data":{"no":"-1","at":"2026-01-31T12:00:00.5Z","when":["2026-01-31T12:00:00Z"]}}
{"edge":"Knows","from":"ada","to":"bob","data":{"since":"2026-01-31","weight":-0.0}}
{"edge":"Knows","from":"bob","to":"ada"}
{"edge":"Knows","from":"bob","to":"eve"}
{"edge":"Knows","from":"eve","to":"eve"}
{"edge":"WorksAt","from":"ada","to":"acme"}
{"edge":"Likes","from":"bob","to":{"type":"Company","key":"acme"}}
{"edge":"Tagged","from":{"type":"Person","key":"ada"},"to":"-1","data":{"word":"w"}}
"#;

/// The schema of it.
pub(super) static PEOPLE: LazyLock<Schema> =
    LazyLock::new(|| Schema::read(SCHEMA, None).unwrap_or_else(|found| panic!("{found:#?}")));

/// It.
pub(super) static HOUSE: LazyLock<House> = LazyLock::new(House::new);

#[derive(Debug)]
pub(super) struct House {
    engine: Engine,
    graph: GraphInfo,
}

impl House {
    fn new() -> Self {
        let store = Arc::new(MemoryGraphs::default());
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let engine = Engine::new(Arc::clone(&store) as _, clock as _);
        let space: SpaceId = "00000000-0000-7000-8000-000000000002".parse().unwrap();
        let id: GraphId = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        let founded = engine.found("people".parse().unwrap(), space, id, [7; 16], &owner());
        store.apply(founded.write.unwrap()).unwrap();
        let graph = now(engine.graphs().graph(&"people".parse().unwrap())).unwrap().unwrap();
        let (branch, limits) = (BranchName::main(), limits());
        let ask = SchemaChange {
            source: SCHEMA,
            branch: &branch,
            expected: None,
            allow_data_loss: false,
            message: "",
            limits: &limits,
        };
        let made = now(engine.apply_schema(&graph, &ask, &owner())).unwrap().write;
        store.apply(made.unwrap()).unwrap();
        let ask = Load {
            data: ROWS.as_bytes(),
            branch: &branch,
            from: None,
            mode: LoadMode::Append,
            expected: None,
            message: "",
            limits: &limits,
        };
        let made = now(engine.load(&graph, &ask, &owner())).unwrap().write;
        store.apply(made.unwrap()).unwrap();
        Self { engine, graph }
    }

    /// What a query finds.
    pub(super) fn ask(&self, source: &str, page: Page) -> Result<Answer, GraphError> {
        let (params, limits) = (Map::new(), limits());
        let at = At::Branch(BranchName::main());
        let ask = Ask { source, name: None, params: &params, at, page, limits: &limits };
        Ok(now(self.engine.query(&self.graph, &ask))?.0)
    }

    /// Whether a change could be made. It is not.
    pub(super) fn change(&self, source: &str) -> Result<(), GraphError> {
        let (params, limits, branch) = (Map::new(), limits(), BranchName::main());
        let ask = Mutation {
            source,
            name: None,
            params: &params,
            branch: &branch,
            expected: None,
            message: "",
            limits: &limits,
        };
        now(self.engine.mutate(&self.graph, &ask, &owner())).map(drop)
    }
}

/// So little that nothing takes long.
fn limits() -> Limits {
    Limits { bindings: 2_000, scanned: 20_000, answer_rows: 200, ..Limits::default() }
}

fn owner() -> Maker {
    Maker { actor: Actor::Owner, agent: None, taint: Taint::CLEAN }
}

/// Memory never waits for anything; long work lets others go first now and then.
fn now<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    for _ in 0..1_000_000 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
    }
    panic!("memory waits")
}
