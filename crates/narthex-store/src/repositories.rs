//! What can be read. The space leads every key: there is no way to fetch first and check later.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use narthex_core::{
    Agent, AgentId, Approval, ApprovalId, ApprovalStatus, Conversation, ConversationId,
    ConversationSummary, Digest, Holder, Latch, Mode, PageId, PageKey, PageRevision, PageSummary,
    PageView, ParkedRun, Proposal, ProposalId, ProposalStatus, RunId, ServerBook, Slug, Space,
    SpaceId, Spent, Switches, Taint, TokenId, TokenSummary,
};

use crate::chain::{Head, Seal, StoredRecord};
use crate::{SearchQuery, StoreError};

/// Spaces.
#[async_trait]
pub trait Spaces: Debug + Send + Sync {
    /// By id.
    async fn space(&self, id: SpaceId) -> Result<Option<Space>, StoreError>;
    /// By slug.
    async fn space_by_slug(&self, slug: &Slug) -> Result<Option<Space>, StoreError>;
    /// All, by slug.
    async fn spaces(&self) -> Result<Vec<Space>, StoreError>;
}

/// A page that a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The page.
    pub page: PageSummary,
    /// Where it matched, with the match between `**` and `**`.
    pub snippet: String,
    /// How well, higher is better; only ever computed from this one space.
    pub score: f64,
}

/// Which revisions are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RevisionFilter {
    /// All, newest first.
    All,
    /// Just this one.
    Number(u32),
}

/// Pages of one space.
#[async_trait]
pub trait Pages: Debug + Send + Sync {
    /// A page with its links and backlinks.
    async fn page(&self, space: SpaceId, key: &PageKey) -> Result<Option<PageView>, StoreError>;
    /// Pages by slug, from after `after` on.
    async fn pages(
        &self,
        space: SpaceId,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<PageSummary>, StoreError>;
    /// How many there are.
    async fn page_count(&self, space: SpaceId) -> Result<u64, StoreError>;
    /// What was written last, newest first.
    async fn recent_pages(
        &self,
        space: SpaceId,
        limit: u32,
    ) -> Result<Vec<PageSummary>, StoreError>;
    /// A page's revisions; they outlive the page.
    async fn revisions(
        &self,
        space: SpaceId,
        page: PageId,
        filter: RevisionFilter,
    ) -> Result<Vec<PageRevision>, StoreError>;
    /// Full-text search, best first. All terms must match; if no page has them all, any may.
    async fn search(
        &self,
        space: SpaceId,
        query: &SearchQuery,
        limit: u32,
    ) -> Result<Vec<Hit>, StoreError>;
}

/// Agents.
#[async_trait]
pub trait Agents: Debug + Send + Sync {
    /// By id.
    async fn agent(&self, id: AgentId) -> Result<Option<Agent>, StoreError>;
    /// By slug.
    async fn agent_by_slug(&self, slug: &Slug) -> Result<Option<Agent>, StoreError>;
    /// All, by slug.
    async fn agents(&self) -> Result<Vec<Agent>, StoreError>;
}

/// A token with what is needed to verify it.
#[derive(Debug, Clone)]
pub struct TokenRecord {
    /// What may be shown.
    pub summary: TokenSummary,
    /// The keyed hash of its secret.
    pub keyed_hash: [u8; 32],
    /// Whose it is.
    pub agent: Agent,
}

/// Agents' tokens.
#[async_trait]
pub trait Tokens: Debug + Send + Sync {
    /// By its public id, live or not.
    async fn token(&self, id: TokenId) -> Result<Option<TokenRecord>, StoreError>;
    /// An agent's, oldest first; everyone's if no agent is named.
    async fn tokens(&self, agent: Option<AgentId>) -> Result<Vec<TokenSummary>, StoreError>;
}

/// Which proposals are wanted.
#[derive(Debug, Clone, Default)]
pub struct ProposalFilter {
    /// Only in this space.
    pub space: Option<SpaceId>,
    /// Only by this agent.
    pub agent: Option<AgentId>,
    /// Only in one of these states; all if empty.
    pub statuses: Vec<ProposalStatus>,
    /// At most so many.
    pub limit: u32,
}

/// Proposals.
#[async_trait]
pub trait Proposals: Debug + Send + Sync {
    /// By id.
    async fn proposal(&self, id: ProposalId) -> Result<Option<Proposal>, StoreError>;
    /// Newest first.
    async fn proposals(&self, filter: &ProposalFilter) -> Result<Vec<Proposal>, StoreError>;
}

/// Which requests for approval are wanted.
#[derive(Debug, Clone, Default)]
pub struct ApprovalFilter {
    /// Only of this agent.
    pub agent: Option<AgentId>,
    /// Only in one of these states; all if empty.
    pub statuses: Vec<ApprovalStatus>,
    /// At most so many.
    pub limit: u32,
}

/// Requests for approval.
#[async_trait]
pub trait Approvals: Debug + Send + Sync {
    /// By id.
    async fn approval(&self, id: ApprovalId) -> Result<Option<Approval>, StoreError>;
    /// The newest of exactly this call.
    async fn approval_of(
        &self,
        holder: Holder,
        digest: Digest,
    ) -> Result<Option<Approval>, StoreError>;
    /// Newest first.
    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, StoreError>;
}

/// Runs of agents' programs that wait for the owner.
#[async_trait]
pub trait ParkedRuns: Debug + Send + Sync {
    /// By id, if it is the holder's.
    async fn parked_run(&self, holder: Holder, id: RunId) -> Result<Option<ParkedRun>, StoreError>;
    /// The holder's, oldest first; everyone's if none is named.
    async fn parked_runs(&self, holder: Option<Holder>) -> Result<Vec<ParkedRun>, StoreError>;
    /// One of the holder's that was asked with exactly this, the newest.
    async fn parked_run_asked(
        &self,
        holder: Holder,
        asked: Digest,
    ) -> Result<Option<ParkedRun>, StoreError>;
}

/// What the gate remembers of agents: read on every call, so a back end keeps it at hand.
#[async_trait]
pub trait GateBooks: Debug + Send + Sync {
    /// What an agent has taken in.
    async fn latch(&self, holder: Holder) -> Result<Latch, StoreError>;
    /// What the agent has taken in, in this space or in any other: asked on every call. Most have
    /// one space; the companion is started for one or for all, and sheds nothing by that.
    async fn taint(&self, holder: Holder) -> Result<Taint, StoreError> {
        let latches = self.latches_of(holder.agent).await?;
        Ok(latches.iter().fold(Taint::CLEAN, |taint, (_, latch)| taint.and(latch.taint())))
    }
    /// An agent's latches that are set.
    async fn latches_of(&self, agent: AgentId) -> Result<Vec<(Holder, Latch)>, StoreError> {
        let latches = self.latches().await?;
        Ok(latches.into_iter().filter(|(holder, _)| holder.agent == agent).collect())
    }
    /// Every latch that is set.
    async fn latches(&self) -> Result<Vec<(Holder, Latch)>, StoreError>;
    /// What an agent has used up lately.
    async fn spent(&self, holder: Holder) -> Result<Spent, StoreError>;
    /// The kill switches that are engaged. If that cannot be said, everything is stopped.
    async fn switches(&self) -> Result<Switches, StoreError>;
    /// What the owner has approved of other people's servers.
    async fn servers(&self) -> Result<Arc<ServerBook>, StoreError>;
    /// The text of a definition that was approved once, by its digest.
    async fn definition(&self, digest: Digest) -> Result<Option<String>, StoreError>;
    /// The posture noted last, and what the owner chose while it ran.
    async fn noted_mode(&self) -> Result<Option<(Mode, Option<Mode>)>, StoreError>;
}

/// Whether rows that decide something are those that were written.
#[async_trait]
pub trait Soundness: Debug + Send + Sync {
    /// Agents, tokens, spaces, approvals and proposals that were changed, put back or taken away
    /// from outside, each in a line. They are served nowhere.
    async fn damaged_rows(&self) -> Result<Vec<String>, StoreError>;
    /// The newest record of a start that found such rows, or others of the gate's state, and
    /// stopped everything.
    async fn newest_damage(&self) -> Result<Option<StoredRecord>, StoreError>;
}

/// The owner's conversations.
#[async_trait]
pub trait Conversations: Debug + Send + Sync {
    /// By id.
    async fn conversation(&self, id: ConversationId) -> Result<Option<Conversation>, StoreError>;
    /// Newest first.
    async fn conversations(&self, limit: u32) -> Result<Vec<ConversationSummary>, StoreError>;
}

/// The ledger, for reading.
#[async_trait]
pub trait LedgerReader: Debug + Send + Sync {
    /// Records from this number on, in order. One that does not chain with its neighbours is
    /// damage, and none of them is served.
    async fn records(&self, from: u64, limit: u32) -> Result<Vec<StoredRecord>, StoreError>;
    /// The head as the store keeps it beside the records.
    async fn head(&self) -> Result<Option<Head>, StoreError>;
    /// The value of the chain at a record.
    async fn hash_at(&self, seq: u64) -> Result<Option<Digest>, StoreError>;
    /// Checkpoints from this size on, in order.
    async fn seals(&self, from: u64, limit: u32) -> Result<Vec<Seal>, StoreError>;
    /// The newest checkpoint.
    async fn newest_seal(&self) -> Result<Option<Seal>, StoreError>;
    /// What stands for the records that the owner took out.
    async fn base(&self) -> Result<Option<Seal>, StoreError>;
}
