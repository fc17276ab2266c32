//! Posture, ceilings and budgets: each change with its own record.

use narthex_core::{Agent, AgentKind, Budget, Slug, Subject, Tier, ToolName};
use narthex_gate::ModeError;
use narthex_store::Effect;

use super::budget::{BudgetChange, words};
use super::desk::{conflict, invalid};
use super::{Desk, ModeInfo, OwnerError, Reply, SettingRequest};

impl Desk {
    pub(super) async fn setting(&self, request: SettingRequest) -> Result<Reply, OwnerError> {
        match request {
            SettingRequest::Mode => Ok(self.mode_info(None)),
            SettingRequest::SetMode { mode } => {
                let before = self.gate.set_mode(mode).await.map_err(|error| match error {
                    ModeError::AboveSettings { .. } => conflict(error),
                    ModeError::Store(error) => error.into(),
                })?;
                Ok(self.mode_info(Some(before)))
            }
            SettingRequest::SetAgent { agent, ceiling, budget, tool_tiers } => {
                let agent = self.agent_named(&agent).await?;
                // Both or neither: what makes no sense is found before anything is changed.
                let budget =
                    budget.map(|change| self.changed_budget(&agent, change)).transpose()?;
                if let Some(ceiling) = ceiling {
                    self.set_ceiling(&agent, ceiling).await?;
                }
                if let Some(budget) = budget {
                    self.set_budget(&agent, budget).await?;
                }
                for (tool, tier) in tool_tiers {
                    self.set_tool_tier(&agent, tool, tier).await?;
                }
                self.agent_show(agent.slug.as_str()).await
            }
            SettingRequest::SetSpace { space, ceiling } => {
                let space = self.space_named(&space).await?;
                let word = |tier: Option<Tier>| tier.map_or("none", Tier::as_str);
                let subject =
                    Subject::one("space", space.id).changed(word(space.ceiling), word(ceiling));
                let effect = Effect::SetSpaceCeiling { space: space.id, ceiling };
                self.change("space.ceiling", Some(space.id), subject, effect).await?;
                self.space_show(space.slug.as_str()).await
            }
        }
    }

    fn mode_info(&self, before: Option<narthex_core::Mode>) -> Reply {
        let settings = self.gate.config().mode;
        Reply::Mode(ModeInfo { mode: self.gate.mode(), settings, before })
    }

    async fn set_ceiling(&self, agent: &Agent, ceiling: Tier) -> Result<(), OwnerError> {
        let subject = Subject::one("agent", agent.id).changed(agent.ceiling, ceiling);
        let effect = Effect::SetAgentCeiling { agent: agent.id, ceiling };
        self.change("agent.ceiling", agent.space, subject, effect).await?;
        Ok(())
    }

    async fn set_tool_tier(
        &self,
        agent: &Agent,
        tool: ToolName,
        tier: Option<Tier>,
    ) -> Result<(), OwnerError> {
        self.tool_can_be(agent, &tool)?;
        let word = |tier: Option<Tier>| tier.map_or("default", Tier::as_str);
        let said = |tier| format!("{tool}={}", word(tier));
        let subject =
            Subject::one("agent", agent.id).changed(said(agent.tiers.get(&tool)), said(tier));
        let effect = Effect::SetToolTier { agent: agent.id, tool: tool.clone(), tier };
        self.change("agent.tool_tier", agent.space, subject, effect).await?;
        Ok(())
    }

    /// Refuses what can be no tool of this agent's: a tier for it would say nothing.
    fn tool_can_be(&self, agent: &Agent, tool: &ToolName) -> Result<(), OwnerError> {
        let Some((surface, name)) = tool.as_str().rsplit_once('/') else { return Ok(()) };
        let own = match agent.kind {
            AgentKind::Companion => &self.companion,
            AgentKind::External => &self.workspace,
        };
        let own_name = own.surface().name();
        let fits = match surface.split_once('/') {
            None if surface == own_name => {
                own.surface().tools().iter().any(|spec| spec.name == name)
            }
            Some(("graph" | "server", of)) => of.parse::<Slug>().is_ok(),
            _ => false,
        };
        if fits {
            return Ok(());
        }
        Err(invalid(format!(
            "{tool} is no tool of {}'s: write {own_name}/TOOL, graph/SLUG/TOOL or server/NAME/TOOL",
            agent.slug
        )))
    }

    fn changed_budget(
        &self,
        agent: &Agent,
        change: BudgetChange,
    ) -> Result<Option<Budget>, OwnerError> {
        let BudgetChange::Own(spec) = change else { return Ok(None) };
        let budget = spec.over(agent.budget.unwrap_or(self.gate.config().budget));
        budget.check().map_err(invalid)?;
        Ok(Some(budget))
    }

    async fn set_budget(&self, agent: &Agent, budget: Option<Budget>) -> Result<(), OwnerError> {
        let subject = Subject::one("agent", agent.id)
            .changed(words(agent.budget.as_ref()), words(budget.as_ref()));
        let effect = Effect::SetAgentBudget { agent: agent.id, budget };
        self.change("agent.budget", agent.space, subject, effect).await?;
        Ok(())
    }
}
