//! Where a call takes place: what a kill switch and a space's ceiling go by.

use narthex_core::{EffectSite, Place, Reaches, Scope, SpaceId, Tier};
use narthex_store::StoreError;
use serde_json::Value;

use super::Admitted;
use crate::gate::Inner;
use crate::ready::ReadyTool;
use crate::{CallContext, ReadySurface, ToolError};

impl Inner {
    /// Before the call says more. Across all spaces it looks past those that are stopped; one that is
    /// stopped later ends it, as it may have looked there.
    pub(super) fn place(&self, admitted: &Admitted, surface: &ReadySurface) -> Place {
        let reaches = match admitted.scope {
            Scope::Space(own) => Reaches::One(own),
            Scope::AllSpaces => Reaches::across(&self.stops.now()),
        };
        let upstream = surface.surface().upstream().cloned();
        Place { agent: admitted.principal.agent.id, reaches, upstream }
    }

    /// The one space a call is in, if there is one.
    pub(super) async fn space_of(
        &self,
        surface: &ReadySurface,
        tool: &ReadyTool,
        arguments: &Value,
        context: &CallContext,
    ) -> Result<Option<SpaceId>, ToolError> {
        match context.scope {
            Scope::Space(own) => Ok(Some(own)),
            Scope::AllSpaces => surface.surface().space_of(&tool.spec, arguments, context).await,
        }
    }

    /// What spaces say to a call that is in this one; in none that can be told, it may be in any, and
    /// whatever it changes must be admitted by all of them.
    pub(super) async fn ceiling_of(
        &self,
        space: Option<SpaceId>,
        tool: &ReadyTool,
    ) -> Result<Option<Tier>, StoreError> {
        if space.is_some() || tool.spec.effects.site == EffectSite::Observe {
            return self.space_ceiling(space).await;
        }
        Ok(self.store.spaces().await?.into_iter().filter_map(|space| space.ceiling).min())
    }

    /// The ceiling of a space.
    pub(super) async fn space_ceiling(
        &self,
        space: Option<SpaceId>,
    ) -> Result<Option<Tier>, StoreError> {
        let Some(id) = space else { return Ok(None) };
        let epoch = self.store.identity_epoch();
        if let Some((known, ceiling)) = self.spaces.get(&id)
            && known == epoch
        {
            return Ok(ceiling);
        }
        // A space that is gone admits nothing but looking, and looking finds nothing.
        let Some(space) = self.store.space(id).await? else { return Ok(Some(Tier::T0)) };
        self.spaces.insert(id, (epoch, space.ceiling));
        Ok(space.ceiling)
    }
}
