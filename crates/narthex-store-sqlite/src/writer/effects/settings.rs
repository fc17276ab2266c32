//! The noted mode, and what the owner allows agents and spaces.

use narthex_core::{AgentId, Budget, Mode, SpaceId, Tier};
use narthex_store::{Effected, Refused};
use sqlx::SqliteConnection;

use crate::fault::Fault;
use crate::gate::Bench;

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
    conn: &mut SqliteConnection,
    agent: AgentId,
    ceiling: Tier,
) -> Result<Effected, Fault> {
    let (was, set) = (
        "SELECT ceiling FROM agents WHERE id = ?1",
        "UPDATE agents SET ceiling = ?2 WHERE id = ?1",
    );
    change(conn, was, set, agent.as_bytes(), Some(ceiling.as_str()), "agent").await
}

/// A budget of an agent's own, or none.
pub(super) async fn agent_budget(
    conn: &mut SqliteConnection,
    agent: AgentId,
    budget: Option<Budget>,
) -> Result<Effected, Fault> {
    let budget = super::agents::budget_column(budget.as_ref())?;
    let (was, set) =
        ("SELECT budget FROM agents WHERE id = ?1", "UPDATE agents SET budget = ?2 WHERE id = ?1");
    change(conn, was, set, agent.as_bytes(), budget.as_deref(), "agent").await
}

/// Another ceiling for a space, or none of its own.
pub(super) async fn space_ceiling(
    conn: &mut SqliteConnection,
    space: SpaceId,
    ceiling: Option<Tier>,
) -> Result<Effected, Fault> {
    let (was, set) = (
        "SELECT ceiling FROM spaces WHERE id = ?1",
        "UPDATE spaces SET ceiling = ?2 WHERE id = ?1",
    );
    change(conn, was, set, space.as_bytes(), ceiling.map(Tier::as_str), "space").await
}

/// Sets one column of one row, and says whether it was otherwise before.
async fn change(
    conn: &mut SqliteConnection,
    was: &'static str,
    set: &'static str,
    id: &[u8; 16],
    to: Option<&str>,
    what: &'static str,
) -> Result<Effected, Fault> {
    let was: Option<String> = sqlx::query_scalar(was)
        .bind(id.as_slice())
        .fetch_optional(&mut *conn)
        .await?
        .ok_or(Fault::Refused(Refused::NotFound(what)))?;
    if was.as_deref() == to {
        return Ok(Effected::Changed(false));
    }
    sqlx::query(set).bind(id.as_slice()).bind(to).execute(conn).await?;
    Ok(Effected::Changed(true))
}
