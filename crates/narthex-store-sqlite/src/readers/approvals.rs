//! Requests for approval.

use async_trait::async_trait;
use narthex_core::{Approval, ApprovalId, ApprovalStatus, Digest, Holder};
use narthex_store::{ApprovalFilter, Approvals, StoreError};

use crate::SqliteStore;
use crate::approval_rows::{self, BY_ID, approvals};

#[async_trait]
impl Approvals for SqliteStore {
    async fn approval(&self, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        let row =
            sqlx::query(BY_ID).bind(id.as_bytes().as_slice()).fetch_optional(&self.readers).await;
        super::one(row, |row| approval_rows::read(row, &self.row_key))
    }

    async fn approval_of(
        &self,
        holder: Holder,
        digest: Digest,
    ) -> Result<Option<Approval>, StoreError> {
        let row = sqlx::query(OF_CALL)
            .bind(holder.agent.as_bytes().as_slice())
            .bind(digest.as_bytes().as_slice())
            .bind(holder.space.as_ref().map(|space| space.as_bytes().as_slice()))
            .fetch_optional(&self.readers)
            .await;
        super::one(row, |row| approval_rows::read(row, &self.row_key))
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, StoreError> {
        let rows = sqlx::query(LIST)
            .bind(filter.agent.as_ref().map(|agent| agent.as_bytes().as_slice()))
            .bind(words(&filter.statuses))
            .bind(i64::from(filter.limit))
            .fetch_all(&self.readers)
            .await;
        super::sound(rows, |row| approval_rows::read(row, &self.row_key))
    }
}

/// The statuses as JSON text; nothing if all are wanted.
fn words(statuses: &[ApprovalStatus]) -> Option<String> {
    let words: Vec<&str> = statuses.iter().map(|status| status.as_str()).collect();
    (!words.is_empty()).then(|| serde_json::json!(words).to_string())
}

const OF_CALL: &str = approvals!(
    "WHERE agent = ?1 AND digest = ?2 AND space IS ?3 ORDER BY requested DESC, id DESC LIMIT 1"
);
const LIST: &str = approvals!(
    "WHERE (?1 IS NULL OR agent = ?1)
       AND (?2 IS NULL OR status IN (SELECT value FROM json_each(?2)))
     ORDER BY requested DESC, id DESC LIMIT ?3"
);
