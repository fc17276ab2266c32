//! Proposals.

use async_trait::async_trait;
use narthex_core::{Proposal, ProposalId, ProposalStatus};
use narthex_store::{ProposalFilter, Proposals, StoreError};

use super::matter::Listed;
use crate::SqliteStore;
use crate::matter::{self, PROPOSAL_BY_ID, proposals};

#[async_trait]
impl Proposals for SqliteStore {
    async fn proposal(&self, id: ProposalId) -> Result<Option<Proposal>, StoreError> {
        self.matter(PROPOSAL_BY_ID, &[Some(id.as_bytes().as_slice())], matter::proposal).await
    }

    async fn proposals(&self, filter: &ProposalFilter) -> Result<Vec<Proposal>, StoreError> {
        let known = self.gate.gate();
        let rows = sqlx::query(LIST)
            .bind(filter.space.as_ref().map(|space| space.as_bytes().as_slice()))
            .bind(filter.agent.as_ref().map(|agent| agent.as_bytes().as_slice()))
            .bind(words(&filter.statuses))
            .bind(i64::from(filter.limit))
            .fetch_all(&self.readers)
            .await;
        let listed = Listed { known, by_id: PROPOSAL_BY_ID, read: matter::proposal };
        let wanted =
            |it: &Proposal| filter.statuses.is_empty() || filter.statuses.contains(&it.status);
        self.matters(rows, &listed, wanted).await
    }
}

/// The statuses as JSON text; nothing if all are wanted.
fn words(statuses: &[ProposalStatus]) -> Option<String> {
    let words: Vec<&str> = statuses.iter().map(|status| status.as_str()).collect();
    (!words.is_empty()).then(|| serde_json::json!(words).to_string())
}

const LIST: &str = proposals!(
    "WHERE (?1 IS NULL OR s.id = ?1)
       AND (?2 IS NULL OR p.agent = ?2)
       AND (?3 IS NULL OR p.status IN (SELECT value FROM json_each(?3)))
     ORDER BY p.created DESC, p.id DESC LIMIT ?4"
);
