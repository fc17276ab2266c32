//! What an agent has taken in: read before a decision, set together with the answer's record.

use std::time::Duration;

use narthex_core::{
    Actor, Arming, Cause, Effects, Holder, Latch, Phase, Reads, Reason, RecordDraft, Subject,
    Taint, TakesIn, Transport,
};
use narthex_store::{Effect, StoreError, UnitOfWork};

use super::Admitted;
use super::record::Trace;
use crate::gate::{Inner, new_call};

impl Admitted {
    /// Whose state the gate keeps for it.
    pub(crate) fn holder(&self) -> Holder {
        Holder { agent: self.principal.agent.id, space: self.scope.space() }
    }
}

impl Inner {
    /// What the agent has taken in, after what has run out was opened.
    pub(super) async fn taint_of(&self, holder: Holder) -> Result<Taint, StoreError> {
        let Some(window) = self.config.taint_window else {
            return self.store.taint(holder).await;
        };
        for (holder, latch) in self.store.latches_of(holder.agent).await? {
            self.run_out(holder, &latch, window).await?;
        }
        self.store.taint(holder).await
    }

    /// Opens what of a latch was not set again for so long.
    async fn run_out(
        &self,
        holder: Holder,
        latch: &Latch,
        window: Duration,
    ) -> Result<(), StoreError> {
        let now = self.clock.moment();
        let out = |bit: &Option<Cause>| {
            bit.as_ref().is_some_and(|cause| now.has_run_out(cause.last, window))
        };
        let over = Taint { private: out(&latch.private), untrusted: out(&latch.untrusted) };
        if over.is_clean() {
            return Ok(());
        }
        let record = RecordDraft {
            space: holder.space,
            reason: Reason::Permitted,
            subject: Subject::one("agent", holder.agent)
                .changed(words(latch.taint()), words(latch.taint().without(over))),
            ..RecordDraft::new(
                Phase::House,
                new_call(),
                Actor::House,
                Transport::Local,
                "taint.window_ran_out",
            )
        };
        let effect = Effect::ClearLatch { holder, taint: over, ran_out: Some((now, window)) };
        self.store.commit(UnitOfWork::effect(effect, record)).await.map(drop)
    }

    /// What releasing an answer does to the latch: what the tool declares, and what this answer
    /// says of itself.
    pub(super) fn arming(
        &self,
        trace: &Trace,
        holder: Holder,
        brings: Taint,
        subject: &Subject,
    ) -> Option<Arming> {
        if brings.is_clean() {
            return None;
        }
        let now = self.clock.moment();
        let cause = Cause {
            surface: trace.surface.clone().unwrap_or_default(),
            tool: trace.tool.clone(),
            call: trace.call,
            subject: Subject { digest: None, ..subject.clone() },
            first: now,
            last: now,
        };
        Some(Arming { holder, taint: brings, cause })
    }
}

/// What an answer brings: at least what its tool declares.
pub(super) fn brought(effects: Effects, said: Taint) -> Taint {
    said.and(Taint {
        private: effects.reads == Reads::Private,
        untrusted: effects.takes_in == TakesIn::Foreign,
    })
}

/// What an error brings. Ours are our own words, where they do not say otherwise; an upstream's are
/// as foreign as its answers.
pub(super) fn brought_by_error(effects: Effects, said: Taint) -> Taint {
    match effects.takes_in {
        TakesIn::Foreign => brought(effects, said),
        TakesIn::Owned | TakesIn::ByAnswer => said,
    }
}

/// A latch in a word, for the ledger.
pub(crate) const fn words(taint: Taint) -> &'static str {
    match (taint.private, taint.untrusted) {
        (false, false) => "clean",
        (true, false) => "private",
        (false, true) => "untrusted",
        (true, true) => "private+untrusted",
    }
}
