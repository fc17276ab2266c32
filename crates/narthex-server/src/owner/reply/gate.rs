//! What is stopped, what was taken in, which posture holds.

use narthex_core::{
    AgentId, CallId, EngagedBy, Mode, Slug, SpaceId, SwitchScope, Taint, Timestamp,
};
use serde::{Deserialize, Serialize};

/// A kill switch that is engaged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopInfo {
    /// What it stops.
    pub scope: SwitchScope,
    /// What people call that: a space's or an agent's slug, a server's name.
    pub name: Option<Slug>,
    /// Who or what engaged it.
    pub by: EngagedBy,
    /// Why.
    pub note: String,
    /// When.
    pub at: Timestamp,
}

/// Everything that is stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stops {
    /// The switches that are engaged.
    pub engaged: Vec<StopInfo>,
    /// The file that stops everything while it is there.
    pub stop_file: String,
    /// Whether it is there.
    pub stop_file_there: bool,
}

/// Something was stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// What.
    pub scope: SwitchScope,
    /// What people call that.
    pub name: Option<Slug>,
    /// False if it was stopped before.
    pub now: bool,
    /// What keeps it stopped.
    pub kept: Kept,
}

/// What keeps something stopped when the process ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// The store, with a record in the ledger.
    Store,
    /// A file, because the store could not be written. It stops everything.
    StopFile(String),
}

/// Something is no longer stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// What.
    pub scope: SwitchScope,
    /// What people call that.
    pub name: Option<Slug>,
    /// What is still stopped.
    pub still: Vec<StopInfo>,
}

/// The server's posture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModeInfo {
    /// In force.
    pub mode: Mode,
    /// The highest that the settings allow.
    pub settings: Mode,
    /// What it was before, if it was changed now.
    pub before: Option<Mode>,
}

/// What an agent has taken in, in one space.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatchInfo {
    /// Whose.
    pub agent: Slug,
    /// Its id.
    pub agent_id: AgentId,
    /// Where; the companion across all spaces has none.
    pub space: Option<Slug>,
    /// That space's id.
    pub space_id: Option<SpaceId>,
    /// What set `private`: owner data.
    pub private: Option<CauseInfo>,
    /// What set `untrusted`: text the owner did not write.
    pub untrusted: Option<CauseInfo>,
}

impl LatchInfo {
    /// What is set.
    pub const fn taint(&self) -> Taint {
        Taint { private: self.private.is_some(), untrusted: self.untrusted.is_some() }
    }
}

/// What set a latch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CauseInfo {
    /// The surface that answered.
    pub surface: String,
    /// The tool, resource or prompt.
    pub tool: String,
    /// The call, as the ledger knows it.
    pub call: CallId,
    /// What it was about: kind and id.
    pub about: Option<String>,
    /// When it was set first.
    pub first: Timestamp,
    /// When it was last set again.
    pub last: Timestamp,
    /// When it opens by itself, where a window is configured.
    pub until: Option<Timestamp>,
}
