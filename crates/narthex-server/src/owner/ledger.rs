//! The ledger, for the owner to read. No surface has it.

use super::{Desk, OwnerError, Reply, StoredLine, Trouble};

impl Desk {
    pub(super) async fn ledger_tail(&self, count: u32) -> Result<Reply, OwnerError> {
        let count = count.clamp(1, MAX_RECORDS);
        let last = self.store().head().await?.map_or(0, |head| head.seq);
        let from = last.saturating_sub(u64::from(count)) + 1;
        let stored = self.store().records(from, count).await?;
        let records =
            stored.iter().map(narthex_store::chain::StoredRecord::read).collect::<Result<_, _>>();
        records.map(Reply::Records).map_err(|error| OwnerError {
            kind: Trouble::Internal,
            message: format!("{error}; check it with: narthex ledger verify"),
        })
    }

    pub(super) async fn ledger_read(&self, from: u64, limit: u32) -> Result<Reply, OwnerError> {
        let stored = self.store().records(from, limit.clamp(1, MAX_RECORDS)).await?;
        let lines = stored.into_iter().map(|record| StoredLine {
            seq: record.seq,
            record: String::from_utf8_lossy(&record.bytes).into_owned(),
            hash: record.hash.to_string(),
        });
        Ok(Reply::Stored(lines.collect()))
    }
}

const MAX_RECORDS: u32 = 5_000;
