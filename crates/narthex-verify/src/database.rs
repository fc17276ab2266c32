//! Reading the database file: by this crate's own connection, in one snapshot, only looking.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{ConnectOptions, Row, SqliteConnection};

use crate::fault::{Failure, Fault};
use crate::head::{Head, HeadKey};
use crate::rows;
use crate::taken_out::PRUNE;
use crate::walk::{RecordRow, SealRow};

/// An open snapshot.
#[derive(Debug)]
pub(crate) struct Database {
    conn: SqliteConnection,
    /// Whether this database has a place for checkpoints: one of an older program has none.
    pub(crate) is_sealed: bool,
}

/// Records one after the other, and the checkpoints among them.
pub(crate) type Chunk = (Vec<RecordRow>, Vec<SealRow>);

impl Database {
    pub(crate) async fn open(path: &Path) -> Result<Self, Failure> {
        let mut conn = match connect(path, false).await {
            Ok(conn) => conn,
            // On a medium that cannot be written there is no place for the index of the
            // write-ahead log. Without a log nothing can be missing: the file alone is all.
            Err(error) if !has_log(path) => connect(path, true).await.map_err(|_| error)?,
            Err(error) => return Err(error.into()),
        };
        let tables: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM sqlite_schema
              WHERE type = 'table' AND name IN ('ledger_checkpoints', 'ledger_base')",
        )
        .fetch_one(&mut conn)
        .await?;
        Ok(Self { conn, is_sealed: tables == 2 })
    }

    /// The next records after this number, and the checkpoints that belong to them.
    pub(crate) async fn after(&mut self, seq: Option<i64>) -> Result<Chunk, Failure> {
        // The first look takes what is there, numbered however it may be.
        let from = seq.map_or(i64::MIN, |seq| seq.saturating_add(1));
        let rows = sqlx::query(
            "SELECT seq, bytes, hash FROM ledger WHERE seq >= ?1 ORDER BY seq LIMIT ?2",
        )
        .bind(from)
        .bind(PAGE)
        .fetch_all(&mut self.conn)
        .await?;
        let rows: Vec<RecordRow> = rows.iter().map(record).collect::<Result<_, _>>()?;
        let to = if rows.is_empty() { None } else { rows.last().map(|row| row.seq) };
        let seals = self.seals(from, to.unwrap_or(i64::MAX)).await?;
        Ok((rows, seals))
    }

    async fn seals(&mut self, from: i64, to: i64) -> Result<Vec<SealRow>, Failure> {
        if !self.is_sealed {
            return Ok(Vec::new());
        }
        let rows = sqlx::query(
            "SELECT size, note, frontier FROM ledger_checkpoints
              WHERE size BETWEEN ?1 AND ?2 ORDER BY size LIMIT ?3",
        )
        .bind(from)
        .bind(to)
        .bind(PAGE)
        .fetch_all(&mut self.conn)
        .await?;
        rows.iter().map(seal).collect()
    }

    /// What stands for the records that were taken out.
    pub(crate) async fn base(&mut self) -> Result<Option<SealRow>, Failure> {
        if !self.is_sealed {
            return Ok(None);
        }
        let row = sqlx::query("SELECT size, note, frontier FROM ledger_base")
            .fetch_optional(&mut self.conn)
            .await?;
        row.as_ref().map(seal).transpose()
    }

    /// The stored head.
    pub(crate) async fn head(&mut self) -> Result<Option<Head>, Failure> {
        let row = sqlx::query("SELECT seq, hash, mac FROM ledger_head")
            .fetch_optional(&mut self.conn)
            .await?;
        row.map(|row| {
            head(&row).ok_or_else(|| Failure::Database("the stored head has another shape".into()))
        })
        .transpose()
    }

    /// The other rows of the house that carry a MAC.
    pub(crate) async fn rows(&mut self, key: &HeadKey) -> Result<u64, Failure> {
        rows::check(&mut self.conn, key).await
    }

    /// The bytes of every record that may be one of records taken out.
    pub(crate) async fn prunes(&mut self) -> Result<Vec<Vec<u8>>, Failure> {
        let rows = sqlx::query("SELECT bytes FROM ledger WHERE instr(bytes, CAST(?1 AS BLOB)) > 0")
            .bind(PRUNE)
            .fetch_all(&mut self.conn)
            .await?;
        rows.iter().map(|row| Ok(row.try_get::<Vec<u8>, _>(0)?)).collect()
    }

    /// A record's bytes.
    pub(crate) async fn record(&mut self, seq: u64) -> Result<Option<Vec<u8>>, Failure> {
        let row = sqlx::query("SELECT bytes FROM ledger WHERE seq = ?1")
            .bind(i64::try_from(seq).unwrap_or(i64::MAX))
            .fetch_optional(&mut self.conn)
            .await?;
        Ok(row.map(|row| row.try_get::<Vec<u8>, _>(0)).transpose()?)
    }
}

async fn connect(path: &Path, alone: bool) -> Result<SqliteConnection, sqlx::Error> {
    // An absolute path is never taken for a `file:` address.
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut conn = SqliteConnectOptions::new()
        .filename(absolute)
        .create_if_missing(false)
        .read_only(true)
        .immutable(alone)
        .busy_timeout(BUSY)
        .pragma("query_only", "ON")
        .pragma("trusted_schema", "OFF")
        .pragma("cell_size_check", "ON")
        .row_buffer_size(256)
        .disable_statement_logging()
        .connect()
        .await?;
    sqlx::query("BEGIN").execute(&mut conn).await?;
    // A transaction sees what is there when it first looks.
    sqlx::query("SELECT count(*) FROM sqlite_schema").execute(&mut conn).await?;
    Ok(conn)
}

fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// A row of another shape is a record that was changed.
fn record(row: &SqliteRow) -> Result<RecordRow, Failure> {
    let seq = row.try_get::<i64, _>(0)?;
    let named = u64::try_from(seq).unwrap_or(0);
    let bytes = row.try_get::<&[u8], _>(1).map_err(|_| Fault::Unreadable { seq: named })?;
    let hash = row.try_get::<&[u8], _>(2).map_err(|_| Fault::Broken { seq: named })?;
    Ok(RecordRow { seq, bytes: bytes.to_vec(), hash: hash.to_vec() })
}

fn seal(row: &SqliteRow) -> Result<SealRow, Failure> {
    let size = row.try_get::<i64, _>(0)?;
    let shape = |_| Fault::SealForged { size, why: "its row has another shape" };
    Ok(SealRow {
        size,
        note: row.try_get::<&str, _>(1).map_err(shape)?.to_owned(),
        frontier: row.try_get::<&[u8], _>(2).map_err(shape)?.to_vec(),
    })
}

fn head(row: &SqliteRow) -> Option<Head> {
    Some(Head {
        seq: u64::try_from(row.try_get::<i64, _>(0).ok()?).ok()?,
        hash: row.try_get::<&[u8], _>(1).ok()?.try_into().ok()?,
        mac: row.try_get::<&[u8], _>(2).ok()?.try_into().ok()?,
    })
}

/// Records read at once.
const PAGE: i64 = 4_096;
const BUSY: Duration = Duration::from_secs(5);
