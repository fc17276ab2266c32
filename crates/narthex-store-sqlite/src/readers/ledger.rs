//! The ledger, for reading.

use async_trait::async_trait;
use narthex_core::Digest;
use narthex_store::chain::{Checkpoint, GENESIS, Head, Seal, StoredRecord};
use narthex_store::{LedgerReader, StoreError};

use crate::fault::Fault;
use crate::{SqliteStore, rows};

#[async_trait]
impl LedgerReader for SqliteStore {
    async fn records(&self, from: u64, limit: u32) -> Result<Vec<StoredRecord>, StoreError> {
        // One more on each side: a record is believed because it chains with its neighbours.
        let Ok(before) = i64::try_from(from.saturating_sub(1)) else {
            return Ok(Vec::new());
        };
        let rows = sqlx::query(
            "SELECT seq, bytes, hash FROM ledger WHERE seq >= ?1 ORDER BY seq LIMIT ?2",
        )
        .bind(before)
        .bind(i64::from(limit) + 2)
        .fetch_all(&self.readers)
        .await;
        let mut records = super::all(rows, rows::stored_record)?;
        let Some(first) = records.first() else { return Ok(records) };
        let (mut seq, mut hash) = if first.seq < from {
            let first = records.remove(0);
            (first.seq, first.hash)
        } else {
            self.before(first.seq).await?
        };
        for record in &records {
            if record.seq != seq + 1 || !record.follows(hash) {
                return Err(changed(seq + 1));
            }
            (seq, hash) = (record.seq, record.hash);
        }
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        if records.len() > limit {
            records.truncate(limit);
        } else {
            self.is_the_end(seq, hash).await?;
        }
        Ok(records)
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

    async fn seals(&self, from: u64, limit: u32) -> Result<Vec<Seal>, StoreError> {
        let Ok(from) = i64::try_from(from) else {
            return Ok(Vec::new());
        };
        let rows = sqlx::query(
            "SELECT size, note, frontier FROM ledger_checkpoints
              WHERE size >= ?1 ORDER BY size LIMIT ?2",
        )
        .bind(from)
        .bind(i64::from(limit))
        .fetch_all(&self.readers)
        .await;
        super::all(rows, rows::seal)
    }

    async fn newest_seal(&self) -> Result<Option<Seal>, StoreError> {
        let row = sqlx::query(
            "SELECT size, note, frontier FROM ledger_checkpoints ORDER BY size DESC LIMIT 1",
        )
        .fetch_optional(&self.readers)
        .await;
        super::one(row, rows::seal)
    }

    async fn base(&self) -> Result<Option<Seal>, StoreError> {
        let row = sqlx::query("SELECT size, note, frontier FROM ledger_base")
            .fetch_optional(&self.readers)
            .await;
        super::one(row, rows::seal)
    }
}

impl SqliteStore {
    /// What the first record there is chains on from.
    async fn before(&self, first: u64) -> Result<(u64, Digest), StoreError> {
        if first == 1 {
            return Ok((0, GENESIS));
        }
        let base = self.base().await?.ok_or_else(|| changed(1))?;
        let said = Checkpoint::open_base(&base.note, &self.public_key).map_err(Fault::damaged)?;
        // Taken out while we looked: what is there now chains on from there as well.
        if said.size + 1 == first { Ok((said.size, said.chain)) } else { Err(changed(first)) }
    }

    /// Where there is no record after it to tell, the stored head does.
    async fn is_the_end(&self, seq: u64, hash: Digest) -> Result<(), StoreError> {
        match self.head().await? {
            Some(head) if head.seq > seq || (head.seq == seq && head.hash == hash) => Ok(()),
            _ => Err(changed(seq)),
        }
    }
}

fn changed(seq: u64) -> StoreError {
    Fault::damaged(format!(
        "record {seq} of the ledger was changed from outside; run `narthex ledger verify`"
    ))
    .into()
}
