//! Agents.

use narthex_core::{Agent, AgentId, Budget, ToolTiers};
use narthex_store::{Effected, Refused};

use crate::fault::Fault;
use crate::gate::Bench;
use crate::identity::{AGENTS, Name, SPACES, Signed, bytes, number, text};
use crate::rows::Fields;

/// A new agent.
pub(super) async fn add(bench: &mut Bench<'_>, agent: &Agent) -> Result<Effected, Fault> {
    let taken: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM agents WHERE slug = ?1)")
        .bind(agent.slug.as_str())
        .fetch_one(&mut *bench.conn)
        .await?;
    if taken {
        return Err(Refused::Taken("slug").into());
    }
    let stored = Stored {
        agent,
        grants: serde_json::json!(agent.grants.iter().map(ToString::to_string).collect::<Vec<_>>())
            .to_string(),
        budget: budget_column(agent.budget.as_ref())?,
        tiers: tiers_column(&agent.tiers)?,
        space: space_of(bench, agent).await?,
    };
    sqlx::query(
        "INSERT INTO agents (id, slug, name, kind, model, grants, ceiling, space, disabled, created,
                             budget, tiers)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )
    .bind(agent.id.as_bytes().as_slice())
    .bind(agent.slug.as_str())
    .bind(agent.name.as_str())
    .bind(agent.kind.as_str())
    .bind(agent.model.as_deref())
    .bind(stored.grants.as_str())
    .bind(agent.ceiling.as_str())
    .bind(stored.space)
    .bind(agent.disabled)
    .bind(agent.created.as_millis())
    .bind(stored.budget.as_deref())
    .bind(stored.tiers.as_deref())
    .execute(&mut *bench.conn)
    .await?;
    bench.sign(&stored.signed()).await?;
    Ok(Effected::Done)
}

/// Off or on.
pub(super) async fn set_disabled(
    bench: &mut Bench<'_>,
    agent: AgentId,
    disabled: bool,
) -> Result<Effected, Fault> {
    let found = bench.identity(&AGENTS, agent.as_bytes()).await?;
    let (_, row) = found.ok_or(Fault::Refused(Refused::NotFound("agent")))?;
    sqlx::query("UPDATE agents SET disabled = ?2 WHERE id = ?1")
        .bind(agent.as_bytes().as_slice())
        .bind(disabled)
        .execute(&mut *bench.conn)
        .await?;
    bench.sign(&row.with("disabled", number(i64::from(disabled)))?).await?;
    Ok(Effected::Done)
}

/// A budget as it is stored.
pub(super) fn budget_column(budget: Option<&Budget>) -> Result<Option<String>, Fault> {
    budget.map(serde_json::to_string).transpose().map_err(Fault::damaged)
}

/// The tiers of tools as they are stored.
pub(super) fn tiers_column(tiers: &ToolTiers) -> Result<Option<String>, Fault> {
    if tiers.is_empty() {
        return Ok(None);
    }
    serde_json::to_string(tiers).map(Some).map_err(Fault::damaged)
}

/// The short key of an agent's space, which must be there.
async fn space_of(bench: &mut Bench<'_>, agent: &Agent) -> Result<Option<i64>, Fault> {
    let Some(space) = &agent.space else { return Ok(None) };
    let found = bench.identity(&SPACES, space.as_bytes()).await?;
    let (row, _) = found.ok_or(Fault::Refused(Refused::NotFound("space")))?;
    Fields(&row).get("n").map(Some)
}

/// An agent as its row has it.
struct Stored<'a> {
    agent: &'a Agent,
    grants: String,
    budget: Option<String>,
    tiers: Option<String>,
    space: Option<i64>,
}

impl Stored<'_> {
    /// The columns, in the order of [`AGENTS`].
    fn signed(&self) -> Signed {
        let agent = self.agent;
        let values = vec![
            bytes(agent.id.as_bytes()),
            text(agent.slug.as_str()),
            text(agent.name.as_str()),
            text(agent.kind.as_str()),
            agent.model.as_deref().map(text).unwrap_or_default(),
            text(&self.grants),
            text(agent.ceiling.as_str()),
            self.budget.as_deref().map(text).unwrap_or_default(),
            self.space.map(number).unwrap_or_default(),
            agent.space.map(|space| bytes(space.as_bytes())).unwrap_or_default(),
            number(i64::from(agent.disabled)),
            number(agent.created.as_millis()),
            self.tiers.as_deref().map(text).unwrap_or_default(),
        ];
        Signed::new(Name::Agent(agent.id), values)
    }
}
