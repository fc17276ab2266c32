//! What agents have taken in, and the one way to clear it.

use std::time::Duration;

use narthex_core::{AgentId, Cause, Holder, Latch, Slug, Subject, Taint, Timestamp};
use narthex_store::{Effect, Effected};

use super::{CauseInfo, Desk, LatchInfo, OwnerError, Reply, TaintRequest};

impl Desk {
    pub(super) async fn taint(&self, request: TaintRequest) -> Result<Reply, OwnerError> {
        match request {
            TaintRequest::Show { agent } => {
                let agent = match agent {
                    Some(name) => Some(self.agent_named(&name).await?.id),
                    None => None,
                };
                Ok(Reply::Latches(self.latches(agent).await?))
            }
            TaintRequest::Clear { agent, space, private, untrusted } => {
                let agent = self.agent_named(&agent).await?.id;
                let space = match space {
                    Some(name) => Some(self.space_named(&name).await?.id),
                    None => None,
                };
                let wanted = |holder: &Holder| {
                    holder.agent == agent && (space.is_none() || holder.space == space)
                };
                self.clear(wanted, Taint { private, untrusted }).await
            }
        }
    }

    /// Opens what is set of what was named; what comes back is how each latch stands after it.
    async fn clear(
        &self,
        wanted: impl Fn(&Holder) -> bool,
        taint: Taint,
    ) -> Result<Reply, OwnerError> {
        let mut cleared = Vec::new();
        for (holder, mut latch) in self.store().latches().await? {
            let before = latch.taint();
            // Only what the owner could see: what is set in the meantime stays set.
            let seen = before.without(before.without(taint));
            if !wanted(&holder) || !latch.clear(seen) {
                continue;
            }
            let subject =
                Subject::one("agent", holder.agent).changed(words(before), words(latch.taint()));
            let effect = Effect::ClearLatch { holder, taint: seen, ran_out: None };
            let committed = self.change("taint.clear", holder.space, subject, effect).await?;
            if committed.effected != Effected::Changed(false) {
                cleared.push(self.latch_info(holder, &latch).await?);
            }
        }
        Ok(Reply::Latches(cleared))
    }

    /// The latches that are set: an agent's, or everyone's.
    pub(super) async fn latches(
        &self,
        agent: Option<AgentId>,
    ) -> Result<Vec<LatchInfo>, OwnerError> {
        let mut infos = Vec::new();
        for (holder, latch) in self.store().latches().await? {
            let wanted = agent.is_none_or(|agent| holder.agent == agent);
            if wanted && !latch.taint().is_clean() {
                infos.push(self.latch_info(holder, &latch).await?);
            }
        }
        Ok(infos)
    }

    /// A latch with its names.
    pub(super) async fn latch_info(
        &self,
        holder: Holder,
        latch: &Latch,
    ) -> Result<LatchInfo, OwnerError> {
        let window = self.gate.config().taint_window;
        let cause = |bit: &Option<Cause>| bit.as_ref().map(|cause| cause_info(cause, window));
        Ok(LatchInfo {
            agent: self.slug_of_agent(holder.agent).await?,
            agent_id: holder.agent,
            space: self.slug_of_space(holder.space).await?,
            space_id: holder.space,
            private: cause(&latch.private),
            untrusted: cause(&latch.untrusted),
        })
    }

    /// What an agent is called; its id, should it ever be gone.
    pub(super) async fn slug_of_agent(&self, id: AgentId) -> Result<Slug, OwnerError> {
        match self.store().agent(id).await? {
            Some(agent) => Ok(agent.slug),
            None => id.to_string().parse().map_err(super::desk::invalid),
        }
    }

    /// What a space is called.
    pub(super) async fn slug_of_space(
        &self,
        id: Option<narthex_core::SpaceId>,
    ) -> Result<Option<Slug>, OwnerError> {
        let Some(id) = id else { return Ok(None) };
        match self.store().space(id).await? {
            Some(space) => Ok(Some(space.slug)),
            None => id.to_string().parse().map(Some).map_err(super::desk::invalid),
        }
    }
}

fn cause_info(cause: &Cause, window: Option<Duration>) -> CauseInfo {
    let about = match (&cause.subject.kind, &cause.subject.id) {
        (Some(kind), Some(id)) => Some(format!("{kind} {id}")),
        (Some(kind), None) => Some(kind.clone()),
        _ => None,
    };
    CauseInfo {
        surface: cause.surface.clone(),
        tool: cause.tool.clone(),
        call: cause.call,
        about,
        first: cause.first.wall,
        last: cause.last.wall,
        until: window.map(|window| later(cause.last.wall, window)),
    }
}

/// So long after a moment.
pub(super) fn later(at: Timestamp, by: Duration) -> Timestamp {
    at.plus_millis(i64::try_from(by.as_millis()).unwrap_or(i64::MAX))
}

/// A latch in a word, for the ledger.
const fn words(taint: Taint) -> &'static str {
    match (taint.private, taint.untrusted) {
        (false, false) => "clean",
        (true, false) => "private",
        (false, true) => "untrusted",
        (true, true) => "private+untrusted",
    }
}
