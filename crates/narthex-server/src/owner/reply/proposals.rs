//! Proposals.

use narthex_core::{
    ChangeAction, EntityType, PageDraft, PageId, ProposalId, ProposalStatus, Slug, Taint, Timestamp,
};
use serde::{Deserialize, Serialize};

use super::merges::{MergeChange, MergeInfo, Merged};

/// A proposal in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposalInfo {
    /// Its id.
    pub id: ProposalId,
    /// Who asked.
    pub agent: Slug,
    /// Where.
    pub space: Slug,
    /// What kind of thing.
    pub entity_type: EntityType,
    /// What it would do.
    pub action: ChangeAction,
    /// The page's slug, or the graph's, or the server's name.
    pub slug: Option<String>,
    /// The page, if it exists.
    pub page: Option<PageId>,
    /// The revision it was made against.
    pub base_revision: Option<u32>,
    /// The merge it asks for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub merge: Option<MergeInfo>,
    /// Why, in the agent's words.
    pub reason: String,
    /// What the agent had taken in.
    pub taint: Taint,
    /// What became of it.
    pub status: ProposalStatus,
    /// Why it was rejected, or what it conflicted with.
    pub note: Option<String>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was decided.
    pub decided: Option<Timestamp>,
}

/// A proposal with what it would change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposalDetail {
    /// The proposal.
    #[serde(flatten)]
    pub info: ProposalInfo,
    /// What the page said at the revision the proposal was made against.
    pub base: Option<PageDraft>,
    /// What the page says now, if it is still there.
    pub current: Option<PageDraft>,
    /// The revision it is at now.
    pub current_revision: Option<u32>,
    /// What it would say.
    pub proposed: Option<PageDraft>,
    /// The change as a unified diff of the markdown with its front matter; of a merge, that of the
    /// schema.
    pub diff: String,
    /// What a merge would change in the rows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub change: Option<MergeChange>,
    /// The server that is asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub server: Option<RequestedServer>,
}

/// A server that an agent asks for, as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedServer {
    /// How it stands.
    pub stands: ServerStands,
    /// What else would keep it from being started.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trouble: Option<String>,
    /// The agent's profiles.
    pub profiles: Vec<Slug>,
    /// Those of them that have the server.
    pub given: Vec<Slug>,
}

/// How a server stands that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerStands {
    /// There are none: they are turned off.
    ServersOff,
    /// The file that names them cannot be read.
    FileUnreadable,
    /// The file does not name it.
    NotInFile,
    /// Its start is not approved, or nothing of what it offers.
    NotApproved,
    /// What would be started is another than was approved.
    StartChanged,
    /// It is approved and switched off.
    Disabled,
    /// The file says that it is disabled.
    DisabledInFile,
    /// It is approved.
    Ready,
}

/// A proposal that was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// Which.
    pub id: ProposalId,
    /// What became of it.
    pub status: ProposalStatus,
    /// The page it made or changed.
    pub page: Option<PageId>,
    /// Its revision now.
    pub revision: Option<u32>,
    /// What a merge came to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub merged: Option<Merged>,
    /// The server that was asked for, and may be used.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub let_in: Option<LetIn>,
}

/// A server that an agent asked for and the owner said yes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LetIn {
    /// Its name.
    pub server: Slug,
    /// Whether it was disabled until now.
    pub enabled: bool,
    /// The agent's profiles that have it; without one the agent has it not.
    pub given: Vec<Slug>,
}
