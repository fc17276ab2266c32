//! Stage two: may this agent come in at all, now?

use std::sync::Arc;

use narthex_core::{
    Actor, Agent, AgentId, AgentKind, Principal, Reason, Scope, SpaceId, Transport,
};

use super::identify::{Identified, Refusal};
use super::record::Trace;
use super::run::RunMark;
use crate::Gate;
use crate::gate::new_call;

/// An agent that is let into the room: identified, within its rate, with a scope.
#[derive(Debug, Clone)]
pub struct Admitted {
    pub(crate) principal: Principal,
    pub(crate) scope: Scope,
    pub(crate) transport: Transport,
    /// The run of a program it speaks through, if it does.
    pub(crate) run: Option<RunMark>,
}

impl Admitted {
    /// Who.
    pub const fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Where.
    pub const fn scope(&self) -> Scope {
        self.scope
    }
}

/// Who a stdio process speaks for: said by the owner on the command line, never by the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdio {
    /// A registered agent, in its own space.
    Agent(AgentId),
    /// The owner's companion, in one space or, because it was asked for, in all.
    Companion {
        /// The companion's own id.
        agent: AgentId,
        /// The space it is bound to, if one was named.
        space: Option<SpaceId>,
    },
}

impl Gate {
    /// Rate, then scope.
    pub async fn admit(&self, identified: Identified) -> Result<Admitted, Refusal> {
        let Identified { principal, transport } = identified;
        self.within_rate(&principal.agent, transport).await?;
        match Scope::of_agent(&principal.agent) {
            Ok(scope) => Ok(Admitted { principal, scope, transport, run: None }),
            Err(_) => Err(self.refuse_scope(&principal, transport).await),
        }
    }

    /// The same for a process the owner started on this machine.
    pub async fn admit_stdio(&self, stdio: Stdio) -> Result<Admitted, Refusal> {
        let (id, companion) = match stdio {
            Stdio::Agent(id) => (id, None),
            Stdio::Companion { agent, space } => (agent, Some(space)),
        };
        let agent = self.current_agent(id).await?;
        if agent.disabled {
            let actor = Actor::from(agent.as_ref());
            self.tally(&actor, Some(agent.id), Reason::AgentDisabled, Transport::Stdio).await;
            return Err(Refusal::because(Reason::AgentDisabled));
        }
        self.within_rate(&agent, Transport::Stdio).await?;
        let scope = match (agent.kind, companion) {
            (AgentKind::Companion, Some(space)) => Ok(Scope::companion(space)),
            (_, None) => Scope::of_agent(&agent),
            (AgentKind::External, Some(_)) => Err(narthex_core::NoSpaceScope),
        };
        let principal = Principal { agent, token: None };
        match scope {
            Ok(scope) => Ok(Admitted { principal, scope, transport: Transport::Stdio, run: None }),
            Err(_) => Err(self.refuse_scope(&principal, Transport::Stdio).await),
        }
    }

    /// Whether what it came with is still good: asked while an answer is long in coming.
    pub async fn still_good(&self, admitted: &Admitted) -> bool {
        match admitted.principal.token {
            Some(token) => self.inner().verifier.still_good(token).await,
            None => true,
        }
    }

    async fn within_rate(&self, agent: &Agent, transport: Transport) -> Result<(), Refusal> {
        let Err(wait) = self.inner().limits.request(agent.id) else { return Ok(()) };
        self.tally(&Actor::from(agent), Some(agent.id), Reason::RateLimited, transport).await;
        Err(Refusal { reason: Reason::RateLimited, retry_after: Some(wait) })
    }

    async fn refuse_scope(&self, principal: &Principal, transport: Transport) -> Refusal {
        let actor = Actor::from(principal.agent.as_ref());
        let mut trace = Trace::door(new_call(), actor, transport);
        trace.token = principal.token;
        let unit = narthex_store::UnitOfWork::records(vec![trace.refused(Reason::NoSpaceScope, 1)]);
        match self.inner().store.commit(unit).await {
            Ok(_) => Refusal::because(Reason::NoSpaceScope),
            Err(_) => Refusal::because(Reason::Unavailable),
        }
    }

    /// The agent as it is now; looked up again whenever any agent or token changed.
    pub(super) async fn current_agent(&self, id: AgentId) -> Result<Arc<Agent>, Refusal> {
        let inner = self.inner();
        let epoch = inner.store.identity_epoch();
        if let Some((known, agent)) = inner.agents.get(&id)
            && known == epoch
        {
            return Ok(agent);
        }
        let found =
            inner.store.agent(id).await.map_err(|_| Refusal::because(Reason::Unavailable))?;
        let agent = Arc::new(found.ok_or(Refusal::because(Reason::Unauthorized))?);
        inner.agents.insert(id, (epoch, Arc::clone(&agent)));
        Ok(agent)
    }
}
