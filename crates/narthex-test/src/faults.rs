//! A store that can be told to fail, in front of the real one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use narthex_core::{
    Agent, AgentId, Approval, ApprovalId, Conversation, ConversationId, ConversationSummary,
    Digest, Holder, Latch, Mode, PageId, PageKey, PageRevision, PageSummary, PageView, ParkedRun,
    Proposal, ProposalId, RunId, ServerBook, Slug, Space, SpaceId, Spent, Switches, Taint, TokenId,
    TokenSummary,
};
use narthex_core::{BranchName, CommitId, GraphId};
use narthex_store::chain::{Head, Seal, StoredRecord};
use narthex_store::{
    Agents, ApprovalFilter, Approvals, Commits, Committed, Conversations, GateBooks, Guard, Hit,
    LedgerReader, Pages, ParkedRuns, ProposalFilter, Proposals, RevisionFilter, SearchQuery,
    Soundness, Spaces, Store, StoreError, TokenRecord, Tokens, UnitOfWork,
};
use narthex_store::{At, Branch, Commit, GraphInfo, GraphView, Graphs, LineNo};

/// Says which units are meant.
pub type Picks = fn(&UnitOfWork) -> bool;

/// What can go wrong with a store, on command. As it comes it only passes on.
#[derive(Debug)]
pub struct Faults {
    inner: Arc<dyn Store>,
    no_writing: AtomicBool,
    no_reading: AtomicBool,
    no_approvals: AtomicBool,
    between: Mutex<Option<UnitOfWork>>,
    slow: Mutex<Option<Picks>>,
}

impl Faults {
    /// In front of this one.
    pub fn new(inner: Arc<dyn Store>) -> Self {
        let no = || AtomicBool::new(false);
        let (between, slow) = (Mutex::new(None), Mutex::new(None));
        Self { inner, no_writing: no(), no_reading: no(), no_approvals: no(), between, slow }
    }

    /// Nothing can be made durable any more, or again.
    pub fn fail_writing(&self, fails: bool) {
        self.no_writing.store(fails, Ordering::SeqCst);
    }

    /// What this picks cannot be made durable, and that takes a while to be known.
    pub fn fail_slowly(&self, pick: Option<Picks>) {
        *self.slow.lock().unwrap_or_else(PoisonError::into_inner) = pick;
    }

    /// No page and no space can be read any more, or again; the failure names what it must not.
    pub fn fail_reading(&self, fails: bool) {
        self.no_reading.store(fails, Ordering::SeqCst);
    }

    /// Whether a call was approved cannot be told any more, or again.
    pub fn fail_approvals(&self, fails: bool) {
        self.no_approvals.store(fails, Ordering::SeqCst);
    }

    /// Lets this happen right before the next change an agent asks for is committed: after
    /// everything was decided, before anything is durable.
    pub fn slip_in(&self, unit: UnitOfWork) {
        *self.between.lock().unwrap_or_else(PoisonError::into_inner) = Some(unit);
    }

    fn readable(&self) -> Result<(), StoreError> {
        if self.no_reading.load(Ordering::SeqCst) {
            return Err(StoreError::Damaged(format!("{SECRET_OF_THE_STORE}: SELECT * FROM pages")));
        }
        Ok(())
    }
}

/// Long enough for anything that does not wait to be done.
const A_WHILE: Duration = Duration::from_millis(700);

/// What a failing store says to the log, and nobody else may ever hear.
pub const SECRET_OF_THE_STORE: &str = "/srv/house/narthex.db is malformed";

#[async_trait]
impl Commits for Faults {
    async fn commit(&self, unit: UnitOfWork) -> Result<Committed, StoreError> {
        if unit.guards.iter().any(|guard| matches!(guard, Guard::AgentActive(_))) {
            let between = self.between.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(between) = between {
                self.inner.commit(between).await?;
            }
        }
        let slow = *self.slow.lock().unwrap_or_else(PoisonError::into_inner);
        if slow.is_some_and(|picks| picks(&unit)) {
            tokio::time::sleep(A_WHILE).await;
            return Err(StoreError::Unavailable(SECRET_OF_THE_STORE.to_owned()));
        }
        if self.no_writing.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable(SECRET_OF_THE_STORE.to_owned()));
        }
        self.inner.commit(unit).await
    }

    fn is_writable(&self) -> bool {
        self.inner.is_writable() && !self.no_writing.load(Ordering::SeqCst)
    }
    fn is_well(&self) -> bool {
        self.inner.is_well() && self.is_writable()
    }

    async fn try_writing(&self) -> bool {
        self.inner.try_writing().await && self.is_well()
    }

    fn identity_epoch(&self) -> u64 {
        self.inner.identity_epoch()
    }
}

#[async_trait]
impl Spaces for Faults {
    async fn space(&self, id: SpaceId) -> Result<Option<Space>, StoreError> {
        self.inner.space(id).await
    }
    async fn space_by_slug(&self, slug: &Slug) -> Result<Option<Space>, StoreError> {
        self.inner.space_by_slug(slug).await
    }
    async fn spaces(&self) -> Result<Vec<Space>, StoreError> {
        self.inner.spaces().await
    }
}

#[async_trait]
impl Pages for Faults {
    async fn page(&self, space: SpaceId, key: &PageKey) -> Result<Option<PageView>, StoreError> {
        self.readable()?;
        self.inner.page(space, key).await
    }
    async fn pages(
        &self,
        space: SpaceId,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<PageSummary>, StoreError> {
        self.readable()?;
        self.inner.pages(space, after, limit).await
    }
    async fn page_count(&self, space: SpaceId) -> Result<u64, StoreError> {
        self.inner.page_count(space).await
    }
    async fn recent_pages(
        &self,
        space: SpaceId,
        limit: u32,
    ) -> Result<Vec<PageSummary>, StoreError> {
        self.inner.recent_pages(space, limit).await
    }
    async fn revisions(
        &self,
        space: SpaceId,
        page: PageId,
        filter: RevisionFilter,
    ) -> Result<Vec<PageRevision>, StoreError> {
        self.inner.revisions(space, page, filter).await
    }
    async fn search(
        &self,
        space: SpaceId,
        query: &SearchQuery,
        limit: u32,
    ) -> Result<Vec<Hit>, StoreError> {
        self.readable()?;
        self.inner.search(space, query, limit).await
    }
}

#[async_trait]
impl Agents for Faults {
    async fn agent(&self, id: AgentId) -> Result<Option<Agent>, StoreError> {
        self.inner.agent(id).await
    }
    async fn agent_by_slug(&self, slug: &Slug) -> Result<Option<Agent>, StoreError> {
        self.inner.agent_by_slug(slug).await
    }
    async fn agents(&self) -> Result<Vec<Agent>, StoreError> {
        self.inner.agents().await
    }
}

#[async_trait]
impl Tokens for Faults {
    async fn token(&self, id: TokenId) -> Result<Option<TokenRecord>, StoreError> {
        self.inner.token(id).await
    }
    async fn tokens(&self, agent: Option<AgentId>) -> Result<Vec<TokenSummary>, StoreError> {
        self.inner.tokens(agent).await
    }
}

#[async_trait]
impl Proposals for Faults {
    async fn proposal(&self, id: ProposalId) -> Result<Option<Proposal>, StoreError> {
        self.inner.proposal(id).await
    }
    async fn proposals(&self, filter: &ProposalFilter) -> Result<Vec<Proposal>, StoreError> {
        self.inner.proposals(filter).await
    }
}

#[async_trait]
impl ParkedRuns for Faults {
    async fn parked_run(&self, holder: Holder, id: RunId) -> Result<Option<ParkedRun>, StoreError> {
        self.inner.parked_run(holder, id).await
    }
    async fn parked_run_asked(
        &self,
        holder: Holder,
        asked: Digest,
    ) -> Result<Option<ParkedRun>, StoreError> {
        self.inner.parked_run_asked(holder, asked).await
    }
    async fn parked_runs(&self, holder: Option<Holder>) -> Result<Vec<ParkedRun>, StoreError> {
        self.inner.parked_runs(holder).await
    }
}

#[async_trait]
impl Approvals for Faults {
    async fn approval(&self, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        self.inner.approval(id).await
    }
    async fn approval_of(
        &self,
        holder: Holder,
        digest: Digest,
    ) -> Result<Option<Approval>, StoreError> {
        if self.no_approvals.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable(SECRET_OF_THE_STORE.to_owned()));
        }
        self.inner.approval_of(holder, digest).await
    }
    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, StoreError> {
        self.inner.approvals(filter).await
    }
}

#[async_trait]
impl GateBooks for Faults {
    async fn latch(&self, holder: Holder) -> Result<Latch, StoreError> {
        self.inner.latch(holder).await
    }
    async fn taint(&self, holder: Holder) -> Result<Taint, StoreError> {
        self.inner.taint(holder).await
    }
    async fn latches_of(&self, agent: AgentId) -> Result<Vec<(Holder, Latch)>, StoreError> {
        self.inner.latches_of(agent).await
    }
    async fn latches(&self) -> Result<Vec<(Holder, Latch)>, StoreError> {
        self.inner.latches().await
    }
    async fn spent(&self, holder: Holder) -> Result<Spent, StoreError> {
        self.inner.spent(holder).await
    }
    async fn switches(&self) -> Result<Switches, StoreError> {
        self.inner.switches().await
    }
    async fn servers(&self) -> Result<Arc<ServerBook>, StoreError> {
        self.inner.servers().await
    }
    async fn definition(&self, digest: Digest) -> Result<Option<String>, StoreError> {
        self.inner.definition(digest).await
    }
    async fn noted_mode(&self) -> Result<Option<(Mode, Option<Mode>)>, StoreError> {
        self.inner.noted_mode().await
    }
}

#[async_trait]
impl Soundness for Faults {
    async fn damaged_rows(&self) -> Result<Vec<String>, StoreError> {
        self.inner.damaged_rows().await
    }
    async fn newest_damage(&self) -> Result<Option<StoredRecord>, StoreError> {
        self.inner.newest_damage().await
    }
}

#[async_trait]
impl Conversations for Faults {
    async fn conversation(&self, id: ConversationId) -> Result<Option<Conversation>, StoreError> {
        self.inner.conversation(id).await
    }
    async fn conversations(&self, limit: u32) -> Result<Vec<ConversationSummary>, StoreError> {
        self.inner.conversations(limit).await
    }
}

#[async_trait]
impl LedgerReader for Faults {
    async fn records(&self, from: u64, limit: u32) -> Result<Vec<StoredRecord>, StoreError> {
        self.inner.records(from, limit).await
    }
    async fn head(&self) -> Result<Option<Head>, StoreError> {
        self.inner.head().await
    }
    async fn hash_at(&self, seq: u64) -> Result<Option<Digest>, StoreError> {
        self.inner.hash_at(seq).await
    }
    async fn seals(&self, from: u64, limit: u32) -> Result<Vec<Seal>, StoreError> {
        self.inner.seals(from, limit).await
    }
    async fn newest_seal(&self) -> Result<Option<Seal>, StoreError> {
        self.inner.newest_seal().await
    }
    async fn base(&self) -> Result<Option<Seal>, StoreError> {
        self.inner.base().await
    }
}

#[async_trait]
impl Graphs for Faults {
    async fn graphs(&self, space: Option<SpaceId>) -> Result<Vec<GraphInfo>, StoreError> {
        self.inner.graphs(space).await
    }
    async fn graph(&self, slug: &Slug) -> Result<Option<GraphInfo>, StoreError> {
        self.readable()?;
        self.inner.graph(slug).await
    }
    async fn branches(&self, graph: GraphId) -> Result<Vec<Branch>, StoreError> {
        self.inner.branches(graph).await
    }
    async fn branch(
        &self,
        graph: GraphId,
        name: &BranchName,
    ) -> Result<Option<Branch>, StoreError> {
        self.inner.branch(graph, name).await
    }
    async fn branch_of(&self, graph: GraphId, line: LineNo) -> Result<Option<Branch>, StoreError> {
        self.inner.branch_of(graph, line).await
    }
    async fn graph_commit(
        &self,
        graph: GraphId,
        id: CommitId,
    ) -> Result<Option<Commit>, StoreError> {
        self.inner.graph_commit(graph, id).await
    }
    async fn graph_commits(
        &self,
        graph: GraphId,
        branch: &BranchName,
        before: Option<CommitId>,
        limit: u32,
    ) -> Result<Vec<Commit>, StoreError> {
        self.inner.graph_commits(graph, branch, before, limit).await
    }
    async fn graph_schema(
        &self,
        graph: GraphId,
        schema: Digest,
    ) -> Result<Option<String>, StoreError> {
        self.inner.graph_schema(graph, schema).await
    }
    async fn view(
        &self,
        graph: GraphId,
        at: &At,
    ) -> Result<Option<Box<dyn GraphView>>, StoreError> {
        self.readable()?;
        self.inner.view(graph, at).await
    }
}
