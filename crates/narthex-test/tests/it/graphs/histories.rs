//! Random histories over the database of a house, closed and opened again in between: the same
//! acts, the same model, as over graphs in memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use narthex_core::{
    Actor, CallId, Phase, RecordDraft, Space, SpaceId, Timestamp, Title, Transport,
};
use narthex_graph::Engine;
use narthex_graph::testing::histories::{
    ACT_BYTES, Act, Played, Stage, cases, play, seed_bytes, seeds,
};
use narthex_server::DataDir;
use narthex_store::{
    Clock, Commits as _, Effect, GraphWrite, ManualClock, StoreError, UnitOfWork, fresh_uuid,
};
use narthex_store_sqlite::{SqliteConfig, SqliteStore};
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use tempfile::TempDir;

/// The database of a house, and nothing else of it.
pub(super) struct Rooms {
    folder: TempDir,
    at: PathBuf,
    moves: usize,
    clock: Arc<ManualClock>,
    store: Arc<SqliteStore>,
    engine: Engine,
    space: SpaceId,
}

impl Rooms {
    pub(super) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("0");
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let store = open(&at, &clock).await;
        let space = Space {
            id: SpaceId::from_uuid(fresh_uuid()),
            slug: "a".parse().unwrap(),
            name: Title::parse("A").unwrap(),
            ceiling: None,
            created: Timestamp::from_millis(1),
        };
        let id = space.id;
        store.commit(unit(Effect::AddSpace(space))).await.unwrap();
        let engine = engine(&store, &clock);
        Self { folder, at, moves: 0, clock, store, engine, space: id }
    }

    pub(super) fn store(&self) -> Arc<SqliteStore> {
        Arc::clone(&self.store)
    }
}

fn engine(store: &Arc<SqliteStore>, clock: &Arc<ManualClock>) -> Engine {
    Engine::new(Arc::clone(store) as _, Arc::clone(clock) as Arc<dyn Clock>)
}

async fn open(at: &Path, clock: &Arc<ManualClock>) -> Arc<SqliteStore> {
    let dir = DataDir::at(at);
    dir.create().unwrap();
    let keys = dir.keys().unwrap();
    let clock = Arc::clone(clock) as Arc<dyn Clock>;
    let config = SqliteConfig::new(dir.database(), dir.head_file(), keys.ledger, keys.seal, clock);
    Arc::new(SqliteStore::open(config).await.unwrap())
}

fn unit(effect: Effect) -> UnitOfWork {
    let call = CallId::from_uuid(fresh_uuid());
    let record = RecordDraft::new(Phase::Owner, call, Actor::Owner, Transport::Local, "graph.test");
    UnitOfWork::effect(effect, record)
}

/// What the disk would hold if the process ended now: the files, without closing any.
fn snapshot(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        if entry.file_type().unwrap().is_dir() {
            snapshot(&entry.path(), &to.join(name));
        } else if !name.to_string_lossy().ends_with("-shm") {
            std::fs::copy(entry.path(), to.join(name)).unwrap();
        }
    }
}

#[async_trait]
impl Stage for Rooms {
    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn space(&self) -> SpaceId {
        self.space
    }

    async fn commit(&self, write: GraphWrite) -> Result<(), StoreError> {
        self.store.commit(unit(Effect::Graph(Box::new(write)))).await.map(drop)
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    async fn reopen(&mut self, clean: bool) {
        if !clean {
            self.moves += 1;
            let next = self.folder.path().join(self.moves.to_string());
            snapshot(&self.at, &next);
            self.at = next;
        }
        self.store.close().await.unwrap();
        self.store = open(&self.at, &self.clock).await;
        self.engine = engine(&self.store, &self.clock);
    }
}

#[test]
fn histories_come_out_as_the_model_says() {
    come_out_as_the_model_says(1);
}

/// The other half, to be run beside the first.
#[test]
fn more_histories_come_out_as_the_model_says() {
    come_out_as_the_model_says(2);
}

#[expect(clippy::print_stdout, reason = "what was played, for whoever asks")]
fn come_out_as_the_model_says(part: u64) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // One database for all: each history is a graph of its own. A failure leaves it as it is.
    let rooms = std::cell::RefCell::new(runtime.block_on(Rooms::new()));
    let total = std::cell::Cell::new(Played::default());
    let acts = vec(any::<[u8; ACT_BYTES]>(), 8..LENGTH);
    let seeds = seeds(part);
    let cases = cases(CASES).div_ceil(PARTS * u32::try_from(seeds.len().max(1)).unwrap());
    for seed in &seeds {
        println!("NARTHEX_SEED={seed}");
        let config =
            Config { cases, max_shrink_iters: 500, failure_persistence: None, ..Config::default() };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed_bytes(*seed));
        let ran = TestRunner::new_with_rng(config, rng).run(&acts, |bytes| {
            let mut rooms = rooms.borrow_mut();
            let mut sum = total.get();
            sum += runtime.block_on(play(&mut *rooms, &Act::history(&bytes)));
            total.set(sum);
            Ok(())
        });
        if let Err(TestError::Fail(why, bytes)) = ran {
            let acts: Vec<String> =
                Act::history(&bytes).iter().map(|act| format!("{act:?}")).collect();
            panic!("NARTHEX_SEED={seed}: {why}\n{}\n{bytes:?}", acts.join("\n"));
        }
    }
    println!("{:?}", total.get());
    if !seeds.is_empty() {
        total.get().has_all();
    }
    runtime.block_on(rooms.borrow().store.close()).unwrap();
}

/// Histories, unless `NARTHEX_HISTORIES` says how many.
const CASES: u32 = 160;
const PARTS: u32 = 2;
const LENGTH: usize = 32;
