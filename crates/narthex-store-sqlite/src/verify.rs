//! Verifying a ledger without a server, or beside one that runs.

use std::path::Path;
use std::time::Duration;

use narthex_core::Digest;
use narthex_store::HeadFile;
use narthex_store::chain::{ChainError, Head, HeadKey, StoredRecord, Verification, Verified};
use sqlx::sqlite::SqliteRow;
use sqlx::{ConnectOptions, SqliteConnection};

use crate::connect;
use crate::rows::{self, Fields};

/// Why a ledger was not found whole.
#[derive(Debug, thiserror::Error)]
pub enum VerifyFailure {
    /// It was changed, cut or forged.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The database cannot be read, or is no ledger.
    #[error("the database cannot be read: {0}")]
    Database(String),
    /// The head file cannot be read.
    #[error("the head file cannot be read: {0}")]
    HeadFile(#[from] std::io::Error),
}

/// Walks the whole ledger. `progress` hears how many records were checked so far.
///
/// The head file is read first and the records after it in one snapshot, so that a server that
/// goes on appending can only be ahead of the file, never behind it.
pub async fn verify_offline(
    database: &Path,
    head_file: &Path,
    key: &HeadKey,
    mut progress: impl FnMut(u64),
) -> Result<Verified, VerifyFailure> {
    let file = HeadFile::read(head_file, key)?;
    let mut conn = connect::to_read(database, BUSY).connect().await?;
    sqlx::query("BEGIN").execute(&mut conn).await?;
    let mut walk = Verification::start(file);
    let (mut from, mut checked) = (i64::MIN, 0_u64);
    loop {
        let page = page(&mut conn, from).await?;
        for row in &page {
            let record = record(row, checked + 1)?;
            walk.next(&record)?;
            checked = record.seq;
        }
        if page.is_empty() {
            break;
        }
        from = i64::try_from(checked).unwrap_or(i64::MAX).saturating_add(1);
        progress(checked);
    }
    let row = head_row(&mut conn).await?;
    Ok(walk.finish(row, key)?)
}

async fn page(conn: &mut SqliteConnection, from: i64) -> Result<Vec<SqliteRow>, sqlx::Error> {
    sqlx::query("SELECT seq, bytes, hash FROM ledger WHERE seq >= ?1 ORDER BY seq LIMIT ?2")
        .bind(from)
        .bind(PAGE)
        .fetch_all(conn)
        .await
}

/// A row as it lies there; one of another shape is a record that was changed.
fn record(row: &SqliteRow, expected: u64) -> Result<StoredRecord, ChainError> {
    let row = Fields(row);
    let seq = row.get::<i64>("seq").map_err(|_| ChainError::Unreadable { seq: expected })?;
    let Ok(seq) = u64::try_from(seq) else {
        return Err(ChainError::Sequence { expected, found: 0 });
    };
    let bytes = row.get::<&[u8]>("bytes").map_err(|_| ChainError::Unreadable { seq })?;
    let hash: Digest = row.digest("hash").map_err(|_| ChainError::Broken { seq })?;
    Ok(StoredRecord { seq, bytes: bytes.to_vec(), hash })
}

async fn head_row(conn: &mut SqliteConnection) -> Result<Option<Head>, VerifyFailure> {
    let row = sqlx::query("SELECT seq, hash, mac FROM ledger_head").fetch_optional(conn).await?;
    row.map(|row| rows::head(Fields(&row)))
        .transpose()
        .map_err(|_| VerifyFailure::Database("the stored head has another shape".to_owned()))
}

impl From<sqlx::Error> for VerifyFailure {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error.to_string())
    }
}

/// Records read at once.
const PAGE: i64 = 4_096;
const BUSY: Duration = Duration::from_secs(5);
