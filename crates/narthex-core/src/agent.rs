//! Who asks.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{AgentId, Budget, Grants, Slug, SpaceId, Tier, Timestamp, Title, TokenId, ToolTiers};

/// What sort of agent it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentKind {
    /// An outsider, bound to one space.
    External,
    /// The owner's local assistant: across all spaces, on stdio only, never by token.
    Companion,
}

impl AgentKind {
    /// The word in storage and output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::External => "external",
            Self::Companion => "companion",
        }
    }
}

impl fmt::Display for AgentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A registered agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// Its slug.
    pub slug: Slug,
    /// What people call it.
    pub name: Title,
    /// What sort of agent it is.
    pub kind: AgentKind,
    /// The model behind it, as the owner noted it; display only.
    pub model: Option<String>,
    /// What it was given.
    pub grants: Grants,
    /// The highest tier it may reach.
    pub ceiling: Tier,
    /// What it may use up; none is what the house gives everyone.
    pub budget: Option<Budget>,
    /// Tools that have another tier for it than they declare.
    pub tiers: ToolTiers,
    /// The space it is bound to. None is refused on every surface, never unrestricted.
    pub space: Option<SpaceId>,
    /// Whether the owner switched it off.
    pub disabled: bool,
    /// When it was registered.
    pub created: Timestamp,
}

/// An agent whose credential was verified, and by which credential.
#[derive(Debug, Clone)]
pub struct Principal {
    /// The agent.
    pub agent: Arc<Agent>,
    /// The token it came with; none on stdio, where the owner started the process.
    pub token: Option<TokenId>,
}
