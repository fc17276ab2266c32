//! Spaces.

use async_trait::async_trait;
use narthex_core::{Slug, Space, SpaceId};
use narthex_store::{Spaces, StoreError};

use crate::identity::{SPACES, spaces};
use crate::memory::KnownSpace;
use crate::{SqliteStore, rows};

#[async_trait]
impl Spaces for SqliteStore {
    async fn space(&self, id: SpaceId) -> Result<Option<Space>, StoreError> {
        Ok(self.known_space(id).await?.map(|known| known.space))
    }

    async fn space_by_slug(&self, slug: &Slug) -> Result<Option<Space>, StoreError> {
        let known = self.known();
        let row = sqlx::query(BY_SLUG).bind(slug.as_str()).fetch_optional(&self.readers).await;
        known.one(row, &[&SPACES], rows::space).await
    }

    async fn spaces(&self) -> Result<Vec<Space>, StoreError> {
        let known = self.known();
        let rows = sqlx::query(ALL).fetch_all(&self.readers).await;
        known.sound(rows, &SPACES, rows::space).await
    }
}

impl SqliteStore {
    /// A space with its short key, from memory while nothing changed.
    pub(super) async fn known_space(&self, id: SpaceId) -> Result<Option<KnownSpace>, StoreError> {
        let epoch = self.standing.content_epoch();
        if let Some(known) = self.memory.space(epoch, id) {
            return Ok(Some(known));
        }
        let known = self.known();
        let row = sqlx::query(SPACES.by_id)
            .bind(id.as_bytes().as_slice())
            .fetch_optional(&self.readers)
            .await;
        let space = known
            .one(row, &[&SPACES], |row| {
                Ok(KnownSpace { number: row.get("n")?, space: rows::space(row)? })
            })
            .await?;
        if let Some(space) = &space {
            self.memory.keep_space(epoch, space.clone());
        }
        Ok(space)
    }
}

const BY_SLUG: &str = spaces!("WHERE slug = ?1");
const ALL: &str = spaces!("ORDER BY slug");
