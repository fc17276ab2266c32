//! How a connection is set up: one place, so that none lacks a safeguard.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use narthex_store::StoreError;
use sqlx::ConnectOptions;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

use crate::SqliteConfig;

/// For the writer and the checkpointer.
pub(crate) fn to_write(config: &SqliteConfig) -> SqliteConnectOptions {
    safe(&config.database, config.busy_timeout)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        // The writer's commits must not stop to copy pages: the checkpointer does that.
        .pragma("wal_autocheckpoint", "0")
        // What is only for this connection needs no file.
        .pragma("temp_store", "MEMORY")
}

/// For looking only.
pub(crate) fn to_read(database: &Path, busy_timeout: Duration) -> SqliteConnectOptions {
    safe(database, busy_timeout).read_only(true).pragma("query_only", "ON")
}

/// The connections all reading goes through.
pub(crate) fn readers(config: &SqliteConfig) -> SqlitePool {
    pool(config, config.readers)
}

/// The connections that views of graphs are held on.
pub(crate) fn views(config: &SqliteConfig) -> SqlitePool {
    pool(config, config.graph_views)
}

fn pool(config: &SqliteConfig, most: u32) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(most.max(1))
        .acquire_timeout(config.reader_wait)
        .test_before_acquire(false)
        .max_lifetime(None)
        .idle_timeout(None)
        .connect_lazy_with(to_read(&config.database, config.busy_timeout))
}

/// Makes the file, readable only by its owner. What SQLite lays beside it takes the same mode.
///
// INVARIANT: only ever before a connection is open. Closing a file descriptor of our own on the
// database would drop the locks that SQLite holds on it in this process.
pub(crate) fn create_private(database: &Path) -> Result<(), StoreError> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(database)
        .map(drop)
        .map_err(|error| StoreError::Unavailable(format!("the database cannot be opened: {error}")))
}

fn safe(database: &Path, busy_timeout: Duration) -> SqliteConnectOptions {
    // An absolute path is never taken for a `file:` address.
    let absolute = std::path::absolute(database).unwrap_or_else(|_| database.to_owned());
    SqliteConnectOptions::new()
        .filename(absolute)
        .create_if_missing(false)
        .foreign_keys(true)
        .busy_timeout(busy_timeout)
        .pragma("trusted_schema", "OFF")
        .pragma("cell_size_check", "ON")
        .disable_statement_logging()
}
