//! Ours: the engine over the store, each change with its record.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use narthex_core::{
    Actor, BranchName, CallId, GraphId, Phase, RecordDraft, Slug, Space, SpaceId, Taint, Timestamp,
    Title, Transport,
};
use narthex_graph::Engine;
use narthex_graph::engine::{
    Ask, LoadAsk, LoadMode, Maker, MergeAsk, Mutation, NewBranch, Prepared, SchemaChange,
};
use narthex_graph::exec::{Limits, Page};
use narthex_store::chain::{HeadKey, SealKey};
use narthex_store::{
    At, Commits as _, Effect, GraphInfo, Graphs as _, SystemClock, UnitOfWork, fresh_uuid,
};
use narthex_store_sqlite::{SqliteConfig, SqliteStore};
use serde_json::{Map, Value, json};

use super::Fallible;
use super::data::{self, SCHEMA};

/// A house that graphs are in.
pub(crate) struct House {
    dir: PathBuf,
    store: Arc<SqliteStore>,
    space: SpaceId,
}

/// One that is closed.
pub(crate) struct Shut(PathBuf, SpaceId);

impl Shut {
    pub(crate) async fn open(self) -> Fallible<House> {
        Ok(House { store: store(&self.0).await?, dir: self.0, space: self.1 })
    }
}

/// The store of a house. The tables beside ours are written by another hand, which is looked for
/// only where it is not expected.
async fn store(dir: &Path) -> Fallible<Arc<SqliteStore>> {
    let (head, seal) = (HeadKey::new([42; 32]), SealKey::from_seed(&[43; 32]));
    let head_file = dir.join("house.head");
    let mut config = SqliteConfig::new(database(dir), head_file, head, seal, Arc::new(SystemClock));
    config.other_hands = Duration::MAX;
    Ok(Arc::new(SqliteStore::open(config).await?))
}

fn database(dir: &Path) -> PathBuf {
    dir.join("house.db")
}

impl House {
    pub(crate) async fn open(dir: &Path) -> Fallible<Self> {
        std::fs::create_dir_all(dir)?;
        let store = store(dir).await?;
        let space = Space {
            id: SpaceId::from_uuid(fresh_uuid()),
            slug: "bench".parse()?,
            name: Title::parse("Bench")?,
            ceiling: None,
            created: Timestamp::from_millis(1),
        };
        let id = space.id;
        store.commit(UnitOfWork::effect(Effect::AddSpace(space), record())).await?;
        Ok(Self { dir: dir.to_owned(), store, space: id })
    }

    pub(crate) async fn graph(&self, slug: &str) -> Fallible<Ours> {
        let engine = Engine::new(Arc::clone(&self.store) as _, Arc::new(SystemClock));
        let slug: Slug = slug.parse()?;
        let id = GraphId::from_uuid(fresh_uuid());
        let founded = engine.found(slug.clone(), self.space, id, [7; 16], &owner());
        commit(&self.store, founded).await?;
        let graph = self.store.graph(&slug).await?.ok_or("no graph")?;
        let limits = Limits { answer_rows: 100_000, ..Limits::default() };
        let ours = Ours { store: Arc::clone(&self.store), engine, graph, limits };
        let main = BranchName::main();
        let ask = SchemaChange {
            source: SCHEMA,
            branch: &main,
            expected: None,
            allow_data_loss: false,
            message: "",
            limits: &ours.limits,
        };
        let prepared = ours.engine.apply_schema(&ours.graph, &ask, &owner()).await?;
        commit(&self.store, prepared).await?;
        Ok(ours)
    }

    /// The file that everything is in.
    pub(crate) fn database(&self) -> PathBuf {
        database(&self.dir)
    }

    /// The first answer of a house that was just opened.
    pub(crate) async fn first(&self, slug: &str, n: u64) -> Fallible<u64> {
        let slug: Slug = slug.parse()?;
        let engine = Engine::new(Arc::clone(&self.store) as _, Arc::new(SystemClock));
        let graph = self.store.graph(&slug).await?.ok_or("no graph")?;
        let params = json!({"slug": format!("p{n}")});
        count(&engine, &graph, &Limits::default(), POINT, &params).await
    }

    pub(crate) async fn close(self) -> Fallible<Shut> {
        self.store.close().await?;
        Ok(Shut(self.dir, self.space))
    }
}

/// A graph.
pub(crate) struct Ours {
    store: Arc<SqliteStore>,
    engine: Engine,
    graph: GraphInfo,
    limits: Limits,
}

impl Ours {
    /// How long reading, checking and writing took.
    pub(crate) async fn load(&self, file: &Path) -> Fallible<[Duration; 3]> {
        let start = Instant::now();
        let ask = self.load_ask(BranchName::main());
        let mut loading = self.engine.begin_load(&self.graph, ask, owner()).await?;
        let mut file = std::fs::File::open(file)?;
        let mut chunk = vec![0; 64 * 1024];
        loop {
            let read = file.read(&mut chunk)?;
            if read == 0 {
                break;
            }
            loading.push(chunk.get(..read).unwrap_or_default()).await?;
        }
        let read = start.elapsed();
        let prepared = loading.finish().await?;
        let checked = start.elapsed();
        commit(&self.store, prepared).await?;
        Ok([read, checked.saturating_sub(read), start.elapsed().saturating_sub(checked)])
    }

    fn load_ask(&self, branch: BranchName) -> LoadAsk {
        let (from, mode, expected) = (None, LoadMode::Merge, None);
        LoadAsk {
            branch,
            from,
            mode,
            expected,
            message: String::new(),
            limits: self.limits.clone(),
        }
    }

    /// How many rows are found.
    pub(crate) async fn look(&self, what: &str, n: u64) -> Fallible<u64> {
        let (source, params) = match what {
            "open" => {
                let engine = Engine::new(Arc::clone(&self.store) as _, Arc::new(SystemClock));
                let graph = self.store.graph(&self.graph.slug).await?.ok_or("no graph")?;
                let params = json!({"slug": format!("p{n}")});
                return count(&engine, &graph, &self.limits, POINT, &params).await;
            }
            "point read" => (POINT, json!({"slug": format!("p{n}")})),
            "one hop" => (ONE_HOP, json!({"slug": format!("p{n}")})),
            "two hops" => (TWO_HOPS, json!({"slug": format!("p{n}")})),
            "full text" => (SEARCH, json!({"q": format!("w{}", n % 997)})),
            "vector nearest" => (NEAREST, json!({"at": data::place(n)})),
            _ => (AGGREGATE, json!({})),
        };
        count(&self.engine, &self.graph, &self.limits, source, &params).await
    }

    pub(crate) async fn fork(&self, name: &str) -> Fallible<()> {
        let (name, from) = (name.parse()?, At::Branch(BranchName::main()));
        let new = NewBranch { name, from, protected: false };
        let prepared = self.engine.create_branch(&self.graph, &new, &owner()).await?;
        commit(&self.store, prepared).await
    }

    pub(crate) async fn grow(&self, n: u64, round: u64) -> Fallible<()> {
        let params = json!({"slug": format!("p{n}"), "age": data::age(n, round)});
        self.mutate(GROW, &params).await
    }

    pub(crate) async fn rewrite(&self, n: u64, round: u64) -> Fallible<()> {
        let params = json!({"slug": format!("p{n}"), "bio": data::bio(n, round % 80 + 1)});
        self.mutate(REWRITE, &params).await
    }

    async fn mutate(&self, source: &str, params: &Value) -> Fallible<()> {
        let main = BranchName::main();
        let ask = Mutation {
            source,
            name: None,
            params: params.as_object().ok_or("no parameters")?,
            branch: &main,
            expected: None,
            message: "",
            limits: &self.limits,
        };
        let prepared = self.engine.mutate(&self.graph, &ask, &owner()).await?;
        commit(&self.store, prepared).await
    }

    /// A branch on which these have changed.
    pub(crate) async fn diverge(&self, name: &str, changed: &[(u64, u64)]) -> Fallible<()> {
        self.fork(name).await?;
        let ask = self.load_ask(name.parse()?);
        let mut loading = self.engine.begin_load(&self.graph, ask, owner()).await?;
        for (n, age) in changed {
            loading.push(data::person(*n, *age).as_bytes()).await?;
        }
        commit(&self.store, loading.finish().await?).await
    }

    pub(crate) async fn merge(&self, from: &str) -> Fallible<()> {
        let (from, into) = (from.parse()?, BranchName::main());
        let ask = MergeAsk {
            from: &from,
            into: &into,
            expected: None,
            resolutions: &[],
            message: "",
            allow_data_loss: false,
            limits: &self.limits,
        };
        commit(&self.store, self.engine.merge(&self.graph, &ask, &owner()).await?).await
    }
}

async fn count(
    engine: &Engine,
    graph: &GraphInfo,
    limits: &Limits,
    source: &str,
    params: &Value,
) -> Fallible<u64> {
    let params: &Map<String, Value> = params.as_object().ok_or("no parameters")?;
    let at = At::Branch(BranchName::main());
    let ask = Ask { source, name: None, params, at, page: Page::default(), limits };
    let (answer, _) = engine.query(graph, &ask).await?;
    Ok(answer.to_json().as_array().map_or(0, Vec::len) as u64)
}

async fn commit(store: &SqliteStore, prepared: Prepared) -> Fallible<()> {
    let Prepared { write, hold, .. } = prepared;
    let write = write.ok_or("nothing changed")?;
    store.commit(UnitOfWork::effect(Effect::Graph(Box::new(write)), record())).await?;
    drop(hold);
    Ok(())
}

fn record() -> RecordDraft {
    let call = CallId::from_uuid(fresh_uuid());
    RecordDraft::new(Phase::Owner, call, Actor::Owner, Transport::Local, "graph.bench")
}

fn owner() -> Maker {
    Maker { actor: Actor::Owner, agent: None, taint: Taint::CLEAN }
}

const POINT: &str = "query point($slug: String) {
    match { $p: Person { slug: $slug } } return { $p.name, $p.age, $p.bio } }";
const ONE_HOP: &str = "query one($slug: String) {
    match { $p: Person { slug: $slug }  $p knows $f } return { $f.slug, $f.name } }";
const TWO_HOPS: &str = "query two($slug: String) {
    match { $p: Person { slug: $slug }  $p knows $f  $f knows $g } return { distinct $g.slug } }";
const AGGREGATE: &str = "query most() {
    match { $p: Person  $p knows $f }
    return { $f.slug, count($p) as n } order { n desc, $f.slug } limit 10 }";
const SEARCH: &str = "query find($q: String) {
    match { $p: Person  search($p.bio, $q) } return { $p.slug, bm25($p.bio, $q) as score }
    order { score desc } limit 10 }";
const NEAREST: &str = "query like($at: Vector(8)) {
    match { $p: Person } return { $p.slug } order { nearest($p.place, $at) } limit 10 }";
const GROW: &str = "query grow($slug: String, $age: I32) {
    update Person set { age: $age } where slug = $slug }";
const REWRITE: &str = "query rewrite($slug: String, $bio: String) {
    update Person set { bio: $bio } where slug = $slug }";
