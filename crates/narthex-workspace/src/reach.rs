//! How far a call reaches: the spaces of its scope, looked up by a name only where that is allowed.

use std::collections::BTreeSet;
use std::sync::Arc;

use narthex_core::{PageKey, PageView, Reason, Scope, Slug, Space, SpaceId};
use narthex_gate::{CallContext, ToolError};
use narthex_store::Store;

/// The store as seen from a scope. Everything the tools read goes through here.
#[derive(Debug)]
pub(crate) struct Reach<'a> {
    pub(crate) store: &'a Arc<dyn Store>,
    pub(crate) scope: Scope,
    /// Spaces that a look across all of them does not see.
    pub(crate) past: &'a BTreeSet<SpaceId>,
}

impl<'a> Reach<'a> {
    /// As far as this caller reaches.
    pub(crate) fn of(store: &'a Arc<dyn Store>, context: &'a CallContext) -> Self {
        Self { store, scope: context.scope, past: &context.past }
    }

    /// The spaces in scope, or the one that was named, if it is among them.
    pub(crate) async fn spaces(&self, named: Option<&str>) -> Result<Vec<Space>, ToolError> {
        match (self.scope, named) {
            (Scope::Space(own), None) => Ok(vec![self.space(own).await?]),
            (Scope::AllSpaces, None) => {
                let mut spaces = self.store.spaces().await?;
                spaces.retain(|space| !self.past.contains(&space.id));
                Ok(spaces)
            }
            (_, Some(slug)) => Ok(vec![self.named(slug).await?]),
        }
    }

    /// The one space a change would be in.
    pub(crate) async fn one_space(&self, named: Option<&str>) -> Result<Space, ToolError> {
        match (self.scope, named) {
            (Scope::Space(own), None) => self.space(own).await,
            (_, Some(slug)) => self.named(slug).await,
            (Scope::AllSpaces, None) => Err(ToolError::caller(
                Reason::InvalidArguments,
                "say which space: the argument 'space' takes its slug",
            )),
        }
    }

    /// A page in scope, by id or slug, with the space it was found in.
    pub(crate) async fn page(
        &self,
        id: &str,
        named: Option<&str>,
    ) -> Result<Option<(Space, PageView)>, ToolError> {
        let Some(key) = PageKey::parse(id) else { return Ok(None) };
        for space in self.spaces(named).await? {
            if let Some(view) = self.store.page(space.id, &key).await? {
                return Ok(Some((space, view)));
            }
        }
        Ok(None)
    }

    async fn space(&self, id: SpaceId) -> Result<Space, ToolError> {
        self.store.space(id).await?.ok_or_else(ToolError::not_found)
    }

    async fn named(&self, slug: &str) -> Result<Space, ToolError> {
        let slug: Slug = slug.parse().map_err(|_| ToolError::not_found())?;
        let found = self.store.space_by_slug(&slug).await?;
        found.filter(|space| self.scope.covers(space.id)).ok_or_else(ToolError::not_found)
    }
}
