//! Which spaces a caller may look into: always a statement, never an absence.

use crate::{Agent, AgentKind, SpaceId};

/// The spaces a call may touch. There is no value for "not said".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Exactly this one.
    Space(SpaceId),
    /// All of them, because the owner's companion was started that way on purpose.
    AllSpaces,
}

/// An agent bound to no space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this agent is bound to no space")]
pub struct NoSpaceScope;

impl Scope {
    /// The scope of an agent that came with a token: its one space, or nothing at all.
    ///
    // INVARIANT: a missing space is a refusal. Only `companion` makes the wide scope.
    pub fn of_agent(agent: &Agent) -> Result<Self, NoSpaceScope> {
        match (agent.kind, agent.space) {
            (AgentKind::External, Some(space)) => Ok(Self::Space(space)),
            (AgentKind::External, None) | (AgentKind::Companion, _) => Err(NoSpaceScope),
        }
    }

    /// The scope of the companion on stdio: one space if it was named, otherwise all.
    pub fn companion(space: Option<SpaceId>) -> Self {
        space.map_or(Self::AllSpaces, Self::Space)
    }

    /// Whether something that lives in `space` is in scope.
    pub fn covers(self, space: SpaceId) -> bool {
        match self {
            Self::Space(own) => own == space,
            Self::AllSpaces => true,
        }
    }

    /// The one space, where there is one.
    pub const fn space(self) -> Option<SpaceId> {
        match self {
            Self::Space(space) => Some(space),
            Self::AllSpaces => None,
        }
    }
}
