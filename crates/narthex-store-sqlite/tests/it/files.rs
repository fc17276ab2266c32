//! The files of a store, and who may have them.

#![allow(clippy::expect_used, reason = "tests")]

use std::os::unix::fs::PermissionsExt as _;

use narthex_store::{Commits as _, LedgerReader as _, StoreError, UnitOfWork};

use crate::backend::{SqliteBackend, append, record};

#[tokio::test]
async fn every_file_is_its_owners_alone() {
    let house = SqliteBackend::new();
    let store = house.store().await.expect("opens");
    append(&store, 1).await;
    let mut seen = 0;
    for entry in std::fs::read_dir(house.dir()).expect("lists") {
        let entry = entry.expect("an entry");
        let mode = entry.metadata().expect("metadata").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", entry.file_name());
        seen += 1;
    }
    assert!(seen >= 3, "the database, its log and the head file");
    store.close().await.expect("closes");
}

#[tokio::test]
async fn closing_leaves_no_log_behind_and_refuses_what_comes_later() {
    let house = SqliteBackend::new();
    let store = house.store().await.expect("opens");
    append(&store, 3).await;
    store.close().await.expect("closes");
    store.close().await.expect("closes twice");
    assert!(!store.is_writable());
    let late = store.commit(UnitOfWork::records(vec![record("late")])).await;
    assert!(matches!(late, Err(StoreError::Unavailable(_))), "{late:?}");
    assert!(store.head().await.is_err());
    let log = std::fs::metadata(house.dir().join("house.db-wal")).map_or(0, |file| file.len());
    assert_eq!(log, 0);
}

#[tokio::test]
async fn a_second_opener_is_turned_away() {
    let house = SqliteBackend::new();
    let store = house.store().await.expect("opens");
    let second = house.store().await;
    let told = matches!(&second, Err(StoreError::Unavailable(why)) if why.contains("open"));
    assert!(told, "{second:?}");
    append(&store, 1).await;
    store.close().await.expect("closes");
    house.store().await.expect("opens once the first is gone").close().await.expect("closes");
}

#[tokio::test]
async fn opening_again_and_again_adds_nothing() {
    let house = SqliteBackend::new();
    for _ in 0..3 {
        let store = house.store().await.expect("opens");
        assert_eq!(store.head().await.expect("reads").expect("a head").seq, 1);
        store.close().await.expect("closes");
    }
}

#[tokio::test]
async fn a_directory_that_is_not_there_is_told() {
    let house = SqliteBackend::new();
    let mut config = house.config();
    config.database = house.dir().join("absent").join("house.db");
    let opened = narthex_store_sqlite::SqliteStore::open(config).await;
    assert!(matches!(opened, Err(StoreError::Unavailable(_))), "{opened:?}");
}

#[tokio::test]
async fn the_log_does_not_grow_without_end() {
    let house = SqliteBackend::new();
    let mut config = house.config();
    (config.wal_pages, config.wal_pages_hard) = (20, 60);
    let store = narthex_store_sqlite::SqliteStore::open(config).await.expect("opens");
    let log = || std::fs::metadata(house.dir().join("house.db-wal")).expect("a log").len();
    append(&store, 500).await;
    let half = log();
    append(&store, 1_500).await;
    assert!(log() < 3 * half, "{half} then {}", log());
    store.close().await.expect("closes");
    assert_eq!(house.verify().await.expect("whole").records, 2_001);
}
