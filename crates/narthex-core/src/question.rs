//! What policy is asked.

use serde::{Deserialize, Serialize};

use crate::{Capability, ChangeAction, EntityType, SpaceId};

/// The actions policy knows. A new tool names one of them, or adds one here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyAction {
    /// Full-text search.
    Search,
    /// Read one thing.
    Read,
    /// Look around the space.
    Context,
    /// Propose that something be made.
    Create,
    /// Propose that something be changed.
    Update,
    /// Propose that something be taken away.
    Delete,
}

impl PolicyAction {
    /// Every action.
    pub const ALL: [Self; 6] =
        [Self::Search, Self::Read, Self::Context, Self::Create, Self::Update, Self::Delete];

    /// The word in policy.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Read => "read",
            Self::Context => "context",
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }

    /// The capability it falls under.
    pub const fn capability(self) -> Capability {
        match self {
            Self::Search | Self::Read | Self::Context => Capability::Read,
            Self::Create | Self::Update | Self::Delete => Capability::Suggest,
        }
    }
}

impl From<ChangeAction> for PolicyAction {
    fn from(action: ChangeAction) -> Self {
        match action {
            ChangeAction::Create => Self::Create,
            ChangeAction::Update => Self::Update,
            ChangeAction::Delete => Self::Delete,
        }
    }
}

/// What it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// Something in a space.
    Space(SpaceId),
    /// Something that belongs to the house and to no space.
    House,
}

/// One question to policy. Who asks comes with it from the gate, never from the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Question {
    /// What would be done.
    pub action: PolicyAction,
    /// To what kind of thing.
    pub entity_type: EntityType,
    /// Where.
    pub target: Target,
}
