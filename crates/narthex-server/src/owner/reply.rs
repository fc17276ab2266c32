//! What comes back to an owner.

mod agents;
mod approvals;
mod gate;
mod graphs;
mod merges;
mod proposals;
mod servers;
mod status;
mod things;

pub use agents::{AgentInfo, BudgetInfo, SessionSeen};
pub use approvals::{ApprovalAnswered, ApprovalDetail, ApprovalInfo, Nonce};
pub use gate::{CauseInfo, Kept, LatchInfo, ModeInfo, Resumed, StopInfo, Stopped, Stops};
pub use graphs::{
    BranchShown, CommitShown, ConflictShown, ConflictsShown, DiffPage, DiffRow, GraphChanged,
    GraphGone, GraphReply, GraphShown, LinesPage, ParamShown, QueryAnswer, SchemaShown, StepShown,
    StoredQueryShown, StoredShown, TextFault,
};
pub use merges::{MergeChange, MergeConflict, MergeInfo, MergeRow, Merged, RowFate};
pub use proposals::{Decided, LetIn, ProposalDetail, ProposalInfo, RequestedServer, ServerStands};
pub use servers::{
    ApprovedNow, DefinitionShown, FindingShown, OfferShown, ProfileShown, ServerDetail, ServerLog,
    ServerReply, ServerSeen, ServerShown, ServersListed, ServersSwitched, SignInBegun, SignedInNow,
    StartShown, ToolSeen,
};
pub use status::{Checked, ServerStatus, ServersStatus, Status};
pub use things::{Imported, PageWritten, SpaceInfo, TokenCreated, TokenInfo, TokenRevoked};

use narthex_core::{
    AgentId, Conversation, ConversationSummary, EntityType, PageRevision, PageSummary, PageView,
    SpaceId,
};
use narthex_store::chain::Record;
use serde::{Deserialize, Serialize};

use super::code::CodeReply;
use super::sealed::LedgerReply;

/// What comes back.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "is", content = "value", rename_all = "snake_case")]
pub enum Reply {
    /// A space.
    Space(SpaceInfo),
    /// Spaces.
    Spaces(Vec<SpaceInfo>),
    /// A page.
    Page(Box<PageView>),
    /// Pages.
    Pages(Vec<PageSummary>),
    /// A page's revisions.
    Revisions(Vec<PageRevision>),
    /// A page was written.
    PageWritten(PageWritten),
    /// A page is gone or elsewhere.
    PageGone(PageWritten),
    /// What became of each imported page, in order.
    Imported(Vec<Imported>),
    /// An agent.
    Agent(Box<AgentInfo>),
    /// Agents.
    Agents(Vec<AgentInfo>),
    /// A new token.
    TokenCreated(TokenCreated),
    /// Tokens.
    Tokens(Vec<TokenInfo>),
    /// A token was ended.
    TokenRevoked(TokenRevoked),
    /// Proposals.
    Proposals(Vec<ProposalInfo>),
    /// A proposal with what it would change.
    Proposal(Box<ProposalDetail>),
    /// A proposal was decided.
    Decided(Decided),
    /// A conversation.
    Conversation(Box<Conversation>),
    /// Conversations.
    Conversations(Vec<ConversationSummary>),
    /// Why policy says what it says.
    Explained(Vec<Explained>),
    /// Records.
    Records(Vec<Record>),
    /// Of the sealed ledger.
    Ledger(LedgerReply),
    /// Of other people's servers.
    Server(ServerReply),
    /// About programs.
    Code(CodeReply),
    /// Records exactly as stored.
    Stored(Vec<StoredLine>),
    /// Requests for approval.
    Approvals(Vec<ApprovalInfo>),
    /// A request for approval with everything an owner needs to decide.
    Approval(Box<ApprovalDetail>),
    /// A request for approval was answered.
    ApprovalAnswered(ApprovalAnswered),
    /// What is stopped.
    Stops(Stops),
    /// Something was stopped.
    Stopped(Stopped),
    /// Something is no longer stopped.
    Resumed(Resumed),
    /// The server's posture.
    Mode(ModeInfo),
    /// What agents have taken in.
    Latches(Vec<LatchInfo>),
    /// About graphs.
    Graph(GraphReply),
    /// How the house is.
    Status(Box<Status>),
    /// What a look at the house's own state found.
    Checked(Vec<Checked>),
    /// Who a stdio process speaks for.
    Stdio(StdioIdentity),
}

/// Why policy says what it says about one action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explained {
    /// The tool.
    pub tool: String,
    /// The action policy was asked about.
    pub action: String,
    /// The kind of thing.
    pub entity_type: EntityType,
    /// Where: a space's slug, or the house.
    pub target: String,
    /// What policy says.
    pub permitted: bool,
    /// The policies that said so; none means that no permit matched.
    pub policies: Vec<String>,
    /// What went wrong while deciding.
    pub errors: Vec<String>,
    /// What the whole gate would say: allow, refuse or approval, with the reason.
    pub decision: String,
    /// The reason's code.
    pub reason: String,
}

/// A record exactly as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredLine {
    /// Its number.
    pub seq: u64,
    /// The exact bytes, which are one line of ASCII JSON.
    pub record: String,
    /// The chain's value at this record.
    pub hash: String,
}

/// Who a stdio process speaks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StdioIdentity {
    /// The agent.
    pub agent: AgentId,
    /// Whether it is the companion.
    pub companion: bool,
    /// The space the companion is bound to.
    pub space: Option<SpaceId>,
}

/// A request that could not be carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct OwnerError {
    /// What sort of trouble.
    pub kind: Trouble,
    /// What to tell the person, with the way out where there is one.
    pub message: String,
}

/// Whose trouble it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// What was asked for makes no sense.
    Invalid,
    /// It is not there.
    NotFound,
    /// It changed, or the name is taken.
    Conflict,
    /// What was to prove the owner's intent does not.
    Denied,
    /// The house cannot do it now.
    Unavailable,
    /// Our own fault.
    Internal,
}
