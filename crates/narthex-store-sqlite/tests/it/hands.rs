//! Another hand on the database while the house is open: noticed within about a second, and nothing
//! that only reads, or copies the log, is taken for one.

#![allow(clippy::expect_used, reason = "tests")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use narthex_store::{
    Commits as _, LedgerReader as _, Soundness as _, Spaces as _, StoreError, UnitOfWork,
};
use narthex_store_sqlite::{SqliteConfig, SqliteStore};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use tokio::task::JoinSet;

use crate::backend::{SqliteBackend, append, ledger_in, record};

const SECOND: Duration = Duration::from_secs(1);

async fn sql(config: &SqliteConfig, sql: &str) {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&config.database);
    let mut conn = options.connect().await.expect("connects");
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut conn).await.expect("runs");
    conn.close().await.expect("closes");
}

async fn told(store: &SqliteStore) -> Result<(), StoreError> {
    store.commit(UnitOfWork::records(vec![record("late")])).await.map(drop)
}

async fn is_stopped(store: &SqliteStore, change: &str) {
    assert!(!store.is_writable() && !store.is_well(), "{change}");
    let error = told(store).await.expect_err(change);
    let said = error.to_string();
    assert!(matches!(error, StoreError::Unavailable(_)), "{said}");
    for word in ["another process", "restart", "narthex doctor"] {
        assert!(said.contains(word), "{change}: {said}");
    }
}

#[tokio::test]
async fn another_hand_is_noticed_within_about_a_second_also_when_nobody_calls() {
    for change in [
        "UPDATE pages SET body = body",
        "CREATE TABLE another (n INTEGER)",
        "INSERT INTO conversations VALUES (randomblob(16), 'x', 1, 'x')",
        "PRAGMA user_version = 7",
    ] {
        let house = SqliteBackend::looking(SECOND);
        let store = house.store().await.expect("opens");
        append(&store, 3).await;
        sql(&house.config(), change).await;
        tokio::time::sleep(Duration::from_millis(2_300)).await;
        let changes = !change.starts_with("UPDATE pages");
        assert_eq!(store.is_writable(), !changes, "{change}: there is no page to change");
        if changes {
            is_stopped(&store, change).await;
        }
        store.close().await.expect("closes");
        // The next start looks at everything, and goes on.
        let store = house.store().await.expect("opens");
        append(&store, 1).await;
        store.close().await.expect("closes");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn another_hand_is_noticed_under_unbroken_load_too() {
    let house = SqliteBackend::looking(SECOND);
    let store = Arc::new(house.store().await.expect("opens"));
    let mut busy = JoinSet::new();
    for _ in 0..8 {
        let store = Arc::clone(&store);
        busy.spawn(async move { while told(&store).await.is_ok() {} });
    }
    tokio::time::sleep(SECOND).await;
    assert!(store.is_well(), "nobody did anything");
    let start = Instant::now();
    sql(&house.config(), "CREATE TABLE another (n INTEGER)").await;
    busy.join_all().await;
    assert!(start.elapsed() < 3 * SECOND, "{:?}", start.elapsed());
    is_stopped(&store, "under load").await;
    store.close().await.expect("closes");
}

/// A writer that gave up waiting for the lock does not take what came before it for its own.
#[tokio::test]
async fn another_hand_that_keeps_the_writer_waiting_is_noticed() {
    let house = SqliteBackend::looking(SECOND);
    let config = SqliteConfig { busy_timeout: Duration::from_millis(50), ..house.config() };
    let store = SqliteStore::open(config.clone()).await.expect("opens");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&config.database);
    let mut conn = options.connect().await.expect("connects");
    let change = "CREATE TABLE another (n INTEGER); BEGIN IMMEDIATE";
    sqlx::raw_sql(change).execute(&mut conn).await.expect("runs");
    assert!(told(&store).await.is_err(), "it is locked");
    conn.close().await.expect("closes");
    tokio::time::sleep(2 * SECOND).await;
    is_stopped(&store, "after a lock").await;
    store.close().await.expect("closes");
}

/// Looked for with every batch, while the log is copied as often as can be, others read, and the
/// verifier walks.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whoever_reads_or_copies_the_log_is_no_other_hand() {
    let house = SqliteBackend::new();
    let config = SqliteConfig { wal_pages: 1, wal_pages_hard: 4, ..house.config() };
    let store = Arc::new(SqliteStore::open(config.clone()).await.expect("opens"));
    let start = Instant::now();
    let mut busy = JoinSet::new();
    for _ in 0..4 {
        let store = Arc::clone(&store);
        busy.spawn(async move {
            while start.elapsed() < 3 * SECOND {
                told(&store).await.expect("commits");
            }
        });
    }
    while start.elapsed() < 3 * SECOND {
        store.spaces().await.expect("reads");
        store.records(1, 10).await.expect("reads");
        assert!(store.damaged_rows().await.expect("reads").is_empty());
        ledger_in(&config).verify(|_| ()).await.expect("whole");
        sql(&config, "SELECT count(*) FROM ledger; PRAGMA wal_checkpoint(PASSIVE)").await;
    }
    busy.join_all().await;
    assert!(store.is_well());
    store.close().await.expect("closes");
}
