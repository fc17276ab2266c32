//! A store in a directory of its own.

#![allow(clippy::expect_used, reason = "tests")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use narthex_core::Timestamp;
use narthex_core::{Actor, CallId, Phase, RecordDraft, Transport};
use narthex_store::chain::{HeadKey, SealKey};
use narthex_store::suite::Backend;
use narthex_store::{Commits as _, ManualClock, Store, StoreError, UnitOfWork, fresh_uuid};
use narthex_store_sqlite::{SqliteConfig, SqliteStore};
use narthex_verify::{Failure, Keys, Ledger, Report};
use tokio::sync::Mutex;

pub(crate) struct SqliteBackend {
    dir: tempfile::TempDir,
    clock: Arc<ManualClock>,
    open: Mutex<Option<Arc<SqliteStore>>>,
    /// How often another hand is looked for: with every batch, so that each test is one of false
    /// alarms too.
    other_hands: Duration,
}

impl SqliteBackend {
    pub(crate) fn new() -> Self {
        Self::looking(Duration::ZERO)
    }

    /// One in which what is written from outside stays, to see what else stands against it.
    pub(crate) fn blind() -> Self {
        Self::looking(Duration::from_hours(1))
    }

    pub(crate) fn looking(other_hands: Duration) -> Self {
        Self {
            other_hands,
            dir: tempfile::tempdir().expect("a directory"),
            clock: Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000))),
            open: Mutex::new(None),
        }
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn config(&self) -> SqliteConfig {
        let config = config_in(self.dir(), Arc::clone(&self.clock));
        SqliteConfig { other_hands: self.other_hands, ..config }
    }

    pub(crate) async fn store(&self) -> Result<SqliteStore, StoreError> {
        SqliteStore::open(self.config()).await
    }

    pub(crate) async fn verify(&self) -> Result<Report, Failure> {
        ledger_in(&self.config()).verify(|_| ()).await
    }
}

/// The ledger of a house of tests, as the verifier sees it.
pub(crate) fn ledger_in(config: &SqliteConfig) -> Ledger {
    Ledger {
        database: config.database.clone(),
        head_file: Some(config.head_file.clone()),
        keys: Keys {
            seal: config.seal_key.public().to_string().parse().ok(),
            head: Some(narthex_verify::HeadKey::new([42; 32])),
        },
        anchors: Vec::new(),
    }
}

pub(crate) fn config_in(dir: &Path, clock: Arc<ManualClock>) -> SqliteConfig {
    SqliteConfig::new(dir.join("house.db"), dir.join("house.head"), key(), seal_key(), clock)
}

pub(crate) fn seal_key() -> SealKey {
    SealKey::from_seed(&[43; 32])
}

pub(crate) const fn key() -> HeadKey {
    HeadKey::new([42; 32])
}

#[async_trait]
impl Backend for SqliteBackend {
    async fn open(&self) -> Arc<dyn Store> {
        let store = Arc::new(self.store().await.expect("opens"));
        *self.open.lock().await = Some(Arc::clone(&store));
        store
    }

    async fn reopen(&self) -> Arc<dyn Store> {
        if let Some(store) = self.open.lock().await.take() {
            store.close().await.expect("closes");
        }
        self.open().await
    }

    fn clock(&self) -> Arc<ManualClock> {
        Arc::clone(&self.clock)
    }

    fn head_key(&self) -> HeadKey {
        key()
    }
}

/// Appends some records, each in a commit of its own.
pub(crate) async fn append(store: &SqliteStore, count: usize) {
    for n in 0..count {
        let unit = UnitOfWork::records(vec![record(&format!("tool-{n}"))]);
        store.commit(unit).await.expect("commits");
    }
}

pub(crate) fn record(tool: &str) -> RecordDraft {
    let call = CallId::from_uuid(fresh_uuid());
    RecordDraft::new(Phase::Observed, call, Actor::Owner, Transport::Local, tool)
}
