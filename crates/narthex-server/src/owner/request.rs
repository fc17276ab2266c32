//! What an owner can ask of a house.
//!
//! The same values go through the local socket when a server holds the data directory, and
//! straight into [`super::Desk`] when none does: the person at the keyboard sees no difference.
//! Names (`space`, `agent`, `page`) are slugs or ids, as the person typed them.

use narthex_core::{ChangeAction, EntityType, PageDraft, ProposalStatus, Tier};
use narthex_graph::merge::Asked;
use serde::{Deserialize, Serialize};

use super::code::CodeRequest;
use super::gate_request::{ApprovalRequest, SettingRequest, SwitchRequest, TaintRequest};
use super::graph_request::GraphRequest;
use super::sealed::LedgerRequest;
use super::server_request::ServerRequest;

/// Something an owner asks for.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Request {
    /// Makes a space.
    SpaceAdd {
        /// Its slug.
        slug: String,
        /// Its name; the slug if absent.
        name: Option<String>,
    },
    /// All spaces.
    SpaceList,
    /// One space.
    SpaceShow {
        /// Which.
        space: String,
    },
    /// Makes a page.
    PageAdd {
        /// Where.
        space: String,
        /// Its slug; made from the title if absent.
        slug: Option<String>,
        /// Its title.
        title: String,
        /// Its markdown.
        body: String,
        /// Its tags.
        tags: Vec<String>,
    },
    /// Changes a page; absent fields stay as they are.
    PageEdit {
        /// Where.
        space: String,
        /// Which.
        page: String,
        /// The revision the owner saw; the current one if absent.
        base: Option<u32>,
        /// A new slug.
        slug: Option<String>,
        /// A new title.
        title: Option<String>,
        /// New markdown.
        body: Option<String>,
        /// New tags, all of them.
        tags: Option<Vec<String>>,
    },
    /// One page with its links.
    PageShow {
        /// Where.
        space: String,
        /// Which.
        page: String,
    },
    /// A page's revisions, newest first; they outlive the page, so an id works when it is gone.
    PageHistory {
        /// Where.
        space: String,
        /// Which.
        page: String,
    },
    /// Pages by slug.
    PageList {
        /// Where.
        space: String,
        /// From after this slug on.
        after: Option<String>,
        /// At most so many.
        limit: u32,
    },
    /// Takes a page away; its history stays.
    PageDelete {
        /// Where.
        space: String,
        /// Which.
        page: String,
    },
    /// Moves a page to another space.
    PageMove {
        /// Where it is.
        space: String,
        /// Which.
        page: String,
        /// Where it goes.
        to: String,
    },
    /// Writes many pages by slug; at most [`MAX_IMPORT_BATCH`] at a time.
    PageImport {
        /// Where.
        space: String,
        /// What.
        pages: Vec<PageDraft>,
    },
    /// Registers an agent.
    AgentAdd {
        /// Its slug.
        slug: String,
        /// Its name; the slug if absent.
        name: Option<String>,
        /// The one space it is bound to. Absent makes an agent that is refused everywhere.
        space: Option<String>,
        /// The model behind it, for display.
        model: Option<String>,
        /// What it is given (`read`, `suggest`, `suggest:update:page`); read and suggest if absent.
        grants: Option<Vec<String>>,
        /// The highest tier it may reach; T1 if absent.
        ceiling: Option<Tier>,
    },
    /// All agents.
    AgentList,
    /// One agent.
    AgentShow {
        /// Which.
        agent: String,
    },
    /// Switches an agent off or on.
    AgentDisable {
        /// Which.
        agent: String,
        /// Off or on.
        disabled: bool,
    },
    /// Makes a token; the answer is the only time its secret is shown.
    TokenCreate {
        /// For whom.
        agent: String,
        /// What to call it.
        label: Option<String>,
        /// Seconds until it ends by itself.
        expires_in: Option<u64>,
    },
    /// An agent's tokens, or everyone's.
    TokenList {
        /// Whose.
        agent: Option<String>,
    },
    /// Ends a token, at once.
    TokenRevoke {
        /// Which, by its id.
        token: String,
    },
    /// Proposals, newest first.
    InboxList {
        /// Only in this space.
        space: Option<String>,
        /// Only in these states; what is open (pending, conflict) if empty.
        statuses: Vec<ProposalStatus>,
        /// At most so many.
        limit: u32,
    },
    /// One proposal with what it would change.
    InboxShow {
        /// Which.
        proposal: String,
    },
    /// Applies a proposal, exactly once.
    InboxApprove {
        /// Which.
        proposal: String,
    },
    /// The same of a merge, saying how rows are to be that cannot be merged otherwise.
    InboxResolve {
        /// Which.
        proposal: String,
        /// What each row is to be.
        resolutions: Vec<Asked>,
    },
    /// Says no to a proposal.
    InboxReject {
        /// Which.
        proposal: String,
        /// Why, for the agent to read.
        reason: String,
    },
    /// Keeps a conversation.
    ConversationAdd {
        /// Its title.
        title: String,
        /// Its text.
        body: String,
    },
    /// Conversations, newest first.
    ConversationList {
        /// At most so many.
        limit: u32,
    },
    /// One conversation.
    ConversationShow {
        /// Which.
        conversation: String,
    },
    /// Which policy allows or denies an agent a tool.
    PolicyExplain {
        /// Who.
        agent: String,
        /// Which tool (`search`, `read`, `context`, `propose_change`).
        tool: String,
        /// For propose_change: create, update or delete; all if absent.
        action: Option<ChangeAction>,
        /// The kind of thing; a page if absent.
        entity_type: Option<EntityType>,
        /// The space it is about; the agent's own if absent.
        space: Option<String>,
    },
    /// The newest records, oldest of them first.
    LedgerTail {
        /// How many.
        count: u32,
    },
    /// Records in order, as they are stored, for export.
    LedgerRead {
        /// From this number on.
        from: u64,
        /// At most so many.
        limit: u32,
    },
    /// Requests for approval.
    Approval(ApprovalRequest),
    /// Kill switches.
    Switch(SwitchRequest),
    /// Posture, ceilings and budgets.
    Setting(SettingRequest),
    /// What agents have taken in.
    Taint(TaintRequest),
    /// The sealed ledger.
    Ledger(LedgerRequest),
    /// Graphs.
    Graph(GraphRequest),
    /// Other people's servers.
    Server(ServerRequest),
    /// Programs.
    Code(CodeRequest),
    /// How the house is.
    Status,
    /// Whether the house can read its own state.
    Check,
    /// The companion's id, registering it if it is not there yet; for `narthex stdio`.
    Companion {
        /// The space to bind it to.
        space: Option<String>,
    },
    /// An agent's id, for `narthex stdio`; refused if it is disabled or bound to no space.
    StdioAgent {
        /// Which.
        agent: String,
    },
}

/// Pages that one import request may carry.
pub const MAX_IMPORT_BATCH: usize = 200;
