//! The noted mode, and what the owner allows agents and spaces.

use narthex_core::{AgentId, Budget, Mode, SpaceId, Tier, ToolName, ToolTiers};
use narthex_store::{Effected, Refused};

use crate::fault::Fault;
use crate::gate::Bench;
use crate::identity::{AGENTS, SPACES, Table, text};
use crate::rows::{self, Fields};

/// Notes the posture in force.
pub(super) async fn note_mode(
    bench: &mut Bench<'_>,
    mode: Mode,
    chosen: Option<Mode>,
) -> Result<Effected, Fault> {
    bench.note_mode((mode, chosen)).await.map(Effected::Changed)
}

/// Another ceiling for an agent.
pub(super) async fn agent_ceiling(
    bench: &mut Bench<'_>,
    agent: AgentId,
    ceiling: Tier,
) -> Result<Effected, Fault> {
    let change = Change {
        table: &AGENTS,
        column: "ceiling",
        set: "UPDATE agents SET ceiling = ?2 WHERE id = ?1",
        what: "agent",
    };
    change.to(bench, agent.as_bytes(), Some(ceiling.as_str())).await
}

/// A budget of an agent's own, or none.
pub(super) async fn agent_budget(
    bench: &mut Bench<'_>,
    agent: AgentId,
    budget: Option<Budget>,
) -> Result<Effected, Fault> {
    let budget = super::agents::budget_column(budget.as_ref())?;
    let change = Change {
        table: &AGENTS,
        column: "budget",
        set: "UPDATE agents SET budget = ?2 WHERE id = ?1",
        what: "agent",
    };
    change.to(bench, agent.as_bytes(), budget.as_deref()).await
}

/// Another tier of a tool for an agent, or the one it declares.
pub(super) async fn tool_tier(
    bench: &mut Bench<'_>,
    agent: AgentId,
    tool: ToolName,
    tier: Option<Tier>,
) -> Result<Effected, Fault> {
    let found = bench.identity(&AGENTS, agent.as_bytes()).await?;
    let (row, _) = found.ok_or(Fault::Refused(Refused::NotFound("agent")))?;
    let mut tiers = rows::agent(Fields(&row))?.tiers;
    tiers.set(tool, tier);
    if tiers.len() > ToolTiers::MOST {
        return Err(Refused::TooManyTiers { cap: ToolTiers::MOST }.into());
    }
    let tiers = super::agents::tiers_column(&tiers)?;
    let change = Change {
        table: &AGENTS,
        column: "tiers",
        set: "UPDATE agents SET tiers = ?2 WHERE id = ?1",
        what: "agent",
    };
    change.to(bench, agent.as_bytes(), tiers.as_deref()).await
}

/// Another ceiling for a space, or none of its own.
pub(super) async fn space_ceiling(
    bench: &mut Bench<'_>,
    space: SpaceId,
    ceiling: Option<Tier>,
) -> Result<Effected, Fault> {
    let change = Change {
        table: &SPACES,
        column: "ceiling",
        set: "UPDATE spaces SET ceiling = ?2 WHERE id = ?1",
        what: "space",
    };
    change.to(bench, space.as_bytes(), ceiling.map(Tier::as_str)).await
}

/// Another value in one column of one row.
struct Change {
    table: &'static Table,
    column: &'static str,
    set: &'static str,
    what: &'static str,
}

impl Change {
    /// Sets it, and says whether it was otherwise before.
    async fn to(
        self,
        bench: &mut Bench<'_>,
        id: &[u8; 16],
        to: Option<&str>,
    ) -> Result<Effected, Fault> {
        let found = bench.identity(self.table, id).await?;
        let (_, row) = found.ok_or(Fault::Refused(Refused::NotFound(self.what)))?;
        let value = to.map(text).unwrap_or_default();
        if row.value(self.column) == value {
            return Ok(Effected::Changed(false));
        }
        sqlx::query(self.set).bind(id.as_slice()).bind(to).execute(&mut *bench.conn).await?;
        bench.sign(&row.with(self.column, value)?).await?;
        Ok(Effected::Changed(true))
    }
}
