//! A change an agent asks for.

use serde::{Deserialize, Serialize};

use crate::{
    AgentId, BranchName, CommitId, GraphId, PageDraft, PageId, ProposalId, SpaceId, Taint,
    Timestamp,
};

/// What kinds of thing can be read or changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntityType {
    /// A page of a space.
    Page,
    /// A conversation of the owner's; belongs to no space.
    Conversation,
    /// A graph of a space.
    Graph,
    /// An upstream server.
    Server,
    /// A program.
    Code,
}

impl EntityType {
    /// Every entity type.
    pub const ALL: [Self; 5] =
        [Self::Page, Self::Conversation, Self::Graph, Self::Server, Self::Code];

    /// The word on the wire, in policy and in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Conversation => "conversation",
            Self::Graph => "graph",
            Self::Server => "server",
            Self::Code => "code",
        }
    }
}

/// What a proposal would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeAction {
    /// Make a new one.
    Create,
    /// Replace what is there.
    Update,
    /// Take it away.
    Delete,
    /// Bring one branch of it into another.
    Merge,
}

impl ChangeAction {
    /// Every action.
    pub const ALL: [Self; 4] = [Self::Create, Self::Update, Self::Delete, Self::Merge];

    /// The word on the wire, in policy and in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Merge => "merge",
        }
    }
}

/// What became of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProposalStatus {
    /// Waits for the owner.
    Pending,
    /// The owner applied it.
    Applied,
    /// The owner said no.
    Rejected,
    /// The page moved on before the owner could apply it; both texts are kept.
    Conflict,
}

impl ProposalStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Applied, Self::Rejected, Self::Conflict];

    /// The word in storage and output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Applied => "applied",
            Self::Rejected => "rejected",
            Self::Conflict => "conflict",
        }
    }
}

crate::words::words!(EntityType, ChangeAction, ProposalStatus);

/// A merge an agent asks for, of exactly what its branch was when it asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeRequest {
    /// In which graph.
    pub graph: GraphId,
    /// The branch that is brought in.
    pub from: BranchName,
    /// Where it stood.
    pub from_commit: CommitId,
    /// The branch it is brought into.
    pub into: BranchName,
    /// Where that stood.
    pub into_commit: CommitId,
    /// Whether what the merged schema no longer shows may be lost. Left out where it may not, as it
    /// was before anybody could ask for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_data_loss: bool,
}

/// A change an agent asks for; applied by the owner or not at all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// Its id, which the agent gets as `pending_change_id`.
    pub id: ProposalId,
    /// Who asked; stamped by the server.
    pub agent: AgentId,
    /// The space it was asked in; stamped by the server.
    pub space: SpaceId,
    /// What kind of thing it is about.
    pub entity_type: EntityType,
    /// What it would do.
    pub action: ChangeAction,
    /// The page it is about (none for create).
    pub page: Option<PageId>,
    /// The revision it was made against (none for create).
    pub base_revision: Option<u32>,
    /// What the page would be (none for delete).
    pub draft: Option<PageDraft>,
    /// The merge that is asked for (of a graph only).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub merge: Option<MergeRequest>,
    /// Why, in the agent's words.
    pub reason: String,
    /// What the agent had taken in when it asked.
    pub taint: Taint,
    /// What became of it.
    pub status: ProposalStatus,
    /// Why it was rejected, or what it conflicted with.
    pub note: Option<String>,
    /// When it was made.
    pub created: Timestamp,
    /// When the owner decided.
    pub decided: Option<Timestamp>,
}
