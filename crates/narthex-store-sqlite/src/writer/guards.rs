//! What must still hold inside the transaction.

use std::time::Duration;

use narthex_core::{
    AgentId, Budget, Holder, Place, RecordDraft, Taint, Tier, Timestamp, TokenId, Usage,
};
use narthex_store::{Guard, Refused};
use sqlx::{Row, SqliteConnection};

use super::books::Books;
use super::effects::approvals::{Burn, burn};
use crate::fault::Fault;
use crate::gate::{Bench, Gate, GateMemory};

/// Whether a guard needs the database. The others are held in memory, and a batch that has no
/// other begins and writes in one step.
pub(super) const fn asks_database(guard: &Guard) -> bool {
    match guard {
        Guard::NotStopped(_) | Guard::TaintWithin { .. } | Guard::WithinBudget { .. } => false,
        Guard::AgentActive(_)
        | Guard::TokenLive { .. }
        | Guard::CeilingAdmits { .. }
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
                Guard::AgentActive(agent) => agent_active(bench.conn, *agent).await?,
                Guard::TokenLive { token, now } => token_live(bench.conn, *token, *now).await?,
                Guard::CeilingAdmits { holder, tier } => {
                    ceiling_admits(bench.conn, holder, *tier).await?;
                }
                Guard::TaintWithin { holder, decided } => {
                    taint_within(bench.gate, holder, *decided)?;
                }
                Guard::WithinBudget { holder, budget, now } => {
                    self.within_budget(holder, budget, *now)?;
                }
                Guard::Approved { id, digest, call, now, valid } => {
                    let (id, digest, call, now, valid) = (*id, *digest, *call, *now, *valid);
                    burn(bench.conn, bench.key, &Burn { id, digest, call, now, valid }).await?;
                }
            }
        }
        Ok(())
    }

    /// What was used up before, in this batch and now by the unit's own records.
    fn within_budget(&self, holder: &Holder, budget: &Budget, now: Timestamp) -> Result<(), Fault> {
        if budget.is_unlimited() {
            return Ok(());
        }
        let before = self.memory.with_accounts(|all| all.within(holder, now, budget.window()));
        let used = before.and(self.books.charged(holder));
        let own = self.records.iter().filter_map(Usage::of).filter(|(of, _)| of == holder);
        let more = own.fold(Usage::default(), |sum, (_, usage)| sum.and(usage));
        budget.admits(&used, &more).map_err(|over| Refused::OverBudget(over).into())
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

async fn agent_active(conn: &mut SqliteConnection, agent: AgentId) -> Result<(), Fault> {
    let active: bool =
        sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM agents WHERE id = ?1 AND disabled = 0)")
            .bind(agent.as_bytes().as_slice())
            .fetch_one(conn)
            .await?;
    if active { Ok(()) } else { Err(Refused::AgentInactive.into()) }
}

async fn token_live(
    conn: &mut SqliteConnection,
    token: TokenId,
    now: Timestamp,
) -> Result<(), Fault> {
    let live: bool = sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM tokens
          WHERE id = ?1 AND revoked IS NULL AND (expires IS NULL OR expires > ?2))",
    )
    .bind(token.as_bytes().as_slice())
    .bind(now.as_millis())
    .fetch_one(conn)
    .await?;
    if live { Ok(()) } else { Err(Refused::TokenDead.into()) }
}

/// An agent or a space that is not there admits nothing; a space without a ceiling everything.
async fn ceiling_admits(
    conn: &mut SqliteConnection,
    holder: &Holder,
    tier: Tier,
) -> Result<(), Fault> {
    let ceilings = sqlx::query(
        "SELECT ceiling FROM agents WHERE id = ?1
         UNION ALL
         SELECT ceiling FROM spaces WHERE id = ?2",
    )
    .bind(holder.agent.as_bytes().as_slice())
    .bind(holder.space.as_ref().map(|space| space.as_bytes().as_slice()))
    .fetch_all(conn)
    .await?;
    let mut admits = ceilings.len() == 1 + usize::from(holder.space.is_some());
    for row in &ceilings {
        if let Some(ceiling) = row.try_get::<Option<&str>, _>(0)? {
            let ceiling: Tier = ceiling.parse().map_err(Fault::damaged)?;
            admits &= tier <= ceiling;
        }
    }
    if admits { Ok(()) } else { Err(Refused::OverCeiling.into()) }
}
