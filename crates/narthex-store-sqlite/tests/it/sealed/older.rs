//! A house from before there were checkpoints, and one that was robbed of them.

use std::borrow::Cow;

use narthex_core::Timestamp;
use narthex_store::chain::{GENESIS, SealKey, seal};
use narthex_store::{HeadFile, LedgerReader as _, StoreError};
use narthex_store_sqlite::{SqliteConfig, SqliteStore};
use narthex_verify::{Failure, Fault};
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions};

use super::{batch, sql};
use crate::backend::{SqliteBackend, key, ledger_in, record};

/// A house as the first release left it: that much of the schema, records and both heads.
async fn first_release(config: &SqliteConfig, records: u64) {
    let all: Migrator = sqlx::migrate!("./migrations");
    let first = all.iter().filter(|migration| migration.version == 1).cloned().collect();
    let migrator = Migrator { migrations: Cow::Owned(first), ..all };
    let options = SqliteConnectOptions::new()
        .filename(&config.database)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal);
    let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await.expect("db");
    migrator.run(&pool).await.expect("migrates");
    let mut previous = GENESIS;
    for seq in 1..=records {
        let tool = if seq == 1 { "house.founded".to_owned() } else { format!("tool-{seq}") };
        let stored = seal(record(&tool), seq, Timestamp::from_millis(1), previous).expect("seals");
        previous = stored.hash;
        sqlx::query("INSERT INTO ledger (seq, bytes, hash) VALUES (?1, ?2, ?3)")
            .bind(seq.cast_signed())
            .bind(stored.bytes)
            .bind(stored.hash.as_bytes().as_slice())
            .execute(&pool)
            .await
            .expect("inserts");
    }
    let head = key().head(records, previous);
    sqlx::query("INSERT INTO ledger_head (one, seq, hash, mac) VALUES (1, ?1, ?2, ?3)")
        .bind(records.cast_signed())
        .bind(head.hash.as_bytes().as_slice())
        .bind(head.mac.as_bytes().as_slice())
        .execute(&pool)
        .await
        .expect("inserts");
    pool.close().await;
    HeadFile::open(&config.head_file).expect("opens").write(&head).expect("writes");
}

#[tokio::test]
async fn it_is_verified_without_a_key_and_sealed_at_its_next_start() {
    for records in [1, 30, 256, 600] {
        let house = SqliteBackend::new();
        let config = house.config();
        first_release(&config, records).await;
        let mut unsigned = ledger_in(&config);
        unsigned.keys.seal = None;
        let report = unsigned.verify(|_| ()).await.expect("whole");
        assert_eq!((report.records, report.checkpoints), (records, 0));

        let store = house.store().await.expect("opens");
        let found = store.records(records + 1, 1).await.expect("reads").remove(0);
        assert_eq!(found.read().expect("a record").draft.tool, "house.ledger_sealed");
        batch(&store, 10).await;
        store.close().await.expect("closes");
        let report = house.verify().await.expect("whole");
        assert_eq!(report.sealed, report.records);
        assert!(report.checkpoints > records / 256);
        // And only once.
        let before = report.records;
        house.store().await.expect("opens").close().await.expect("closes");
        assert_eq!(house.verify().await.expect("whole").records, before);
    }
}

#[tokio::test]
async fn an_older_house_with_a_changed_record_is_not_sealed() {
    let house = SqliteBackend::new();
    let config = house.config();
    first_release(&config, 300).await;
    let change = "UPDATE ledger SET bytes = CAST(replace(CAST(bytes AS TEXT), 'tool-7', 'tool-8')
                    AS BLOB) WHERE seq = 7";
    sql(&config.database, change).await;
    assert!(matches!(house.store().await, Err(StoreError::Damaged(_))));
}

#[tokio::test]
async fn a_house_robbed_of_its_checkpoints_does_not_open() {
    for (robbed, fault) in [
        ("DELETE FROM ledger_checkpoints", Fault::Unsealed { size: 256 }),
        ("DELETE FROM ledger_checkpoints WHERE size >= 256", Fault::Unsealed { size: 256 }),
    ] {
        let house = SqliteBackend::new();
        let store = house.store().await.expect("opens");
        batch(&store, 300).await;
        store.close().await.expect("closes");
        sql(&house.config().database, robbed).await;
        let found = house.verify().await;
        assert!(matches!(found, Err(Failure::Broken(ref found)) if *found == fault), "{found:?}");
        let opened = house.store().await;
        assert!(matches!(opened, Err(StoreError::Damaged(_))), "{opened:?}");
    }
    let small = SqliteBackend::new();
    small.store().await.expect("opens").close().await.expect("closes");
    sql(&small.config().database, "DELETE FROM ledger_checkpoints").await;
    assert!(matches!(small.verify().await, Err(Failure::Broken(Fault::NeverSealed))));
    assert!(matches!(small.store().await, Err(StoreError::Damaged(_))));
}

#[tokio::test]
async fn another_houses_signing_key_opens_nothing() {
    let house = SqliteBackend::new();
    house.store().await.expect("opens").close().await.expect("closes");
    let mut config = house.config();
    config.seal_key = SealKey::from_seed(&[1; 32]);
    let opened = SqliteStore::open(config.clone()).await;
    assert!(matches!(opened, Err(StoreError::Damaged(_))), "{opened:?}");
    let found = ledger_in(&config).verify(|_| ()).await;
    assert!(matches!(found, Err(Failure::Broken(Fault::SealForged { .. }))), "{found:?}");
}
