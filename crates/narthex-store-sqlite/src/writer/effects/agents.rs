//! Agents.

use narthex_core::{Agent, AgentId, Budget};
use narthex_store::{Effected, Refused};
use sqlx::SqliteConnection;

use super::space_number;
use crate::fault::Fault;

/// A new agent.
pub(super) async fn add(conn: &mut SqliteConnection, agent: &Agent) -> Result<Effected, Fault> {
    let taken: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM agents WHERE slug = ?1)")
        .bind(agent.slug.as_str())
        .fetch_one(&mut *conn)
        .await?;
    if taken {
        return Err(Refused::Taken("slug").into());
    }
    let space = match agent.space {
        Some(space) => Some(space_number(conn, space).await?),
        None => None,
    };
    let grants: Vec<String> = agent.grants.iter().map(ToString::to_string).collect();
    sqlx::query(
        "INSERT INTO agents (id, slug, name, kind, model, grants, ceiling, space, disabled, created,
                             budget)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )
    .bind(agent.id.as_bytes().as_slice())
    .bind(agent.slug.as_str())
    .bind(agent.name.as_str())
    .bind(agent.kind.as_str())
    .bind(agent.model.as_deref())
    .bind(serde_json::json!(grants).to_string())
    .bind(agent.ceiling.as_str())
    .bind(space)
    .bind(agent.disabled)
    .bind(agent.created.as_millis())
    .bind(budget_column(agent.budget.as_ref())?)
    .execute(conn)
    .await?;
    Ok(Effected::Done)
}

/// Off or on.
pub(super) async fn set_disabled(
    conn: &mut SqliteConnection,
    agent: AgentId,
    disabled: bool,
) -> Result<Effected, Fault> {
    let changed = sqlx::query("UPDATE agents SET disabled = ?2 WHERE id = ?1")
        .bind(agent.as_bytes().as_slice())
        .bind(disabled)
        .execute(conn)
        .await?;
    if changed.rows_affected() == 0 {
        return Err(Refused::NotFound("agent").into());
    }
    Ok(Effected::Done)
}

/// A budget as it is stored.
pub(super) fn budget_column(budget: Option<&Budget>) -> Result<Option<String>, Fault> {
    budget.map(serde_json::to_string).transpose().map_err(Fault::damaged)
}
