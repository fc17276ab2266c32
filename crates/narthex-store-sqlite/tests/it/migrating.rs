//! The machine stops in the middle of a migration (H12): the next start goes on where it was.

#![allow(clippy::expect_used, reason = "tests")]

use std::borrow::Cow;

use narthex_store::Commits as _;
use narthex_store::suite::Backend as _;
use narthex_store_sqlite::SqliteStore;
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use crate::backend::{SqliteBackend, config_in};

static ALL: Migrator = sqlx::migrate!("./migrations");

/// The texts, in their order.
fn texts() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("a file").path()).collect();
    paths.sort();
    paths.into_iter().map(|path| std::fs::read_to_string(path).expect("text")).collect()
}

#[tokio::test]
async fn h12_a_start_that_was_cut_off_in_any_migration_is_gone_on_with() {
    let texts = texts();
    assert_eq!(texts.len(), ALL.migrations.len());
    for done in 0..=texts.len() {
        let house = SqliteBackend::new();
        let after = tempfile::tempdir().expect("a directory");
        let options = SqliteConnectOptions::new()
            .filename(house.dir().join("house.db"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal);
        let mut conn = options.connect().await.expect("connects");
        let before = ALL.migrations.iter().take(done).cloned().collect();
        let some = Migrator { migrations: Cow::Owned(before), ..Migrator::DEFAULT };
        some.run(&mut conn).await.expect("migrates");
        // The next one is under way.
        if let Some(text) = texts.get(done) {
            sqlx::raw_sql(AssertSqlSafe("BEGIN IMMEDIATE".to_owned()))
                .execute(&mut conn)
                .await
                .expect("begins");
            sqlx::raw_sql(AssertSqlSafe(text.clone())).execute(&mut conn).await.expect("runs");
        }
        for name in ["house.db", "house.db-wal"] {
            let _ = std::fs::copy(house.dir().join(name), after.path().join(name));
        }
        conn.close().await.expect("closes");
        for start in 0..2 {
            let opened = SqliteStore::open(config_in(after.path(), house.clock())).await;
            let store = opened.unwrap_or_else(|e| panic!("after {done}, start {start}: {e}"));
            assert!(store.is_writable(), "after {done}");
            store.close().await.expect("closes");
        }
    }
}
