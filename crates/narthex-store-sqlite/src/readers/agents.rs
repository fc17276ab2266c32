//! Agents.

use async_trait::async_trait;
use narthex_core::{Agent, AgentId, Slug};
use narthex_store::{Agents, StoreError};

use crate::identity::{AGENTS, agents};
use crate::{SqliteStore, rows};

#[async_trait]
impl Agents for SqliteStore {
    async fn agent(&self, id: AgentId) -> Result<Option<Agent>, StoreError> {
        let known = self.known();
        let row = sqlx::query(AGENTS.by_id)
            .bind(id.as_bytes().as_slice())
            .fetch_optional(&self.readers)
            .await;
        known.one(row, &[&AGENTS], rows::agent).await
    }

    async fn agent_by_slug(&self, slug: &Slug) -> Result<Option<Agent>, StoreError> {
        let known = self.known();
        let row = sqlx::query(BY_SLUG).bind(slug.as_str()).fetch_optional(&self.readers).await;
        known.one(row, &[&AGENTS], rows::agent).await
    }

    async fn agents(&self) -> Result<Vec<Agent>, StoreError> {
        let known = self.known();
        let rows = sqlx::query(ALL).fetch_all(&self.readers).await;
        known.sound(rows, &AGENTS, rows::agent).await
    }
}

const BY_SLUG: &str = agents!("WHERE a.slug = ?1");
const ALL: &str = agents!("ORDER BY a.slug");
