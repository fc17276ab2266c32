//! Agents' tokens.

use async_trait::async_trait;
use narthex_core::{AgentId, TokenId, TokenSummary};
use narthex_store::{StoreError, TokenRecord, Tokens};

use crate::fault::Fault;
use crate::identity::{AGENTS, TOKENS, tokens};
use crate::rows::Fields;
use crate::{SqliteStore, rows};

#[async_trait]
impl Tokens for SqliteStore {
    async fn token(&self, id: TokenId) -> Result<Option<TokenRecord>, StoreError> {
        let known = self.known();
        let row =
            sqlx::query(ONE).bind(id.as_bytes().as_slice()).fetch_optional(&self.readers).await;
        known.one(row, &[&TOKENS, &AGENTS], token_record).await
    }

    async fn tokens(&self, agent: Option<AgentId>) -> Result<Vec<TokenSummary>, StoreError> {
        let known = self.known();
        let rows = sqlx::query(LIST)
            .bind(agent.as_ref().map(|agent| agent.as_bytes().as_slice()))
            .fetch_all(&self.readers)
            .await;
        known.sound(rows, &TOKENS, rows::token_summary).await
    }
}

fn token_record(row: Fields<'_>) -> Result<TokenRecord, Fault> {
    Ok(TokenRecord {
        summary: rows::token_summary(row)?,
        keyed_hash: rows::bytes32(row.get("keyed_hash")?)
            .ok_or_else(|| Fault::damaged("keyed_hash: length"))?,
        agent: rows::agent(row)?,
    })
}

const ONE: &str = "SELECT t.id AS token_id, t.agent AS token_agent, t.label,
        t.created AS token_created, t.expires, t.revoked, t.keyed_hash, t.mac AS token_mac,
        u.at AS last_used,
        a.id, a.slug, a.name, a.kind, a.model, a.grants, a.ceiling, a.budget, a.disabled,
        a.created, a.tiers, a.space, s.id AS space_id, a.mac
   FROM tokens t
   JOIN agents a ON a.id = t.agent
   LEFT JOIN spaces s ON s.n = a.space
   LEFT JOIN token_use u ON u.token = t.id
  WHERE t.id = ?1";

const LIST: &str = tokens!("WHERE ?1 IS NULL OR t.agent = ?1 ORDER BY t.created, t.id");
