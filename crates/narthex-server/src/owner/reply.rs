//! What comes back to an owner.

use narthex_core::{
    AgentId, AgentKind, ChangeAction, Conversation, ConversationSummary, EntityType, Grants, Mode,
    PageDraft, PageId, PageRevision, PageSummary, PageView, ProposalId, ProposalStatus, Slug,
    SpaceId, Taint, Tier, Timestamp, Title, TokenId, TokenLabel,
};
use narthex_store::chain::Record;
use serde::{Deserialize, Serialize};

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
    /// Records exactly as stored.
    Stored(Vec<StoredLine>),
    /// How the house is.
    Status(Status),
    /// Who a stdio process speaks for.
    Stdio(StdioIdentity),
}

/// A space, with how full it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceInfo {
    /// Its id.
    pub id: SpaceId,
    /// Its slug.
    pub slug: Slug,
    /// Its name.
    pub name: Title,
    /// The highest tier allowed in it, if set.
    pub ceiling: Option<Tier>,
    /// How many pages it has.
    pub pages: u64,
    /// When it was made.
    pub created: Timestamp,
}

/// A page that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageWritten {
    /// Its id.
    pub id: PageId,
    /// Its slug.
    pub slug: String,
    /// The space it is in.
    pub space: Slug,
    /// Its revision now.
    pub revision: u32,
}

/// What became of an imported page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Imported {
    /// It is new.
    Created,
    /// It said something else before.
    Updated,
    /// It said the same.
    Unchanged,
}

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
    /// The ceiling in force: the lowest of mode, space and agent.
    pub effective_ceiling: Tier,
    /// Whether it is switched off.
    pub disabled: bool,
    /// Tokens that open something now.
    pub live_tokens: usize,
    /// Proposals that wait.
    pub open_proposals: usize,
    /// When it was registered.
    pub created: Timestamp,
}

/// A new token. Not `Debug`-printed anywhere: it holds the secret.
#[derive(Clone, Serialize, Deserialize)]
pub struct TokenCreated {
    /// Its public id.
    pub id: TokenId,
    /// Whose.
    pub agent: Slug,
    /// What it is called.
    pub label: TokenLabel,
    /// The token itself, shown this once.
    pub token: String,
    /// When it ends by itself.
    pub expires: Option<Timestamp>,
}

impl std::fmt::Debug for TokenCreated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenCreated").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A token as the owner sees it later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenInfo {
    /// Its public id.
    pub id: TokenId,
    /// Whose.
    pub agent: Slug,
    /// What it is called.
    pub label: TokenLabel,
    /// live, expired or revoked.
    pub state: String,
    /// When it was made.
    pub created: Timestamp,
    /// When it ends by itself.
    pub expires: Option<Timestamp>,
    /// When it was ended.
    pub revoked: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub last_used: Option<Timestamp>,
}

/// A token that was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRevoked {
    /// Which.
    pub id: TokenId,
    /// False if it had been ended before.
    pub now: bool,
}

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
    /// The page's slug.
    pub slug: Option<String>,
    /// The page, if it exists.
    pub page: Option<PageId>,
    /// The revision it was made against.
    pub base_revision: Option<u32>,
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
    /// The change as a unified diff of the markdown with its front matter.
    pub diff: String,
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
    /// Whether the store answers.
    pub store: bool,
    /// Whether the ledger can be written.
    pub ledger: bool,
    /// Whether a policy is in force.
    pub policy: bool,
    /// How many policies.
    pub policies: usize,
    /// How many records.
    pub records: u64,
    /// How many spaces, agents, and proposals that wait.
    pub spaces: usize,
    /// Agents.
    pub agents: usize,
    /// Proposals that wait.
    pub open_proposals: usize,
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
    /// The house cannot do it now.
    Unavailable,
    /// Our own fault.
    Internal,
}
