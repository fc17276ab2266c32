//! A store in memory: it keeps records and agents, and has nothing else to tell.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use narthex_core::{
    Agent, AgentId, Approval, ApprovalId, Conversation, ConversationId, ConversationSummary,
    Digest, Holder, Latch, Mode, PageId, PageKey, PageRevision, PageSummary, PageView, Proposal,
    ProposalId, RecordDraft, Slug, Space, SpaceId, Spent, Switches, TokenId, TokenSummary,
};
use narthex_store::chain::{Head, StoredRecord};
use narthex_store::{
    Agents, ApprovalFilter, Approvals, Commits, Committed, Conversations, Effect, Effected,
    GateBooks, Hit, LedgerReader, Pages, ProposalFilter, Proposals, Receipt, RevisionFilter,
    SearchQuery, Spaces, StoreError, TokenRecord, Tokens, UnitOfWork,
};

#[derive(Debug)]
pub(crate) struct MemoryStore {
    agents: Mutex<Vec<Agent>>,
    records: Mutex<Vec<RecordDraft>>,
    approvals: Mutex<Vec<Approval>>,
    broken: AtomicBool,
    epoch: AtomicU64,
}

impl MemoryStore {
    pub(crate) fn new(agents: &[Agent]) -> Self {
        Self {
            agents: Mutex::new(agents.to_vec()),
            records: Mutex::default(),
            approvals: Mutex::default(),
            broken: AtomicBool::new(false),
            epoch: AtomicU64::new(1),
        }
    }

    pub(crate) fn records(&self) -> Vec<RecordDraft> {
        self.records.lock().expect("not poisoned").clone()
    }

    /// From now on nothing can be written.
    pub(crate) fn break_ledger(&self) {
        self.broken.store(true, Ordering::SeqCst);
    }

    pub(crate) fn disable(&self, id: AgentId) {
        for agent in self.agents.lock().expect("not poisoned").iter_mut() {
            agent.disabled |= agent.id == id;
        }
        self.epoch.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Commits for MemoryStore {
    async fn commit(&self, unit: UnitOfWork) -> Result<Committed, StoreError> {
        if self.broken.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("on purpose".to_owned()));
        }
        let mut records = self.records.lock().expect("not poisoned");
        let receipts = unit.records.iter().enumerate().map(|(n, _)| {
            Receipt::after_commit((records.len() + n + 1) as u64, Digest::of(b"a record"))
        });
        let receipts = receipts.collect();
        records.extend(unit.records);
        let effected = match unit.effect {
            Some(Effect::RequestApproval { approval, .. }) => {
                self.approvals.lock().expect("not poisoned").push((*approval).clone());
                Effected::Waits(approval)
            }
            _ => Effected::Done,
        };
        Ok(Committed { effected, receipts })
    }

    fn is_writable(&self) -> bool {
        !self.broken.load(Ordering::SeqCst)
    }

    fn identity_epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Agents for MemoryStore {
    async fn agent(&self, id: AgentId) -> Result<Option<Agent>, StoreError> {
        Ok(self.agents.lock().expect("not poisoned").iter().find(|agent| agent.id == id).cloned())
    }
    async fn agent_by_slug(&self, _: &Slug) -> Result<Option<Agent>, StoreError> {
        Ok(None)
    }
    async fn agents(&self) -> Result<Vec<Agent>, StoreError> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl Spaces for MemoryStore {
    async fn space(&self, id: SpaceId) -> Result<Option<Space>, StoreError> {
        Ok(Some(Space {
            id,
            slug: "a-space".parse().expect("a slug"),
            name: narthex_core::Title::parse("A space").expect("a title"),
            ceiling: None,
            created: narthex_core::Timestamp::from_millis(0),
        }))
    }
    async fn space_by_slug(&self, _: &Slug) -> Result<Option<Space>, StoreError> {
        Ok(None)
    }
    async fn spaces(&self) -> Result<Vec<Space>, StoreError> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl Pages for MemoryStore {
    async fn page(&self, _: SpaceId, _: &PageKey) -> Result<Option<PageView>, StoreError> {
        Ok(None)
    }
    async fn pages(
        &self,
        _: SpaceId,
        _: Option<&str>,
        _: u32,
    ) -> Result<Vec<PageSummary>, StoreError> {
        Ok(Vec::new())
    }
    async fn page_count(&self, _: SpaceId) -> Result<u64, StoreError> {
        Ok(0)
    }
    async fn recent_pages(&self, _: SpaceId, _: u32) -> Result<Vec<PageSummary>, StoreError> {
        Ok(Vec::new())
    }
    async fn revisions(
        &self,
        _: SpaceId,
        _: PageId,
        _: RevisionFilter,
    ) -> Result<Vec<PageRevision>, StoreError> {
        Ok(Vec::new())
    }
    async fn search(&self, _: SpaceId, _: &SearchQuery, _: u32) -> Result<Vec<Hit>, StoreError> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl Tokens for MemoryStore {
    async fn token(&self, _: TokenId) -> Result<Option<TokenRecord>, StoreError> {
        Ok(None)
    }
    async fn tokens(&self, _: Option<AgentId>) -> Result<Vec<TokenSummary>, StoreError> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl Proposals for MemoryStore {
    async fn proposal(&self, _: ProposalId) -> Result<Option<Proposal>, StoreError> {
        Ok(None)
    }
    async fn proposals(&self, _: &ProposalFilter) -> Result<Vec<Proposal>, StoreError> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl Approvals for MemoryStore {
    async fn approval(&self, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        let approvals = self.approvals.lock().expect("not poisoned");
        Ok(approvals.iter().find(|approval| approval.id == id).cloned())
    }
    async fn approval_of(&self, _: Holder, digest: Digest) -> Result<Option<Approval>, StoreError> {
        let approvals = self.approvals.lock().expect("not poisoned");
        Ok(approvals.iter().find(|approval| approval.digest == digest).cloned())
    }
    async fn approvals(&self, _: &ApprovalFilter) -> Result<Vec<Approval>, StoreError> {
        Ok(self.approvals.lock().expect("not poisoned").clone())
    }
}

#[async_trait]
impl GateBooks for MemoryStore {
    async fn latch(&self, _: Holder) -> Result<Latch, StoreError> {
        Ok(Latch::default())
    }
    async fn latches(&self) -> Result<Vec<(Holder, Latch)>, StoreError> {
        Ok(Vec::new())
    }
    async fn spent(&self, _: Holder) -> Result<Spent, StoreError> {
        Ok(Spent::default())
    }
    async fn switches(&self) -> Result<Switches, StoreError> {
        Ok(Switches::default())
    }
    async fn noted_mode(&self) -> Result<Option<(Mode, Option<Mode>)>, StoreError> {
        Ok(Some((Mode::Guarded, None)))
    }
}

#[async_trait]
impl Conversations for MemoryStore {
    async fn conversation(&self, _: ConversationId) -> Result<Option<Conversation>, StoreError> {
        Ok(None)
    }
    async fn conversations(&self, _: u32) -> Result<Vec<ConversationSummary>, StoreError> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl LedgerReader for MemoryStore {
    async fn records(&self, _: u64, _: u32) -> Result<Vec<StoredRecord>, StoreError> {
        Ok(Vec::new())
    }
    async fn head(&self) -> Result<Option<Head>, StoreError> {
        Ok(None)
    }
    async fn hash_at(&self, _: u64) -> Result<Option<Digest>, StoreError> {
        Ok(None)
    }
}
