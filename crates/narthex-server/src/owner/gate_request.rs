//! What an owner can ask of the gate: approvals, kill switches, posture and ceilings, taint.

use narthex_core::{Digest, Mode, Tier, ToolName};
use serde::{Deserialize, Serialize};

use super::budget::BudgetChange;
use super::reply::Nonce;

/// Requests for approval.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum ApprovalRequest {
    /// Those that wait, newest first; all of them if asked for.
    List {
        /// Only of this agent.
        agent: Option<String>,
        /// In every state.
        all: bool,
        /// At most so many.
        limit: u32,
    },
    /// One, with everything an owner needs to decide.
    Show {
        /// Which.
        approval: String,
    },
    /// The owner's answer.
    Answer {
        /// To which.
        approval: String,
        /// What was shown to the owner.
        digest: Digest,
        /// Yes or no.
        answer: Answer,
    },
}

/// The owner's answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Yes, once.
    Approve {
        /// What was typed, where the call cannot be undone.
        nonce: Option<Nonce>,
    },
    /// No.
    Deny {
        /// Why, for the agent to read.
        reason: Option<String>,
    },
}

/// Kill switches.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum SwitchRequest {
    /// What is stopped.
    List,
    /// Stops something, durably, before it answers.
    Engage {
        /// What.
        scope: StopScope,
        /// Why.
        reason: Option<String>,
    },
    /// Lets it go on.
    Lift {
        /// What.
        scope: StopScope,
    },
}

/// What is to be stopped, as the person named it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopScope {
    /// Every call of every agent.
    Everything,
    /// Every call in one space.
    Space(String),
    /// Every call of one agent.
    Agent(String),
    /// Every call that reaches one upstream server.
    Server(String),
}

/// What holds for the house, an agent or a space.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum SettingRequest {
    /// The posture.
    Mode,
    /// Another posture.
    SetMode {
        /// Which.
        mode: Mode,
    },
    /// Another ceiling, budget or tier of a tool for an agent; what is absent stays as it is.
    SetAgent {
        /// Which.
        agent: String,
        /// The highest tier it may reach.
        ceiling: Option<Tier>,
        /// What it may use up.
        budget: Option<BudgetChange>,
        /// Tools that get another tier for it, or with none the one they declare.
        tool_tiers: Vec<(ToolName, Option<Tier>)>,
    },
    /// Another ceiling for a space, or none of its own.
    SetSpace {
        /// Which.
        space: String,
        /// The highest tier allowed in it.
        ceiling: Option<Tier>,
    },
}

/// What agents have taken in.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum TaintRequest {
    /// Every latch that is set.
    Show {
        /// Only of this agent.
        agent: Option<String>,
    },
    /// Opens an agent's latches.
    Clear {
        /// Whose.
        agent: String,
        /// Only in this space.
        space: Option<String>,
        /// What the agent saw of the owner's data.
        private: bool,
        /// What it saw that the owner did not write.
        untrusted: bool,
    },
}
