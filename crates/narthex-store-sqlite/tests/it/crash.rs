//! What a crash leaves behind.

#![allow(clippy::expect_used, reason = "tests")]

use std::path::Path;
use std::sync::Arc;

use narthex_store::suite::Backend as _;
use narthex_store::{GateBooks as _, HeadFile, LedgerReader as _};
use narthex_store_sqlite::SqliteStore;

use crate::backend::{SqliteBackend, append, config_in, key, ledger_in};

/// What the disk would hold if the process ended now: the files, without closing any.
fn snapshot(house: &SqliteBackend, to: &Path) {
    for name in ["house.db", "house.db-wal", "house.head"] {
        std::fs::copy(house.dir().join(name), to.join(name)).expect("copies");
    }
}

#[tokio::test]
async fn a_leftover_log_is_read_and_verified() {
    let house = SqliteBackend::new();
    let store = house.store().await.expect("opens");
    append(&store, 30).await;
    let after = tempfile::tempdir().expect("a directory");
    snapshot(&house, after.path());
    let config = config_in(after.path(), house.clock());
    assert!(std::fs::metadata(after.path().join("house.db-wal")).expect("a log").len() > 0);

    let ledger = ledger_in(&config);
    let verify = || ledger.verify(|_| ());
    assert_eq!(verify().await.expect("whole").records, 31);
    let again = SqliteStore::open(config.clone()).await.expect("opens");
    append(&again, 1).await;
    again.close().await.expect("closes");
    // That it was not closed is in the ledger too.
    assert_eq!(verify().await.expect("whole").records, 33);
    store.close().await.expect("closes");
}

#[tokio::test]
async fn a_head_file_that_lags_is_brought_up_to_date() {
    let house = SqliteBackend::new();
    let store = house.store().await.expect("opens");
    append(&store, 3).await;
    let old = std::fs::read(house.config().head_file).expect("reads");
    append(&store, 5).await;
    store.close().await.expect("closes");
    std::fs::write(house.config().head_file, old).expect("writes");
    // Verifying accepts a file that lags; opening heals it.
    assert_eq!(house.verify().await.expect("whole").records, 9);
    house.store().await.expect("opens").close().await.expect("closes");
    let head = HeadFile::read(&house.config().head_file, &key()).expect("reads").expect("a head");
    assert_eq!(head.seq, 9);
}

#[tokio::test]
async fn a_head_file_that_was_lost_is_made_again_and_the_ledger_says_so() {
    let house = SqliteBackend::new();
    let store = house.store().await.expect("opens");
    append(&store, 2).await;
    store.close().await.expect("closes");
    for (left, records) in [(None, 5), (Some(Vec::new()), 7), (Some(vec![0; 1_024]), 9)] {
        std::fs::remove_file(house.config().head_file).expect("removes");
        if let Some(bytes) = left {
            std::fs::write(house.config().head_file, bytes).expect("writes");
        }
        let store = house.store().await.expect("opens");
        let last = store.records(records, 1).await.expect("reads").remove(0);
        assert_eq!(last.read().expect("a record").draft.tool, "house.head_file_lost");
        let stopped = store.switches().await.expect("switches");
        assert!(
            stopped.get(&narthex_core::SwitchScope::Everything).is_some(),
            "until the owner has looked"
        );
        store.close().await.expect("closes");
        assert_eq!(house.verify().await.expect("whole").records, records);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ledger_can_be_verified_while_it_grows() {
    let house = SqliteBackend::new();
    let store = Arc::new(house.store().await.expect("opens"));
    let writing = Arc::clone(&store);
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move { append(&writing, 300).await });
    let mut last = 0;
    while tasks.try_join_next().is_none() {
        let found = house.verify().await.expect("whole").records;
        assert!(found >= last);
        last = found;
    }
    assert_eq!(house.verify().await.expect("whole").records, 301);
    store.close().await.expect("closes");
}

#[tokio::test]
async fn dropping_without_closing_loses_nothing() {
    let house = SqliteBackend::new();
    for round in 1..4 {
        let store = house.store().await.expect("opens");
        append(&store, 5).await;
        assert_eq!(store.head().await.expect("reads").expect("a head").seq, 1 + 5 * round);
        drop(store);
    }
    let store = house.store().await.expect("opens");
    store.close().await.expect("closes");
    assert_eq!(house.verify().await.expect("whole").records, 16);
}
