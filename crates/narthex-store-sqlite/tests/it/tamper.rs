//! What someone with the files but without the key can do, and that it is seen.

#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

use narthex_core::Digest;
use narthex_store::{LedgerReader as _, Soundness as _, StoreError};
use narthex_verify::{Failure, Fault, Place};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection as _};

use crate::backend::{SqliteBackend, append, ledger_in};

/// A closed house with ten records.
async fn ten() -> SqliteBackend {
    let house = SqliteBackend::new();
    let store = house.store().await.expect("opens");
    append(&store, 9).await;
    store.close().await.expect("closes");
    house
}

async fn sql(house: &SqliteBackend, sql: &str) {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(house.config().database);
    let mut conn = options.connect().await.expect("connects");
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut conn).await.expect("runs");
    conn.close().await.expect("closes");
}

async fn broken(house: &SqliteBackend) -> Fault {
    match house.verify().await {
        Err(Failure::Broken(error)) => error,
        other => panic!("expected a broken chain, got {other:?}"),
    }
}

async fn refuses(house: &SqliteBackend) -> String {
    match house.store().await {
        Err(StoreError::Damaged(why)) => {
            assert!(why.contains("narthex ledger verify"), "{why}");
            why
        }
        other => panic!("expected a refusal, got {other:?}"),
    }
}

#[tokio::test]
async fn an_untouched_ledger_is_whole() {
    let house = ten().await;
    assert_eq!(house.verify().await.expect("whole").records, 10);
    let mut steps = Vec::new();
    let ledger = ledger_in(&house.config());
    ledger.verify(|checked| steps.push(checked)).await.expect("whole");
    assert_eq!(steps, [10]);
    house.store().await.expect("opens").close().await.expect("closes");
}

#[tokio::test]
async fn a_cut_tail_is_missed() {
    let house = ten().await;
    sql(&house, "DELETE FROM ledger WHERE seq > 7").await;
    let cut = |place| Fault::Cut { place, head: 10, last: 7 };
    assert_eq!(broken(&house).await, cut(Place::Checkpoint));
    refuses(&house).await;
    sql(&house, "DELETE FROM ledger_checkpoints WHERE size > 7").await;
    assert_eq!(broken(&house).await, cut(Place::Row));
    refuses(&house).await;
}

#[tokio::test]
async fn a_tail_cut_with_the_stored_head_set_back_is_missed() {
    let house = ten().await;
    let store = house.store().await.expect("opens");
    let early = store.head().await.expect("reads").expect("a head");
    append(&store, 5).await;
    store.close().await.expect("closes");
    // An old head is genuine; only the head file remembers what came after it.
    let (hash, mac) = (early.hash.to_string(), early.mac.to_string());
    sql(
        &house,
        &format!(
            "DELETE FROM ledger WHERE seq > {0};
         DELETE FROM ledger_checkpoints WHERE size > {0};
         UPDATE ledger_head SET seq = {0}, hash = x'{hash}', mac = x'{mac}'",
            early.seq
        ),
    )
    .await;
    let cut = Fault::Cut { place: Place::File, head: 15, last: 10 };
    assert_eq!(broken(&house).await, cut);
    let why = refuses(&house).await;
    assert!(why.contains("its tail was cut"), "{why}");
}

#[tokio::test]
async fn a_changed_record_is_seen() {
    let house = ten().await;
    sql(
        &house,
        "UPDATE ledger SET bytes = CAST(replace(CAST(bytes AS TEXT), 'tool-3', 'tool-4') AS BLOB)
                  WHERE seq = 5",
    )
    .await;
    assert_eq!(broken(&house).await, Fault::Broken { seq: 5 });
    sql(&house, "UPDATE ledger SET bytes = x'7b7d' WHERE seq = 10").await;
    refuses(&house).await;
}

#[tokio::test]
async fn missing_doubled_and_swapped_records_are_seen() {
    for (change, expected) in [
        ("DELETE FROM ledger WHERE seq = 4", Fault::Sequence { expected: 4, found: 5 }),
        ("DELETE FROM ledger WHERE seq = 1", Fault::Sequence { expected: 1, found: 2 }),
        (
            "INSERT INTO ledger SELECT 0, bytes, hash FROM ledger WHERE seq = 3",
            Fault::Sequence { expected: 1, found: 0 },
        ),
        (
            "INSERT INTO ledger SELECT -3, bytes, hash FROM ledger WHERE seq = 3",
            Fault::Sequence { expected: 1, found: -3 },
        ),
        (
            "UPDATE ledger SET seq = -1 WHERE seq = 4; UPDATE ledger SET seq = 4 WHERE seq = 5;
             UPDATE ledger SET seq = 5 WHERE seq = -1",
            Fault::Broken { seq: 4 },
        ),
        ("UPDATE ledger SET hash = zeroblob(32) WHERE seq = 6", Fault::Broken { seq: 6 }),
        ("DELETE FROM ledger", Fault::Empty),
        (
            "INSERT INTO ledger SELECT 11, bytes, hash FROM ledger WHERE seq = 10",
            Fault::Broken { seq: 11 },
        ),
    ] {
        let house = ten().await;
        sql(&house, change).await;
        assert_eq!(broken(&house).await, expected, "{change}");
    }
}

#[tokio::test]
async fn an_emptied_ledger_does_not_found_a_new_house() {
    for change in [
        "DELETE FROM ledger",
        "DELETE FROM ledger_head",
        "DELETE FROM ledger; DELETE FROM ledger_head",
    ] {
        let house = ten().await;
        sql(&house, change).await;
        refuses(&house).await;
    }
}

#[tokio::test]
async fn a_forged_stored_head_is_seen() {
    let house = ten().await;
    sql(&house, "UPDATE ledger_head SET mac = zeroblob(32)").await;
    assert_eq!(broken(&house).await, Fault::HeadForged { place: Place::Row });
    refuses(&house).await;
    sql(&house, "DELETE FROM ledger_head").await;
    assert_eq!(broken(&house).await, Fault::HeadMissing { place: Place::Row });
}

#[tokio::test]
async fn a_missing_or_forged_head_file_is_seen() {
    let house = ten().await;
    let file = house.config().head_file;
    let line = format!("narthex-head-v1 10 {0} {0}\n", Digest::of(b"forged"));
    std::fs::write(&file, format!("{line:512}")).expect("writes");
    assert_eq!(broken(&house).await, Fault::HeadMissing { place: Place::File });
    refuses(&house).await;
    std::fs::remove_file(&file).expect("removes");
    assert_eq!(broken(&house).await, Fault::HeadMissing { place: Place::File });
}

#[tokio::test]
async fn another_houses_key_opens_nothing() {
    let house = ten().await;
    let mut config = house.config();
    config.head_key = narthex_store::chain::HeadKey::new([1; 32]);
    let opened = narthex_store_sqlite::SqliteStore::open(config).await;
    assert!(matches!(opened, Err(StoreError::Damaged(_))), "{opened:?}");
}

#[tokio::test]
async fn a_row_that_does_not_parse_is_damage() {
    let house = ten().await;
    sql(
        &house,
        "INSERT INTO spaces (id, slug, name, created)
                 VALUES (zeroblob(16), 'Not A Slug', 'x', 0)",
    )
    .await;
    let store = house.store().await.expect("opens");
    assert_eq!(narthex_store::Spaces::spaces(&store).await.expect("lists"), []);
    assert_eq!(store.damaged_rows().await.expect("reads").len(), 1);
    store.close().await.expect("closes");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let house = SqliteBackend::new();
    std::fs::write(house.config().database, "no database ".repeat(1_000)).expect("writes");
    let opened = house.store().await;
    assert!(matches!(opened, Err(StoreError::Damaged(_))), "{opened:?}");
    assert!(matches!(house.verify().await, Err(Failure::Database(_))));
    let nothing = SqliteBackend::new();
    assert!(matches!(nothing.verify().await, Err(Failure::Database(_))));
}

/// Without a list of what was done to it, a house that was lived in is not one to be made.
#[tokio::test]
async fn an_emptied_list_of_migrations_is_refused_at_once() {
    for change in [
        "DELETE FROM _sqlx_migrations",
        "DROP TABLE _sqlx_migrations",
        "DELETE FROM _sqlx_migrations WHERE version = 3",
        "UPDATE _sqlx_migrations SET checksum = zeroblob(48) WHERE version = 2",
    ] {
        let house = ten().await;
        sql(&house, change).await;
        for _ in 0..2 {
            let start = std::time::Instant::now();
            match house.store().await {
                Err(StoreError::Damaged(why)) => {
                    assert!(why.contains("migration"), "{change}: {why}");
                }
                other => panic!("{change}: {other:?}"),
            }
            assert!(start.elapsed().as_secs() < 2, "{change}: {:?}", start.elapsed());
        }
    }
}
