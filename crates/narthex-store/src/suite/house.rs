//! A house with two spaces and an agent in each, and short ways to ask it for things.

use std::sync::Arc;

use narthex_core::{
    Actor, Agent, AgentId, AgentKind, Author, CallId, ChangeAction, EntityType, Grants, Page,
    PageDraft, PageId, PageKey, PageSlug, PageView, Phase, Proposal, ProposalId, ProposalStatus,
    Provenance, Reason, RecordDraft, RevisionId, Slug, Space, SpaceId, Taint, Tier, Timestamp,
    Title, TokenId, TokenLabel, Transport,
};

use super::Backend;
use crate::{Effect, Effected, PageWrite, Refused, Store, StoreError, UnitOfWork, fresh_uuid};

pub(super) struct House {
    pub(super) store: Arc<dyn Store>,
    pub(super) a: SpaceId,
    pub(super) b: SpaceId,
    /// An agent in space a.
    pub(super) agent: Agent,
    /// An agent in space b.
    pub(super) other: Agent,
}

impl House {
    pub(super) async fn open(backend: &dyn Backend) -> Self {
        let store = backend.open().await;
        let (a, b) = (space("a"), space("b"));
        let (agent, other) = (agent("agent", Some(a.id)), agent("other", Some(b.id)));
        let house = Self { store, a: a.id, b: b.id, agent, other };
        house.done(Effect::AddSpace(a)).await;
        house.done(Effect::AddSpace(b)).await;
        house.done(Effect::AddAgent(house.agent.clone())).await;
        house.done(Effect::AddAgent(house.other.clone())).await;
        house
    }

    /// Commits an effect with a record of it.
    pub(super) async fn attempt(&self, effect: Effect) -> Result<Effected, StoreError> {
        let unit = UnitOfWork::effect(effect, record("owner.action"));
        self.store.commit(unit).await.map(|committed| committed.effected)
    }

    pub(super) async fn done(&self, effect: Effect) -> Effected {
        self.attempt(effect).await.expect("the effect is carried out")
    }

    pub(super) async fn refused(&self, effect: Effect) -> Refused {
        refusal(self.attempt(effect).await)
    }

    /// A new page by the owner.
    pub(super) async fn write(
        &self,
        space: SpaceId,
        slug: &str,
        title: &str,
        body: &str,
    ) -> PageId {
        let write = new_page(space, draft(slug, title, body));
        let page = write.page;
        self.done(Effect::WritePage(write)).await;
        page
    }

    /// The next revision of a page, by the owner.
    pub(super) async fn revise(&self, space: SpaceId, page: PageId, base: u32, draft: PageDraft) {
        let write = PageWrite { page, base: Some(base), ..new_page(space, draft) };
        self.done(Effect::WritePage(write)).await;
    }

    pub(super) async fn view(&self, space: SpaceId, slug: &str) -> Option<PageView> {
        let key = PageKey::Slug(slug.parse().expect("a slug"));
        self.store.page(space, &key).await.expect("reads")
    }

    pub(super) async fn page(&self, space: SpaceId, slug: &str) -> Page {
        self.view(space, slug).await.expect("there is such a page").page
    }

    /// The slugs a search finds, best first.
    pub(super) async fn found(&self, space: SpaceId, query: &str) -> Vec<String> {
        let query = crate::SearchQuery::parse(query);
        let hits = self.store.search(space, &query, 50).await.expect("searches");
        hits.into_iter().map(|hit| hit.page.slug.to_string()).collect()
    }

    /// How many records there are.
    pub(super) async fn records(&self) -> u64 {
        self.store.head().await.expect("reads").expect("a head").seq
    }

    pub(super) async fn propose(&self, proposal: &Proposal) {
        let proposal = Box::new(proposal.clone());
        self.done(Effect::OpenProposal { proposal, cap: 100 }).await;
    }

    pub(super) async fn proposal(&self, id: ProposalId) -> Proposal {
        self.store.proposal(id).await.expect("reads").expect("there is such a proposal")
    }

    /// A token of the agent in space a.
    pub(super) async fn token(&self, expires: Option<Timestamp>) -> TokenId {
        let id = TokenId::from_uuid(fresh_uuid());
        self.done(add_token(id, self.agent.id, expires)).await;
        id
    }
}

pub(super) fn refusal<T: std::fmt::Debug>(result: Result<T, StoreError>) -> Refused {
    match result {
        Err(StoreError::Refused(refused)) => refused,
        other => panic!("expected a refusal, got {other:?}"),
    }
}

pub(super) const fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(super) fn title(text: &str) -> Title {
    Title::parse(text).expect("a title")
}

pub(super) fn slug(text: &str) -> Slug {
    text.parse().expect("a slug")
}

pub(super) fn page_slug(text: &str) -> PageSlug {
    text.parse().expect("a page slug")
}

pub(super) fn space(name: &str) -> Space {
    Space {
        id: SpaceId::from_uuid(fresh_uuid()),
        slug: slug(name),
        name: title(&format!("Space {name}")),
        ceiling: Some(Tier::T1),
        created: at(1_000),
    }
}

pub(super) fn agent(name: &str, space: Option<SpaceId>) -> Agent {
    Agent {
        id: AgentId::from_uuid(fresh_uuid()),
        slug: slug(name),
        name: title(&format!("Agent {name}")),
        kind: AgentKind::External,
        model: Some("some model".to_owned()),
        grants: Grants::standard(),
        ceiling: Tier::T1,
        space,
        budget: None,
        tiers: narthex_core::ToolTiers::default(),
        disabled: false,
        created: at(1_000),
    }
}

pub(super) fn add_token(id: TokenId, agent: AgentId, expires: Option<Timestamp>) -> Effect {
    Effect::AddToken {
        id,
        agent,
        label: TokenLabel::parse("laptop").expect("a label"),
        keyed_hash: [7; 32],
        created: at(1_000),
        expires,
    }
}

pub(super) fn draft(slug: &str, name: &str, body: &str) -> PageDraft {
    PageDraft::new(page_slug(slug), title(name), body.to_owned(), []).expect("a draft")
}

pub(super) fn tagged(slug: &str, name: &str, body: &str, tags: &[&str]) -> PageDraft {
    let tags = tags.iter().map(|tag| (*tag).to_owned());
    PageDraft::new(page_slug(slug), title(name), body.to_owned(), tags).expect("a draft")
}

pub(super) fn new_page(space: SpaceId, draft: PageDraft) -> PageWrite {
    PageWrite {
        page: PageId::from_uuid(fresh_uuid()),
        space,
        draft,
        base: None,
        revision: RevisionId::from_uuid(fresh_uuid()),
        provenance: Provenance::OWNER,
        at: at(2_000),
    }
}

pub(super) fn delete_page(space: SpaceId, page: PageId, base: u32) -> Effect {
    Effect::DeletePage {
        space,
        page,
        base,
        revision: RevisionId::from_uuid(fresh_uuid()),
        provenance: Provenance::OWNER,
        at: at(3_000),
    }
}

pub(super) fn move_page(from: SpaceId, page: PageId, to: SpaceId) -> Effect {
    Effect::MovePage { from, page, to, at: at(4_000) }
}

/// A proposal to make a page.
pub(super) fn creation(by: &Agent, draft: PageDraft) -> Proposal {
    Proposal {
        id: ProposalId::from_uuid(fresh_uuid()),
        agent: by.id,
        space: by.space.expect("a space"),
        entity_type: EntityType::Page,
        action: ChangeAction::Create,
        page: None,
        base_revision: None,
        draft: Some(draft),
        merge: None,
        server: None,
        reason: "because".to_owned(),
        taint: Taint { private: true, untrusted: false },
        status: ProposalStatus::Pending,
        note: None,
        created: at(5_000),
        decided: None,
    }
}

pub(super) fn update(by: &Agent, page: PageId, base: u32, draft: PageDraft) -> Proposal {
    Proposal {
        action: ChangeAction::Update,
        page: Some(page),
        base_revision: Some(base),
        ..creation(by, draft)
    }
}

pub(super) fn deletion(by: &Agent, page: PageId, base: u32) -> Proposal {
    Proposal {
        action: ChangeAction::Delete,
        draft: None,
        ..update(by, page, base, draft("unused", "Unused", ""))
    }
}

pub(super) fn apply(id: ProposalId) -> Effect {
    Effect::ApplyProposal {
        id,
        new_page: PageId::from_uuid(fresh_uuid()),
        revision: RevisionId::from_uuid(fresh_uuid()),
        at: at(6_000),
    }
}

/// Where a page stands that came by a proposal.
pub(super) const fn from_proposal(proposal: &Proposal) -> Provenance {
    Provenance {
        author: Author::Agent(proposal.agent),
        proposal: Some(proposal.id),
        taint: proposal.taint,
    }
}

pub(super) fn record(tool: &str) -> RecordDraft {
    let call = CallId::from_uuid(fresh_uuid());
    RecordDraft {
        reason: Reason::OwnerAction,
        tier: Some(Tier::T0),
        micros: Some(12),
        ..RecordDraft::new(Phase::Observed, call, Actor::Owner, Transport::Local, tool)
    }
}
