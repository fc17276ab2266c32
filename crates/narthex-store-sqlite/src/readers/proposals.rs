//! Proposals.

use async_trait::async_trait;
use narthex_core::{Proposal, ProposalId, ProposalStatus};
use narthex_store::{ProposalFilter, Proposals, StoreError};

use crate::{SqliteStore, proposal_mac};

#[async_trait]
impl Proposals for SqliteStore {
    async fn proposal(&self, id: ProposalId) -> Result<Option<Proposal>, StoreError> {
        let row = sqlx::query(PROPOSAL_BY_ID)
            .bind(id.as_bytes().as_slice())
            .fetch_optional(&self.readers)
            .await;
        super::one(row, |row| proposal_mac::read(row, &self.row_key))
    }

    async fn proposals(&self, filter: &ProposalFilter) -> Result<Vec<Proposal>, StoreError> {
        let rows = sqlx::query(LIST)
            .bind(filter.space.as_ref().map(|space| space.as_bytes().as_slice()))
            .bind(filter.agent.as_ref().map(|agent| agent.as_bytes().as_slice()))
            .bind(words(&filter.statuses))
            .bind(i64::from(filter.limit))
            .fetch_all(&self.readers)
            .await;
        super::sound(rows, |row| proposal_mac::read(row, &self.row_key))
    }
}

/// The statuses as JSON text; nothing if all are wanted.
fn words(statuses: &[ProposalStatus]) -> Option<String> {
    let words: Vec<&str> = statuses.iter().map(|status| status.as_str()).collect();
    (!words.is_empty()).then(|| serde_json::json!(words).to_string())
}

macro_rules! proposals {
    ($rest:literal) => {
        concat!(
            "SELECT p.id, p.agent, s.id AS space_id, p.entity_type, p.action, p.page,
                    p.base_revision, p.slug, p.title, p.body, p.tags, p.reason, p.taint_private,
                    p.taint_untrusted, p.status, p.note, p.created, p.decided, p.mac
               FROM proposals p JOIN spaces s ON s.n = p.space ",
            $rest
        )
    };
}

pub(crate) const PROPOSAL_BY_ID: &str = proposals!("WHERE p.id = ?1");
pub(crate) const PROPOSALS_UNSEALED: &str =
    proposals!("WHERE p.mac IS NULL AND p.id > ?1 ORDER BY p.id LIMIT 256");
pub(super) const PROPOSALS_AFTER: &str = proposals!("WHERE p.id > ?1 ORDER BY p.id LIMIT 256");
const LIST: &str = proposals!(
    "WHERE (?1 IS NULL OR s.id = ?1)
       AND (?2 IS NULL OR p.agent = ?2)
       AND (?3 IS NULL OR p.status IN (SELECT value FROM json_each(?3)))
     ORDER BY p.created DESC, p.id DESC LIMIT ?4"
);
