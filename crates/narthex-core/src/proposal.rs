//! A change an agent asks for.

use serde::{Deserialize, Serialize};

use crate::{
    AgentId, Bound, BranchName, CommitId, GraphId, PageDraft, PageId, ProposalId, Slug, SpaceId,
    Taint, TextError, Timestamp, clean_line,
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
    /// Let it be used.
    Enable,
}

impl ChangeAction {
    /// Every action.
    pub const ALL: [Self; 5] =
        [Self::Create, Self::Update, Self::Delete, Self::Merge, Self::Enable];

    /// The word on the wire, in policy and in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Merge => "merge",
            Self::Enable => "enable",
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
    /// The upstream server that is asked for (of a server only).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub server: Option<Slug>,
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

impl Proposal {
    /// An agent asks for a server of somebody else's: that the owner look at it and let it be used.
    /// The reason must be one clean line. Whether the agent may ask for this server is for whoever
    /// makes this to know.
    pub fn for_server(
        id: ProposalId,
        agent: AgentId,
        space: SpaceId,
        server: Slug,
        reason: &str,
        taint: Taint,
        created: Timestamp,
    ) -> Result<Self, TextError> {
        Ok(Self {
            id,
            agent,
            space,
            entity_type: EntityType::Server,
            action: ChangeAction::Enable,
            page: None,
            base_revision: None,
            draft: None,
            merge: None,
            server: Some(server),
            reason: clean_line("reason", reason, Bound::REASON_CHARS)?,
            taint,
            status: ProposalStatus::Pending,
            note: None,
            created,
            decided: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{ChangeAction, EntityType, Proposal};
    use crate::{AgentId, PolicyAction, ProposalId, SpaceId, Taint, TextError, Timestamp};

    fn asked(reason: &str) -> Result<Proposal, TextError> {
        Proposal::for_server(
            ProposalId::from_bytes(&[1; 16]).unwrap(),
            AgentId::from_bytes(&[2; 16]).unwrap(),
            SpaceId::from_bytes(&[3; 16]).unwrap(),
            "web".parse().unwrap(),
            reason,
            Taint::CLEAN,
            Timestamp::from_millis(4),
        )
    }

    #[test]
    fn a_server_is_asked_for_by_its_name_and_for_a_reason_in_one_line() {
        let proposal = asked(" to look things up ").unwrap();
        assert_eq!(proposal.reason, "to look things up");
        assert_eq!(
            (proposal.entity_type, proposal.action),
            (EntityType::Server, ChangeAction::Enable)
        );
        assert_eq!(PolicyAction::from(proposal.action), PolicyAction::UseServer);
        for unclean in ["", " ", "a\nb", "\u{1b}[2J", "\u{202e}x"] {
            assert!(asked(unclean).is_err(), "{unclean:?}");
        }
        let text = serde_json::to_string(&proposal).unwrap();
        assert!(text.contains(r#""server":"web""#) && !text.contains("merge"), "{text}");
        assert_eq!(serde_json::from_str::<Proposal>(&text).unwrap(), proposal);
    }
}
