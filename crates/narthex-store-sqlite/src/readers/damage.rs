//! Rows that were changed from outside, for whoever looks after the house.

use narthex_store::StoreError;
use sqlx::sqlite::SqliteRow;

use super::proposals::PROPOSALS_AFTER;
use crate::approval_rows::{self, approvals};
use crate::fault::Fault;
use crate::identity::{AGENTS, SPACES, Signed, TOKENS};
use crate::rows::Fields;
use crate::{SqliteStore, proposal_mac};

impl SqliteStore {
    /// Agents, tokens, spaces, approvals and proposals whose MAC is not genuine, or that are not as
    /// they were last written, each in a line. They are served nowhere; what else is damaged stops
    /// the house when it opens.
    pub async fn damaged_rows(&self) -> Result<Vec<String>, StoreError> {
        let approval = |row: &SqliteRow| approval_rows::read(Fields(row), &self.row_key).err();
        let proposal = |row: &SqliteRow| proposal_mac::read(Fields(row), &self.row_key).err();
        let mut damaged = self.walk(APPROVALS_AFTER, approval).await?;
        damaged.extend(self.walk(PROPOSALS_AFTER, proposal).await?);
        let gate = self.gate.gate();
        for table in [&SPACES, &AGENTS, &TOKENS] {
            let identity = |row: &SqliteRow| {
                Signed::current(Fields(row), table, &self.row_key, gate.identities()).err()
            };
            damaged.extend(self.walk(table.after, identity).await?);
        }
        Ok(damaged)
    }

    async fn walk(
        &self,
        sql: &'static str,
        fault: impl Fn(&SqliteRow) -> Option<Fault>,
    ) -> Result<Vec<String>, StoreError> {
        let (mut after, mut found) = (Vec::new(), Vec::new());
        loop {
            let rows = sqlx::query(sql).bind(after.as_slice()).fetch_all(&self.readers).await;
            let rows = rows.map_err(Fault::Sql)?;
            let Some(last) = rows.last() else { return Ok(found) };
            after = Fields(last).get::<&[u8]>("id")?.to_vec();
            found.extend(
                rows.iter().filter_map(&fault).map(|why| StoreError::from(why).to_string()),
            );
        }
    }
}

const APPROVALS_AFTER: &str = approvals!("WHERE id > ?1 ORDER BY id LIMIT 256");
