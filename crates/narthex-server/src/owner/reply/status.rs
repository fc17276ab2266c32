//! How the house is.

use narthex_core::Mode;
use serde::{Deserialize, Serialize};

use super::Stops;
use crate::FollowerStatus;

/// How the house is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The program's version.
    pub version: String,
    /// The process that holds the data directory.
    pub pid: u32,
    /// What it is: `serve`, `stdio`, or the command itself.
    pub holder: String,
    /// Where agents connect, if it listens.
    pub mcp_url: Option<String>,
    /// The server's posture.
    pub mode: Mode,
    /// The highest posture that the settings allow.
    pub settings_mode: Mode,
    /// What is stopped.
    pub stops: Stops,
    /// Whether the store answers.
    pub store: bool,
    /// Whether the ledger can be written.
    pub ledger: bool,
    /// Why it cannot, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger_trouble: Option<String>,
    /// Whether a policy is in force.
    pub policy: bool,
    /// How many policies.
    pub policies: usize,
    /// How many records.
    pub records: u64,
    /// Who follows the ledger, and how far they are.
    #[serde(default)]
    pub followers: Vec<FollowerStatus>,
    /// How many spaces, agents, and proposals that wait.
    pub spaces: usize,
    /// Agents.
    pub agents: usize,
    /// Agents that have taken something in.
    pub tainted_agents: usize,
    /// Proposals that wait.
    pub open_proposals: usize,
    /// Calls that wait for the owner's approval.
    pub waiting_approvals: usize,
    /// Legacy sessions that are open; none where they are not kept.
    pub sessions: Option<usize>,
    /// Other people's servers; none while they are off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<ServersStatus>,
}

/// How other people's servers are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServersStatus {
    /// Each of them.
    pub servers: Vec<ServerStatus>,
    /// Why the file that names them cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// How one of them is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerStatus {
    /// Its name.
    pub name: String,
    /// idle, connecting, connected or error.
    pub state: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// One part of the house's own state, looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Which part.
    pub what: String,
    /// What was found, if it is as it should be; otherwise what is wrong.
    pub found: Result<String, String>,
}
