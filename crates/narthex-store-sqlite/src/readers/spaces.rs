//! Spaces.

use async_trait::async_trait;
use narthex_core::{Slug, Space, SpaceId};
use narthex_store::{Spaces, StoreError};

use crate::memory::KnownSpace;
use crate::{SqliteStore, rows};

#[async_trait]
impl Spaces for SqliteStore {
    async fn space(&self, id: SpaceId) -> Result<Option<Space>, StoreError> {
        Ok(self.known_space(id).await?.map(|known| known.space))
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

impl SqliteStore {
    /// A space with its short key, from memory while nothing changed.
    pub(super) async fn known_space(&self, id: SpaceId) -> Result<Option<KnownSpace>, StoreError> {
        let epoch = self.standing.content_epoch();
        if let Some(known) = self.memory.space(epoch, id) {
            return Ok(Some(known));
        }
        let row =
            sqlx::query("SELECT n, id, slug, name, ceiling, created FROM spaces WHERE id = ?1")
                .bind(id.as_bytes().as_slice())
                .fetch_optional(&self.readers)
                .await;
        let known = super::one(row, |row| {
            Ok(KnownSpace { number: row.get("n")?, space: rows::space(row)? })
        })?;
        if let Some(known) = &known {
            self.memory.keep_space(epoch, known.clone());
        }
        Ok(known)
    }
}
