//! Spaces.

use narthex_core::{Slug, Space, SpaceId, Subject, Title};
use narthex_store::{Effect, fresh_uuid};

use super::desk::invalid;
use super::{Desk, OwnerError, Reply, SpaceInfo};

impl Desk {
    pub(super) async fn space_add(
        &self,
        slug: &str,
        name: Option<&str>,
    ) -> Result<Reply, OwnerError> {
        let slug: Slug = slug.parse().map_err(invalid)?;
        let name = Title::parse(name.unwrap_or(slug.as_str())).map_err(invalid)?;
        let id = SpaceId::from_uuid(fresh_uuid());
        let space = Space { id, slug, name, ceiling: None, created: self.now() };
        let effect = Effect::AddSpace(space.clone());
        self.change("space.add", Some(id), Subject::one("space", id), effect).await?;
        Ok(Reply::Space(self.space_info(space).await?))
    }

    pub(super) async fn space_list(&self) -> Result<Reply, OwnerError> {
        let mut infos = Vec::new();
        for space in self.store().spaces().await? {
            infos.push(self.space_info(space).await?);
        }
        Ok(Reply::Spaces(infos))
    }

    pub(super) async fn space_show(&self, name: &str) -> Result<Reply, OwnerError> {
        let space = self.space_named(name).await?;
        Ok(Reply::Space(self.space_info(space).await?))
    }

    async fn space_info(&self, space: Space) -> Result<SpaceInfo, OwnerError> {
        let pages = self.store().page_count(space.id).await?;
        let Space { id, slug, name, ceiling, created } = space;
        Ok(SpaceInfo { id, slug, name, ceiling, pages, created })
    }
}
