//! What must still hold inside the transaction.

use std::time::Duration;

use narthex_core::{
    AgentId, Budget, CallId, Holder, Phase, Place, RecordDraft, Reserve, SpaceId, Taint, Tier,
    Timestamp, TokenId, ToolName, Usage,
};
use narthex_store::{Guard, Refused};

use super::books::Books;
use super::effects::approvals::{Burn, burn};
use super::reserves::Held;
use crate::fault::Fault;
use crate::gate::{Bench, Gate, GateMemory};
use crate::identity::{AGENTS, Name, SPACES, TOKENS};
use crate::rows::{self, Fields};

/// Whether a guard needs the database. The others are held in memory, and a batch that has no
/// other begins and writes in one step.
pub(super) const fn asks_database(guard: &Guard) -> bool {
    match guard {
        Guard::NotStopped(_) | Guard::TaintWithin { .. } | Guard::WithinBudget { .. } => false,
        Guard::AgentActive(_)
        | Guard::TokenLive { .. }
        | Guard::CeilingAdmits { .. }
        | Guard::TierStands { .. }
        | Guard::Approved { .. } => true,
    }
}

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
}

impl Check<'_> {
    /// Refuses on the first that does not hold. An approval is used up as it is checked.
    pub(super) async fn all(&self, bench: &mut Bench<'_>, guards: &[Guard]) -> Result<(), Fault> {
        for guard in guards {
            match guard {
                Guard::NotStopped(place) => not_stopped(bench.gate, place)?,
                Guard::AgentActive(agent) => agent_active(bench, *agent).await?,
                Guard::TokenLive { token, now } => token_live(bench, *token, *now).await?,
                Guard::CeilingAdmits { holder, tier } => {
                    ceiling_admits(bench, holder, *tier).await?;
                }
                Guard::TierStands { agent, tool, decided } => {
                    tier_stands(bench, *agent, tool, *decided).await?;
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
    if gate.taint(holder).is_within(decided) { Ok(()) } else { Err(Refused::TaintMoved.into()) }
}

async fn agent_active(bench: &mut Bench<'_>, agent: AgentId) -> Result<(), Fault> {
    let found = bench.identity(&AGENTS, agent.as_bytes()).await?;
    let disabled = found.map(|(row, _)| Fields(&row).flag("disabled")).transpose()?;
    if disabled == Some(false) { Ok(()) } else { Err(Refused::AgentInactive.into()) }
}

async fn token_live(bench: &mut Bench<'_>, token: TokenId, now: Timestamp) -> Result<(), Fault> {
    let found = bench.identity(&TOKENS, token.as_bytes()).await?;
    let token = found.map(|(row, _)| rows::token_summary(Fields(&row))).transpose()?;
    let live = token.is_some_and(|token| {
        token.revoked.is_none() && token.expires.is_none_or(|expires| expires > now)
    });
    if live { Ok(()) } else { Err(Refused::TokenDead.into()) }
}

/// An agent or a space that is not there admits nothing; a space without a ceiling everything. A gate
/// notes its posture before it takes a call, so where none is noted none was chosen.
async fn ceiling_admits(bench: &mut Bench<'_>, holder: &Holder, tier: Tier) -> Result<(), Fault> {
    if bench.gate.mode().is_some_and(|(mode, _)| tier > mode.ceiling()) {
        return Err(Refused::OverMode.into());
    }
    let agent = bench.identity(&AGENTS, holder.agent.as_bytes()).await?;
    let agent = agent.map(|(row, _)| Fields(&row).parsed::<Tier>("ceiling")).transpose()?;
    let mut admits = agent.is_some_and(|ceiling| tier <= ceiling);
    let spaces = match holder.space {
        Some(space) => vec![space],
        None => every_space(bench.gate),
    };
    for space in spaces {
        let space = bench.identity(&SPACES, space.as_bytes()).await?;
        let space = space.map(|(row, _)| rows::space(Fields(&row))).transpose()?;
        admits &= space.is_some_and(|space| space.ceiling.is_none_or(|ceiling| tier <= ceiling));
    }
    if admits { Ok(()) } else { Err(Refused::OverCeiling.into()) }
}

/// What the owner gave the tool for the agent is what was decided on.
async fn tier_stands(
    bench: &mut Bench<'_>,
    agent: AgentId,
    tool: &ToolName,
    decided: Option<Tier>,
) -> Result<(), Fault> {
    let found = bench.identity(&AGENTS, agent.as_bytes()).await?;
    let agent = found.map(|(row, _)| rows::agent(Fields(&row))).transpose()?;
    let stands = agent.is_some_and(|agent| agent.tiers.get(tool) == decided);
    if stands { Ok(()) } else { Err(Refused::TierMoved.into()) }
}

fn every_space(gate: &Gate) -> Vec<SpaceId> {
    let space = |name: &Name| match name {
        Name::Space(id) => Some(*id),
        Name::Agent(_) | Name::Token(_) => None,
    };
    gate.identities().names().filter_map(space).collect()
}
