//! Agents, with everything the gate holds against them.

use narthex_core::{
    AgentId, AgentKind, Budget, Grants, Mode, Slug, SpaceId, Taint, Tier, Timestamp, Title,
    ToolTiers, Usage,
};
use serde::{Deserialize, Serialize};

use super::{LatchInfo, StopInfo};

/// An agent as the owner sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentInfo {
    /// Its id.
    pub id: AgentId,
    /// Its slug.
    pub slug: Slug,
    /// Its name.
    pub name: Title,
    /// What sort of agent.
    pub kind: AgentKind,
    /// The model behind it.
    pub model: Option<String>,
    /// The slug of the space it is bound to.
    pub space: Option<Slug>,
    /// That space's id.
    pub space_id: Option<SpaceId>,
    /// What it was given.
    pub grants: Grants,
    /// The highest tier it may reach.
    pub ceiling: Tier,
    /// Tools that have another tier for it than they declare.
    pub tool_tiers: ToolTiers,
    /// The highest tier allowed in its space, if set.
    pub space_ceiling: Option<Tier>,
    /// The server's posture.
    pub mode: Mode,
    /// The ceiling in force: the lowest of mode, space and agent.
    pub effective_ceiling: Tier,
    /// Whether it is switched off.
    pub disabled: bool,
    /// Tokens that open something now.
    pub live_tokens: usize,
    /// Proposals that wait.
    pub open_proposals: usize,
    /// Calls that wait for the owner's approval.
    pub waiting_approvals: usize,
    /// What stops it now: everything, its space, or itself.
    pub stops: Vec<StopInfo>,
    /// What it has taken in, with what set it; one for each space it did so in.
    pub latches: Vec<LatchInfo>,
    /// What it may use up, and what it has.
    pub budget: BudgetInfo,
    /// Its legacy sessions that are open.
    pub sessions: Vec<SessionSeen>,
    /// When it was registered.
    pub created: Timestamp,
}

impl AgentInfo {
    /// What it has taken in, wherever it did.
    pub fn taint(&self) -> Taint {
        self.latches.iter().fold(Taint::CLEAN, |sum, latch| sum.and(latch.taint()))
    }
}

/// What an agent may use up, and what it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetInfo {
    /// Whether the owner gave it a budget of its own.
    pub own: bool,
    /// What it may use up in a window.
    pub limits: Budget,
    /// What it has used up in the window that ends now.
    pub used: Usage,
}

/// A legacy session that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSeen {
    /// Seconds it has been open.
    pub open_seconds: u64,
    /// Seconds nothing was heard in it.
    pub idle_seconds: u64,
}
