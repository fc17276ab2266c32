//! What must still hold inside the transaction.

use std::time::Duration;

use narthex_core::{
    Budget, CallId, Holder, Phase, Place, RecordDraft, Reserve, Taint, Tier, Timestamp, Usage,
};
use narthex_store::{Guard, Refused};

use super::books::Books;
use super::effects::approvals::{Burn, burn};
use super::known::Known;
use super::reserves::Held;
use crate::fault::Fault;
use crate::gate::{Bench, Gate, GateMemory};

/// Whose budget is checked, and by which window.
pub(super) fn checked_window(guards: &[Guard]) -> Option<(Holder, Duration)> {
    guards.iter().find_map(|guard| match guard {
        Guard::WithinBudget { holder, budget, .. } => Some((*holder, budget.window())),
        _ => None,
    })
}

/// What the calls whose intent is among these records are to have in reserve.
pub(super) fn reserves(records: &[RecordDraft]) -> Vec<(CallId, Held)> {
    let held = |intent: &RecordDraft| {
        let (holder, _) = Usage::of(intent)?;
        Some((intent.call, Held { holder, usage: intent.reserve.usage() }))
    };
    let holds =
        |record: &&RecordDraft| record.phase == Phase::Intent && !record.reserve.is_nothing();
    records.iter().filter(holds).filter_map(held).collect()
}

/// A unit whose guards are checked.
pub(super) struct Check<'a> {
    /// What the units before it in the batch leave behind.
    pub(super) books: &'a Books,
    pub(super) memory: &'a GateMemory,
    /// Its own records.
    pub(super) records: &'a [RecordDraft],
    /// What was read of whoever calls.
    pub(super) known: &'a mut Known,
}

impl Check<'_> {
    /// Refuses on the first that does not hold. An approval is used up as it is checked.
    pub(super) async fn all(
        &mut self,
        bench: &mut Bench<'_>,
        guards: &[Guard],
    ) -> Result<(), Fault> {
        for guard in guards {
            match guard {
                Guard::NotStopped(place) => not_stopped(bench.gate, place)?,
                Guard::AgentActive(agent) => {
                    or(self.known.is_active(bench, *agent).await?, Refused::AgentInactive)?;
                }
                Guard::TokenLive { token, now } => {
                    or(self.known.is_live(bench, *token, *now).await?, Refused::TokenDead)?;
                }
                Guard::CeilingAdmits { holder, tier } => {
                    within_mode(bench.gate, *tier)?;
                    or(self.known.admits(bench, holder, *tier).await?, Refused::OverCeiling)?;
                }
                Guard::TierStands { agent, tool, decided } => {
                    let stands = self.known.is_tier(bench, *agent, tool, *decided).await?;
                    or(stands, Refused::TierMoved)?;
                }
                Guard::TaintWithin { holder, decided } => {
                    taint_within(bench.gate, holder, *decided)?;
                }
                Guard::WithinBudget { holder, budget, now } => {
                    self.within_budget(holder, budget, *now)?;
                }
                Guard::Approved { id, digest, call, now, valid } => {
                    let (id, digest, call, now, valid) = (*id, *digest, *call, *now, *valid);
                    burn(bench, &Burn { id, digest, call, now, valid }).await?;
                }
            }
        }
        Ok(())
    }

    /// What was used up before, in this batch and now by the unit's own records, and what other calls
    /// under way may still use up.
    fn within_budget(&self, holder: &Holder, budget: &Budget, now: Timestamp) -> Result<(), Fault> {
        if budget.is_unlimited() {
            return Ok(());
        }
        let before = self.memory.with_accounts(|all| all.within(holder, now, budget.window()));
        let used =
            before.and(self.books.charged(holder)).and(self.books.reserved(holder, self.records));
        let own = self.records.iter().filter_map(Usage::of).filter(|(of, _)| of == holder);
        let more = own.fold(Usage::default(), |sum, (_, usage)| sum.and(usage));
        let admitted = budget
            .admits(&used, &more)
            .and_then(|()| budget.holds(&used, &Reserve::of(self.records)));
        admitted.map_err(|over| Refused::OverBudget(over).into())
    }
}

fn not_stopped(gate: &Gate, place: &Place) -> Result<(), Fault> {
    match gate.switches().stops(place) {
        None => Ok(()),
        Some(engaged) => Err(Refused::Stopped(engaged.scope.clone()).into()),
    }
}

fn taint_within(gate: &Gate, holder: &Holder, decided: Taint) -> Result<(), Fault> {
    or(gate.taint(holder).is_within(decided), Refused::TaintMoved)
}

/// A gate notes its posture before it takes a call, so where none is noted none was chosen.
fn within_mode(gate: &Gate, tier: Tier) -> Result<(), Fault> {
    or(gate.mode().is_none_or(|(mode, _)| tier <= mode.ceiling()), Refused::OverMode)
}

fn or(holds: bool, refused: Refused) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(refused.into()) }
}
