//! The sealed ledger on disk: when it is signed, what is served of it, what can be taken out, and
//! what is found of everything that can be done to its files.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

mod cadence;
mod log;
mod older;
mod prune;
mod random;
mod served;

use narthex_store::{Commits as _, UnitOfWork};
use narthex_store_sqlite::SqliteStore;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use std::path::Path;

use crate::backend::record;

/// Appends some records in one commit.
async fn batch(store: &SqliteStore, count: usize) {
    let records = (0..count).map(|n| record(&format!("batch-{n}"))).collect();
    store.commit(UnitOfWork::records(records)).await.expect("commits");
}

/// Changes a database behind everyone's back.
async fn sql(database: &Path, sql: &str) {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(database);
    let mut conn = options.connect().await.expect("connects");
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut conn).await.expect("runs");
    conn.close().await.expect("closes");
}
