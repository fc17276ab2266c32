//! When the ledger is signed.

use std::time::Duration;

use narthex_store::LedgerReader as _;
use narthex_store::chain::{Checkpoint, PERIOD};

use super::batch;
use crate::backend::{SqliteBackend, append, seal_key};

async fn sizes(store: &narthex_store_sqlite::SqliteStore) -> Vec<u64> {
    store.seals(0, 1_000).await.expect("reads").iter().map(|seal| seal.size).collect()
}

#[tokio::test]
async fn every_full_stretch_is_signed_however_many_come_at_once() {
    let house = SqliteBackend::new();
    let store = house.store().await.expect("opens");
    assert_eq!(sizes(&store).await, [1], "the founding is signed at once");
    batch(&store, 700).await;
    let found = sizes(&store).await;
    assert_eq!(found[..2], [256, 512], "{found:?}");
    // Far from any stretch's end, the next second's is the only one besides.
    assert!(found.len() <= 3, "{found:?}");
    append(&store, 100).await;
    assert!(sizes(&store).await.contains(&768));
    store.close().await.expect("closes");
    let report = house.verify().await.expect("whole");
    assert_eq!((report.records, report.sealed, report.checkpoints), (801, 801, 4));
}

#[tokio::test]
async fn the_end_is_signed_within_a_second_after_the_last_record() {
    let house = SqliteBackend::new();
    let store = house.store().await.expect("opens");
    for round in 1..3_u64 {
        batch(&store, 5).await;
        tokio::time::sleep(PERIOD + Duration::from_millis(300)).await;
        let seal = store.newest_seal().await.expect("reads").expect("sealed");
        assert_eq!(seal.size, 1 + 5 * round);
        let said = Checkpoint::open(&seal.note, seal_key().public()).expect("signed");
        assert_eq!(Some(said.chain), store.hash_at(seal.size).await.expect("reads"));
        // Those inside a stretch pass when there is a newer one.
        assert_eq!(sizes(&store).await, [seal.size]);
    }
    store.close().await.expect("closes");
}

#[tokio::test]
async fn while_records_come_one_is_signed_every_second() {
    let house = SqliteBackend::new();
    let store = house.store().await.expect("opens");
    let started = tokio::time::Instant::now();
    let mut signed = std::collections::BTreeSet::new();
    while started.elapsed() < PERIOD * 3 {
        append(&store, 1).await;
        tokio::time::sleep(Duration::from_millis(40)).await;
        signed.extend(sizes(&store).await);
    }
    assert!((3..=5).contains(&signed.len()), "{signed:?}");
    store.close().await.expect("closes");
}
