//! What the store in memory has nothing to tell about.

use std::sync::Arc;

use async_trait::async_trait;
use narthex_core::{
    AgentId, Conversation, ConversationId, ConversationSummary, Digest, Holder, Latch, Mode,
    PageId, PageKey, PageRevision, PageSummary, PageView, ParkedRun, Proposal, ProposalId, RunId,
    ServerBook, Slug, Space, SpaceId, Spent, Switches, TokenId, TokenSummary,
};
use narthex_store::chain::{Head, Seal, StoredRecord};
use narthex_store::{
    Conversations, GateBooks, Hit, LedgerReader, Pages, ParkedRuns, ProposalFilter, Proposals,
    RevisionFilter, SearchQuery, Soundness, Spaces, StoreError, TokenRecord, Tokens,
};

use super::MemoryStore;

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
impl ParkedRuns for MemoryStore {
    async fn parked_run(&self, _: Holder, _: RunId) -> Result<Option<ParkedRun>, StoreError> {
        Ok(None)
    }
    async fn parked_run_asked(
        &self,
        _: Holder,
        _: Digest,
    ) -> Result<Option<ParkedRun>, StoreError> {
        Ok(None)
    }
    async fn parked_runs(&self, _: Option<Holder>) -> Result<Vec<ParkedRun>, StoreError> {
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
    async fn servers(&self) -> Result<Arc<ServerBook>, StoreError> {
        Ok(Arc::default())
    }
    async fn definition(&self, _: Digest) -> Result<Option<String>, StoreError> {
        Ok(None)
    }
    async fn noted_mode(&self) -> Result<Option<(Mode, Option<Mode>)>, StoreError> {
        Ok(Some((Mode::Guarded, None)))
    }
}

#[async_trait]
impl Soundness for MemoryStore {
    async fn damaged_rows(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }
    async fn newest_damage(&self) -> Result<Option<StoredRecord>, StoreError> {
        Ok(None)
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
    async fn seals(&self, _: u64, _: u32) -> Result<Vec<Seal>, StoreError> {
        Ok(Vec::new())
    }
    async fn newest_seal(&self) -> Result<Option<Seal>, StoreError> {
        Ok(None)
    }
    async fn base(&self) -> Result<Option<Seal>, StoreError> {
        Ok(None)
    }
}
