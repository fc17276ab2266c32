//! What policy said, remembered. A verdict is a pure function of the policy's text, the agent as it
//! is, its scope and the question; all of these are compared, so nothing ever has to be dropped.

use std::sync::Arc;

use moka::sync::Cache;
use narthex_core::{Agent, AgentId, Digest, Question, Reason, SpaceId};
use narthex_policy::{Asker, PolicyEngine};

use super::Admitted;
use crate::gate::Inner;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    policy: Digest,
    agent: AgentId,
    space: Option<SpaceId>,
    question: Question,
}

/// A verdict, and the agent it is about as it was then.
#[derive(Debug, Clone)]
struct Known {
    agent: Arc<Agent>,
    said: Result<(), Reason>,
}

/// The memory.
#[derive(Debug)]
pub(crate) struct Verdicts(Cache<Key, Known>);

impl Verdicts {
    pub(crate) fn new(most: u64) -> Self {
        Self(Cache::new(most))
    }
}

impl Inner {
    /// Whether policy permits this; if not, why.
    pub(super) fn permits(
        &self,
        policy: &PolicyEngine,
        admitted: &Admitted,
        question: &Question,
    ) -> Result<(), Reason> {
        let agent = &admitted.principal.agent;
        let key = Key {
            policy: policy.version(),
            agent: agent.id,
            space: admitted.scope.space(),
            question: question.clone(),
        };
        if let Some(known) = self.verdicts.0.get(&key)
            // An agent that changed since is another agent.
            && (Arc::ptr_eq(&known.agent, agent) || known.agent == *agent)
        {
            return known.said;
        }
        let verdict = policy.decide(&Asker { agent, scope: admitted.scope }, question);
        let said = if verdict.is_permitted() { Ok(()) } else { Err(verdict.reason()) };
        self.verdicts.0.insert(key, Known { agent: Arc::clone(agent), said });
        said
    }
}
