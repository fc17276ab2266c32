//! Random tampering with the files themselves. The rules alone are put to ten times as many cases
//! in `narthex-verify`; here it is the reading of the files that is tried.

use std::path::Path;

use narthex_store::suite::Backend as _;
use narthex_verify::Anchor;

use super::{batch, sql};
use crate::backend::{SqliteBackend, append, config_in, ledger_in};

/// Each is SQL with a random record, a second one and a random number in it.
const CLASSES: [(&str, &[&str]); 8] = [
    (
        "flip",
        &[
            "UPDATE ledger SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"ok\"', '\"no\"') AS BLOB)
              WHERE seq = {a}",
            "UPDATE ledger SET hash = randomblob(32) WHERE seq = {a}",
            "UPDATE ledger_checkpoints SET frontier = randomblob(length(frontier)) WHERE size = {s}",
            "UPDATE ledger_checkpoints SET note = replace(note, 'chain', 'Chain') WHERE size = {s}",
            "UPDATE ledger_head SET mac = randomblob(32)",
        ],
    ),
    (
        "delete",
        &[
            "DELETE FROM ledger WHERE seq = {a}",
            "DELETE FROM ledger WHERE seq BETWEEN min({a}, {b}) AND max({a}, {b})",
            "DELETE FROM ledger_checkpoints WHERE size = {m}",
            "DELETE FROM ledger_checkpoints WHERE size >= {m}",
        ],
    ),
    (
        "insert",
        &[
            "INSERT INTO ledger SELECT 301, bytes, hash FROM ledger WHERE seq = {a}",
            "INSERT INTO ledger SELECT -{a}, bytes, hash FROM ledger WHERE seq = {b}",
            "INSERT INTO ledger_checkpoints SELECT 1 + size, note, frontier FROM ledger_checkpoints
              WHERE size = {m}",
        ],
    ),
    (
        "swap",
        &["UPDATE ledger SET seq = -1 WHERE seq = {a}; UPDATE ledger SET seq = {a} WHERE seq = {b};
           UPDATE ledger SET seq = {b} WHERE seq = -1"],
    ),
    (
        "truncate",
        &[
            "DELETE FROM ledger WHERE seq >= {a}",
            "DELETE FROM ledger WHERE seq >= {a}; DELETE FROM ledger_checkpoints WHERE size >= {a}",
        ],
    ),
    (
        "empty",
        &[
            "DELETE FROM ledger",
            "DELETE FROM ledger_head",
            "DELETE FROM ledger; DELETE FROM ledger_head; DELETE FROM ledger_checkpoints",
            "DROP TABLE ledger_checkpoints",
        ],
    ),
    (
        "fork",
        &[
            "UPDATE ledger_head SET hash = (SELECT hash FROM ledger WHERE seq = {a}), seq = {a}",
            "UPDATE ledger_head SET seq = {a}",
        ],
    ),
    (
        "forged checkpoint",
        &[
            "UPDATE ledger_checkpoints SET note = (SELECT note FROM ledger_checkpoints
              WHERE size <> {m} LIMIT 1) WHERE size = {m}",
            "UPDATE ledger_checkpoints SET note = substr(note, 1, length(note) - 10)
              || CASE substr(note, length(note) - 9, 1) WHEN 'A' THEN 'B' ELSE 'A' END
              || substr(note, length(note) - 8) WHERE size = {m}",
            "UPDATE ledger_checkpoints SET note = '' WHERE size = {m}",
            "UPDATE ledger_checkpoints SET size = size - 1 WHERE size = {m}",
            "INSERT INTO ledger_base SELECT 1, size, note, frontier FROM ledger_checkpoints
              WHERE size = {m}; DELETE FROM ledger WHERE seq <= {m}",
        ],
    ),
];

#[tokio::test]
async fn everything_done_to_the_files_is_found() {
    let house = SqliteBackend::new();
    let store = house.store().await.expect("opens");
    batch(&store, 299).await;
    store.close().await.expect("closes");
    let mut random = 7_u64;
    let mut below = |most: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888);
        (random >> 33) % most
    };
    for case in 0..240_usize {
        let (class, changes) = CLASSES[case % CLASSES.len()];
        let change = changes[usize::try_from(below(changes.len() as u64)).expect("small")];
        let a = 1 + below(299);
        let b = 1 + (a + below(298)) % 300;
        let change = change
            .replace("{a}", &a.to_string())
            .replace("{b}", &b.to_string())
            .replace("{s}", if below(2) == 0 { "256" } else { "300" })
            .replace("{m}", "256");
        let touched = copy(&house);
        let config = config_in(touched.path(), house.clock());
        sql(&config.database, &change).await;
        let found = ledger_in(&config).verify(|_| ()).await;
        assert!(found.is_err(), "{class}, case {case}: {change}");
    }
}

#[tokio::test]
async fn an_older_copy_of_everything_is_found_by_its_anchor() {
    let house = SqliteBackend::new();
    let store = house.store().await.expect("opens");
    batch(&store, 40).await;
    store.close().await.expect("closes");
    let older = copy(&house);
    let store = house.store().await.expect("opens");
    append(&store, 30).await;
    store.close().await.expect("closes");
    let (_, note) =
        ledger_in(&house.config()).checkpoint(|_| ()).await.expect("whole").expect("one");
    let config = config_in(older.path(), house.clock());
    let mut ledger = ledger_in(&config);
    ledger.verify(|_| ()).await.expect("nothing in it tells");
    let key = ledger.keys.seal.clone().expect("a key");
    let report = house.verify().await.expect("whole");
    let expected = format!("{}:{}", report.records, report.root);
    for anchor in
        [Anchor::signed(&note, &key).expect("signed"), Anchor::expected(&expected).expect("reads")]
    {
        ledger.anchors = vec![anchor.clone()];
        ledger.verify(|_| ()).await.expect_err("it was rolled back");
        // Also when it has gone on since, as far as the anchor and farther.
        let store = narthex_store_sqlite::SqliteStore::open(config.clone()).await.expect("opens");
        append(&store, 30).await;
        store.close().await.expect("closes");
        ledger.verify(|_| ()).await.expect_err("it is another history");
        let mut own = ledger_in(&house.config());
        own.anchors = vec![anchor];
        own.verify(|_| ()).await.expect("this is the one");
    }
}

fn copy(house: &SqliteBackend) -> tempfile::TempDir {
    let to = tempfile::tempdir().expect("a directory");
    for name in ["house.db", "house.head"] {
        let from: &Path = house.dir();
        std::fs::copy(from.join(name), to.path().join(name)).expect("copies");
    }
    to
}
