//! Spaces.

use async_trait::async_trait;
use narthex_core::{Slug, Space, SpaceId};
use narthex_store::{Spaces, StoreError};

use crate::{SqliteStore, rows};

#[async_trait]
impl Spaces for SqliteStore {
    async fn space(&self, id: SpaceId) -> Result<Option<Space>, StoreError> {
        let row = sqlx::query("SELECT id, slug, name, ceiling, created FROM spaces WHERE id = ?1")
            .bind(id.as_bytes().as_slice())
            .fetch_optional(&self.readers)
            .await;
        super::one(row, rows::space)
    }

    async fn space_by_slug(&self, slug: &Slug) -> Result<Option<Space>, StoreError> {
        let row =
            sqlx::query("SELECT id, slug, name, ceiling, created FROM spaces WHERE slug = ?1")
                .bind(slug.as_str())
                .fetch_optional(&self.readers)
                .await;
        super::one(row, rows::space)
    }

    async fn spaces(&self) -> Result<Vec<Space>, StoreError> {
        let rows = sqlx::query("SELECT id, slug, name, ceiling, created FROM spaces ORDER BY slug")
            .fetch_all(&self.readers)
            .await;
        super::all(rows, rows::space)
    }
}
