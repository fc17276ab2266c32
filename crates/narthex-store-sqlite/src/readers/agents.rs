//! Agents.

use async_trait::async_trait;
use narthex_core::{Agent, AgentId, Slug};
use narthex_store::{Agents, StoreError};

use crate::{SqliteStore, rows};

#[async_trait]
impl Agents for SqliteStore {
    async fn agent(&self, id: AgentId) -> Result<Option<Agent>, StoreError> {
        let row =
            sqlx::query(BY_ID).bind(id.as_bytes().as_slice()).fetch_optional(&self.readers).await;
        super::one(row, rows::agent)
    }

    async fn agent_by_slug(&self, slug: &Slug) -> Result<Option<Agent>, StoreError> {
        let row = sqlx::query(BY_SLUG).bind(slug.as_str()).fetch_optional(&self.readers).await;
        super::one(row, rows::agent)
    }

    async fn agents(&self) -> Result<Vec<Agent>, StoreError> {
        super::all(sqlx::query(ALL).fetch_all(&self.readers).await, rows::agent)
    }
}

macro_rules! agents {
    ($rest:literal) => {
        concat!(
            "SELECT a.id, a.slug, a.name, a.kind, a.model, a.grants, a.ceiling, a.budget,
                    a.disabled, a.created, s.id AS space_id
               FROM agents a LEFT JOIN spaces s ON s.n = a.space ",
            $rest
        )
    };
}

const BY_ID: &str = agents!("WHERE a.id = ?1");
const BY_SLUG: &str = agents!("WHERE a.slug = ?1");
const ALL: &str = agents!("ORDER BY a.slug");
