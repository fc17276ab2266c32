//! Agents, and who a stdio process speaks for.

use narthex_core::{
    Agent, AgentId, AgentKind, Budget, Ceiling, Consent, Grant, Grants, Holder, Place,
    ProposalStatus, Reaches, Slug, Subject, Tier, Title, clean_line,
};
use narthex_store::{Effect, ProposalFilter, fresh_uuid};

use super::desk::invalid;
use super::{AgentInfo, BudgetInfo, Desk, OwnerError, Reply, SessionSeen, StdioIdentity};

/// An agent to be registered, as the owner typed it.
pub(super) struct NewAgent {
    pub(super) slug: String,
    pub(super) name: Option<String>,
    pub(super) space: Option<String>,
    pub(super) model: Option<String>,
    pub(super) grants: Option<Vec<String>>,
    pub(super) ceiling: Option<Tier>,
}

impl Desk {
    pub(super) async fn agent_add(&self, new: NewAgent) -> Result<Reply, OwnerError> {
        let slug: Slug = new.slug.parse().map_err(invalid)?;
        if slug.as_str() == COMPANION {
            return Err(invalid(
                "the name companion is the owner's own assistant's; choose another",
            ));
        }
        let name = Title::parse(new.name.as_deref().unwrap_or(slug.as_str())).map_err(invalid)?;
        let space = match &new.space {
            Some(space) => Some(self.space_named(space).await?.id),
            None => None,
        };
        let model =
            new.model.map(|model| clean_line("model", &model, 80)).transpose().map_err(invalid)?;
        let agent = Agent {
            id: AgentId::from_uuid(fresh_uuid()),
            slug,
            name,
            kind: AgentKind::External,
            model,
            grants: grants(new.grants)?,
            ceiling: new.ceiling.unwrap_or(Tier::T1),
            space,
            budget: None,
            tiers: narthex_core::ToolTiers::default(),
            disabled: false,
            created: self.now(),
        };
        let subject = Subject::one("agent", agent.id);
        self.change("agent.add", space, subject, Effect::AddAgent(agent.clone())).await?;
        Ok(Reply::Agent(Box::new(self.agent_info(agent).await?)))
    }

    pub(super) async fn agent_list(&self) -> Result<Reply, OwnerError> {
        let mut infos = Vec::new();
        for agent in self.store().agents().await? {
            infos.push(self.agent_info(agent).await?);
        }
        Ok(Reply::Agents(infos))
    }

    pub(super) async fn agent_show(&self, name: &str) -> Result<Reply, OwnerError> {
        let agent = self.agent_named(name).await?;
        Ok(Reply::Agent(Box::new(self.agent_info(agent).await?)))
    }

    pub(super) async fn agent_disable(
        &self,
        name: &str,
        disabled: bool,
    ) -> Result<Reply, OwnerError> {
        let agent = self.agent_named(name).await?;
        let action = if disabled { "agent.disable" } else { "agent.enable" };
        let effect = Effect::SetAgentDisabled { agent: agent.id, disabled };
        self.change(action, agent.space, Subject::one("agent", agent.id), effect).await?;
        self.agent_show(name).await
    }

    /// The companion, registered the first time it is asked for.
    pub(super) async fn companion(&self, space: Option<&str>) -> Result<Reply, OwnerError> {
        let space = match space {
            Some(space) => Some(self.space_named(space).await?.id),
            None => None,
        };
        let slug: Slug = COMPANION.parse().map_err(invalid)?;
        let agent = match self.store().agent_by_slug(&slug).await? {
            Some(agent) => agent,
            None => self.register_companion(slug).await?,
        };
        Ok(Reply::Stdio(StdioIdentity { agent: agent.id, companion: true, space }))
    }

    async fn register_companion(&self, slug: Slug) -> Result<Agent, OwnerError> {
        let agent = Agent {
            id: AgentId::from_uuid(fresh_uuid()),
            slug,
            name: Title::parse("Companion").map_err(invalid)?,
            kind: AgentKind::Companion,
            model: None,
            grants: Grants::standard(),
            ceiling: Tier::T1,
            space: None,
            budget: None,
            tiers: narthex_core::ToolTiers::default(),
            disabled: false,
            created: self.now(),
        };
        let effect = Effect::AddAgent(agent.clone());
        self.change("agent.add", None, Subject::one("agent", agent.id), effect).await?;
        Ok(agent)
    }

    /// Who `narthex stdio --agent` speaks for. The gate checks again at every message.
    pub(super) async fn stdio_agent(&self, name: &str) -> Result<Reply, OwnerError> {
        let agent = self.agent_named(name).await?;
        if agent.kind == AgentKind::Companion {
            return Err(invalid("the companion is started with: narthex stdio --companion"));
        }
        if agent.disabled {
            return Err(invalid(format!(
                "the agent is disabled; switch it on with: narthex agent enable {}",
                agent.slug
            )));
        }
        if agent.space.is_none() {
            return Err(invalid("the agent is bound to no space, so every surface refuses it"));
        }
        Ok(Reply::Stdio(StdioIdentity { agent: agent.id, companion: false, space: None }))
    }

    async fn agent_info(&self, agent: Agent) -> Result<AgentInfo, OwnerError> {
        let space = match agent.space {
            Some(id) => self.store().space(id).await?,
            None => None,
        };
        let now = self.now();
        let tokens = self.store().tokens(Some(agent.id)).await?;
        let filter = ProposalFilter {
            agent: Some(agent.id),
            statuses: vec![ProposalStatus::Pending],
            limit: u32::MAX,
            ..ProposalFilter::default()
        };
        let open = self.store().proposals(&filter).await?;
        let holder = Holder { agent: agent.id, space: agent.space };
        let reaches = match agent.kind {
            AgentKind::Companion => Reaches::across(&self.gate.stopped()),
            AgentKind::External => Reaches::of(agent.space),
        };
        let place = Place { agent: agent.id, reaches, upstream: None };
        let space_ceiling = space.as_ref().and_then(|space| space.ceiling);
        let effective =
            Ceiling::of(self.gate.mode(), space_ceiling, agent.ceiling, Consent::Absent);
        Ok(AgentInfo {
            id: agent.id,
            slug: agent.slug,
            name: agent.name,
            kind: agent.kind,
            model: agent.model,
            space: space.map(|space| space.slug),
            space_id: agent.space,
            grants: agent.grants,
            ceiling: agent.ceiling,
            tool_tiers: agent.tiers,
            space_ceiling,
            mode: self.gate.mode(),
            effective_ceiling: effective.tier(),
            disabled: agent.disabled,
            live_tokens: tokens.iter().filter(|token| token.is_live(now)).count(),
            open_proposals: open.len(),
            waiting_approvals: self.approvals(Some(agent.id), false, u32::MAX).await?.len(),
            stops: self.stops_at(&place).await?,
            latches: self.latches(Some(agent.id)).await?,
            budget: self.budget_info(holder, agent.budget).await?,
            sessions: self.sessions_of(agent.id),
            created: agent.created,
        })
    }
}

impl Desk {
    async fn budget_info(
        &self,
        holder: Holder,
        own: Option<Budget>,
    ) -> Result<BudgetInfo, OwnerError> {
        let limits = own.unwrap_or(self.gate.config().budget);
        let spent = self.store().spent(holder).await?;
        let used = spent.within(self.now(), limits.window());
        Ok(BudgetInfo { own: own.is_some(), limits, used })
    }

    fn sessions_of(&self, agent: AgentId) -> Vec<SessionSeen> {
        let open = self.gate.sessions().into_iter().filter(|session| session.agent == agent);
        open.map(|session| SessionSeen {
            open_seconds: session.open_for.as_secs(),
            idle_seconds: session.idle_for.as_secs(),
        })
        .collect()
    }
}

fn grants(said: Option<Vec<String>>) -> Result<Grants, OwnerError> {
    match said {
        None => Ok(Grants::standard()),
        Some(list) => list.iter().map(|grant| grant.parse::<Grant>().map_err(invalid)).collect(),
    }
}

/// The companion's own slug.
const COMPANION: &str = "companion";
