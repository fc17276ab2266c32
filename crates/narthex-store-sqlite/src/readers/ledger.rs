//! The ledger, for reading.

use async_trait::async_trait;
use narthex_core::Digest;
use narthex_store::chain::{Head, StoredRecord};
use narthex_store::{LedgerReader, StoreError};

use crate::{SqliteStore, rows};

#[async_trait]
impl LedgerReader for SqliteStore {
    async fn records(&self, from: u64, limit: u32) -> Result<Vec<StoredRecord>, StoreError> {
        let Ok(from) = i64::try_from(from) else {
            return Ok(Vec::new());
        };
        let rows = sqlx::query(
            "SELECT seq, bytes, hash FROM ledger WHERE seq >= ?1 ORDER BY seq LIMIT ?2",
        )
        .bind(from)
        .bind(i64::from(limit))
        .fetch_all(&self.readers)
        .await;
        super::all(rows, rows::stored_record)
    }

    async fn head(&self) -> Result<Option<Head>, StoreError> {
        let row = sqlx::query("SELECT seq, hash, mac FROM ledger_head")
            .fetch_optional(&self.readers)
            .await;
        super::one(row, rows::head)
    }

    async fn hash_at(&self, seq: u64) -> Result<Option<Digest>, StoreError> {
        let Ok(seq) = i64::try_from(seq) else {
            return Ok(None);
        };
        let row = sqlx::query("SELECT hash FROM ledger WHERE seq = ?1")
            .bind(seq)
            .fetch_optional(&self.readers)
            .await;
        super::one(row, |row| row.digest("hash"))
    }
}
