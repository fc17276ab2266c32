//! A row that was edited is not served (H10).

use narthex_core::Digest;
use narthex_store::chain::{GENESIS, StoredRecord};
use narthex_store::{LedgerReader as _, StoreError};

use super::{batch, sql};
use crate::backend::SqliteBackend;

#[tokio::test]
async fn what_does_not_chain_is_not_served() {
    for edited in [1_u64, 2, 17, 29, 30] {
        for rehashed in [false, true] {
            let house = SqliteBackend::new();
            let store = house.store().await.expect("opens");
            batch(&store, 29).await;
            let whole = store.records(1, 100).await.expect("whole");
            let bytes = String::from_utf8(whole[edited as usize - 1].bytes.clone()).expect("text");
            let bytes = bytes.replace("\"ok\"", "\"no\"").into_bytes();
            let before = if edited == 1 { GENESIS } else { whole[edited as usize - 2].hash };
            let hash =
                if rehashed { chained(before, &bytes) } else { whole[edited as usize - 1].hash };
            let text = String::from_utf8(bytes).expect("text");
            let change = format!(
                "UPDATE ledger SET bytes = CAST('{text}' AS BLOB), hash = x'{hash}'
                  WHERE seq = {edited}"
            );
            sql(&house.config().database, &change).await;
            for (from, limit) in [(1, 100), (edited, 1), (edited.saturating_sub(3), 4)] {
                let served = store.records(from, limit).await;
                assert!(
                    matches!(served, Err(StoreError::Damaged(_))),
                    "record {edited} from {from}, {limit} of them, rehashed: {rehashed}"
                );
            }
            store.close().await.expect("closes");
        }
    }
}

#[tokio::test]
async fn what_is_missing_is_not_passed_over() {
    let house = SqliteBackend::new();
    let store = house.store().await.expect("opens");
    batch(&store, 29).await;
    sql(&house.config().database, "DELETE FROM ledger WHERE seq = 7").await;
    for (from, limit) in [(1, 100), (6, 1), (7, 1), (8, 1)] {
        let served = store.records(from, limit).await;
        assert!(matches!(served, Err(StoreError::Damaged(_))), "from {from}: {served:?}");
    }
    assert_eq!(store.records(9, 3).await.expect("they chain").len(), 3);
    store.close().await.expect("closes");
}

#[tokio::test]
async fn pages_of_any_size_are_the_records_between() {
    let house = SqliteBackend::new();
    let store = house.store().await.expect("opens");
    batch(&store, 29).await;
    for from in 0..33_u64 {
        for limit in [1, 2, 7, 100] {
            let served = store.records(from, limit).await.expect("whole");
            let expected: Vec<u64> =
                (from.max(1)..=30).take(usize::try_from(limit).expect("small")).collect();
            let found: Vec<u64> = served.iter().map(|record| record.seq).collect();
            assert_eq!(found, expected, "from {from}, {limit}");
        }
    }
    store.close().await.expect("closes");
}

/// The chain's value, by someone who knows how it is made: found by trying what `follows` says.
fn chained(before: Digest, bytes: &[u8]) -> Digest {
    use sha2::{Digest as _, Sha256};
    let mut hasher = Sha256::new();
    hasher.update(b"narthex ledger record v1\n");
    hasher.update(before.as_bytes());
    hasher.update((bytes.len() as u64).to_be_bytes());
    hasher.update(bytes);
    let hash = Digest::from_bytes(hasher.finalize().into());
    assert!(StoredRecord { seq: 1, bytes: bytes.to_vec(), hash }.follows(before));
    hash
}
