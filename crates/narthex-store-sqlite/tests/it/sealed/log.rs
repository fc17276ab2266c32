//! The write-ahead log cut at every offset (H04): what was there before stays, and the rest
//! verifies or is told.

use std::path::Path;
use std::sync::Arc;

use narthex_store::suite::Backend as _;
use narthex_store::{LedgerReader as _, StoreError};
use narthex_store_sqlite::SqliteStore;
use narthex_verify::{Failure, Fault};

use super::batch;
use crate::backend::{SqliteBackend, append, config_in, ledger_in};

#[tokio::test]
async fn a_log_cut_anywhere_leaves_what_was_before_or_is_told() {
    let house = SqliteBackend::new();
    let store = house.store().await.expect("opens");
    batch(&store, 250).await;
    store.close().await.expect("closes");
    // Everything up to here is in the database itself; what comes now is in the log.
    let store = house.store().await.expect("opens");
    let early_head = std::fs::read(house.dir().join("house.head")).expect("reads");
    append(&store, 12).await;
    let log = std::fs::read(house.dir().join("house.db-wal")).expect("reads");
    let whole = store.records(1, 1_000).await.expect("reads");
    let frame = 24 + 4_096;
    let mut offsets: Vec<usize> = (0..=log.len() / frame).map(|n| 32 + n * frame).collect();
    offsets
        .extend(offsets.clone().iter().flat_map(|at| [at.saturating_sub(1), at + 1, at + 2_000]));
    offsets.extend([0, 1, 16, 31, log.len()]);
    offsets.retain(|at| *at <= log.len());
    for at in offsets {
        for lagging in [false, true] {
            let after = tempfile::tempdir().expect("a directory");
            copy(house.dir(), after.path(), &log[..at]);
            if lagging {
                // After a power cut the head file may be as old as the database.
                std::fs::write(after.path().join("house.head"), &early_head).expect("writes");
            }
            let config = config_in(after.path(), house.clock());
            let found = ledger_in(&config).verify(|_| ()).await;
            let opened = SqliteStore::open(config.clone()).await;
            match (found, opened) {
                (Ok(report), Ok(store)) => {
                    assert!(report.records >= 251, "cut at {at}");
                    let kept = store.records(1, 1_000).await.expect("reads");
                    let kept = &kept[..usize::try_from(report.records).expect("few")];
                    assert_eq!(kept, &whole[..kept.len()], "cut at {at}");
                    if at > 0 {
                        let next = store.records(report.records + 1, 1).await.expect("reads");
                        let said = next.first().and_then(|record| record.read().ok());
                        let said = said.map(|record| record.draft.tool);
                        assert_eq!(said.as_deref(), Some("house.recovered"), "cut at {at}");
                    }
                    append(&store, 1).await;
                    store.close().await.expect("closes");
                    ledger_in(&config).verify(|_| ()).await.expect("goes on whole");
                }
                (Err(Failure::Broken(Fault::Cut { .. })), Err(StoreError::Damaged(why))) => {
                    assert!(!lagging, "cut at {at}: {why}");
                }
                (found, opened) => panic!("cut at {at}, lagging {lagging}: {found:?}, {opened:?}"),
            }
        }
    }
    store.close().await.expect("closes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ledger_that_is_being_written_is_never_called_broken() {
    let house = SqliteBackend::new();
    let store = Arc::new(house.store().await.expect("opens"));
    let writing = Arc::clone(&store);
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move {
        for round in 0..60 {
            batch(&writing, 1 + round * 7 % 90).await;
        }
    });
    let mut looked = 0;
    while tasks.try_join_next().is_none() {
        house.verify().await.expect("whole");
        looked += 1;
    }
    assert!(looked > 1);
    store.close().await.expect("closes");
}

fn copy(from: &Path, to: &Path, log: &[u8]) {
    for name in ["house.db", "house.head"] {
        std::fs::copy(from.join(name), to.join(name)).expect("copies");
    }
    std::fs::write(to.join("house.db-wal"), log).expect("writes");
}
