//! Requests for approval.

use async_trait::async_trait;
use narthex_core::{Approval, ApprovalId, ApprovalStatus, Digest, Holder};
use narthex_store::{ApprovalFilter, Approvals, StoreError};

use super::matter::Listed;
use crate::SqliteStore;
use crate::matter::{self, APPROVAL_BY_ID, approvals};

#[async_trait]
impl Approvals for SqliteStore {
    async fn approval(&self, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        self.matter(APPROVAL_BY_ID, &[Some(id.as_bytes().as_slice())], matter::approval).await
    }

    async fn approval_of(
        &self,
        holder: Holder,
        digest: Digest,
    ) -> Result<Option<Approval>, StoreError> {
        let space = holder.space.as_ref().map(|space| space.as_bytes().as_slice());
        let agent = holder.agent.as_bytes().as_slice();
        let keys = [Some(agent), Some(digest.as_bytes().as_slice()), space];
        self.matter(OF_CALL, &keys, matter::approval).await
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, StoreError> {
        let known = self.gate.gate();
        let rows = sqlx::query(LIST)
            .bind(filter.agent.as_ref().map(|agent| agent.as_bytes().as_slice()))
            .bind(words(&filter.statuses))
            .bind(i64::from(filter.limit))
            .fetch_all(&self.readers)
            .await;
        let listed = Listed { known, by_id: APPROVAL_BY_ID, read: matter::approval };
        let wanted =
            |it: &Approval| filter.statuses.is_empty() || filter.statuses.contains(&it.status);
        self.matters(rows, &listed, wanted).await
    }
}

/// The statuses as JSON text; nothing if all are wanted.
fn words(statuses: &[ApprovalStatus]) -> Option<String> {
    let words: Vec<&str> = statuses.iter().map(|status| status.as_str()).collect();
    (!words.is_empty()).then(|| serde_json::json!(words).to_string())
}

/// The one that was asked for last, whatever the clock said then: one that was set back must not put a
/// used-up approval before a new one.
const OF_CALL: &str =
    approvals!("WHERE agent = ?1 AND digest = ?2 AND space IS ?3 ORDER BY rowid DESC LIMIT 1");
const LIST: &str = approvals!(
    "WHERE (?1 IS NULL OR agent = ?1)
       AND (?2 IS NULL OR status IN (SELECT value FROM json_each(?2)))
     ORDER BY requested DESC, id DESC LIMIT ?3"
);
