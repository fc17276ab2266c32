//! Servers that agents ask for: each waits once, and is let in only as far as it was approved.

use std::sync::Arc;

use narthex_core::{
    ChangeAction, DefinitionKind, DefinitionName, Digest, EntityType, PageId, Proposal, ProposalId,
    ProposalStatus, ServerStanding, Taint,
};

use super::Backend;
use super::house::{House, agent, apply, at, creation, draft, slug};
use crate::{Effect, Effected, Refused, fresh_uuid};

pub async fn a_request_reads_back_as_opened(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let proposal = house.asked("web").await;
    assert_eq!(house.proposal(proposal.id).await, proposal);
    assert!(house.store.servers().await.unwrap().standings.is_empty(), "nothing took effect");
}

pub async fn it_has_the_parts_of_a_request_and_no_others(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let (good, page) = (house.asking("web"), creation(&house.agent, draft("new", "New", "")));
    let missing = Proposal { server: None, ..good.clone() };
    assert_eq!(refused(&house, missing).await, Refused::NotFound("server"));
    for unfit in [
        Proposal { action: ChangeAction::Create, ..good.clone() },
        Proposal { draft: page.draft.clone(), ..good.clone() },
        Proposal { page: Some(PageId::from_uuid(fresh_uuid())), ..good.clone() },
        Proposal { base_revision: Some(1), ..good.clone() },
        Proposal { server: good.server.clone(), ..page.clone() },
        Proposal { action: ChangeAction::Enable, ..page },
        Proposal { entity_type: EntityType::Graph, ..good.clone() },
    ] {
        let told = refused(&house, unfit.clone()).await;
        assert!(matches!(told, Refused::UnfitProposal(_)), "{told:?}: {unfit:?}");
    }
    let program = Proposal { entity_type: EntityType::Code, ..good.clone() };
    assert_eq!(refused(&house, program).await, Refused::NotFound("program"));
    house.propose(&good).await;
}

pub async fn the_same_server_waits_once(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let first = house.asked("web").await;
    assert_eq!(refused(&house, house.asking("web")).await, Refused::ServerAsked(first.id));
    // Another server, or by somebody else, is something else.
    house.asked("files").await;
    let colleague = agent("colleague", Some(house.a));
    house.done(Effect::AddAgent(colleague.clone())).await;
    house.propose(&Proposal { agent: colleague.id, ..house.asking("web") }).await;
    // And so it is once the owner has decided.
    house.done(reject(first.id)).await;
    let second = house.asked("web").await;
    house.approve("web", false).await;
    house.done(yes(second.id)).await;
    house.asked("web").await;
}

pub async fn servers_and_pages_wait_under_one_cap(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let open = |proposal: Proposal| Effect::OpenProposal { proposal: Box::new(proposal), cap: 2 };
    let page = |slug: &str| creation(&house.agent, draft(slug, "New", ""));
    house.done(open(page("one"))).await;
    house.done(open(house.asking("web"))).await;
    for more in [page("two"), house.asking("files")] {
        assert_eq!(house.refused(open(more)).await, Refused::TooManyOpen { cap: 2 });
    }
}

pub async fn it_is_applied_once_and_takes_disabled_off(backend: &dyn Backend) {
    let house = House::open(backend).await;
    for disabled in [true, false] {
        let id = house.asked("web").await.id;
        house.approve("web", disabled).await;
        house.approve("files", true).await;
        assert_eq!(house.done(yes(id)).await, Effected::Changed(disabled));
        assert_eq!(*house.standing("web").await, approved(false), "and nothing else of it");
        assert_eq!(*house.standing("files").await, approved(true), "and no other");
        let decided = house.proposal(id).await;
        assert_eq!((decided.status, decided.decided), (ProposalStatus::Applied, Some(at(6_000))));
        house.approve("web", true).await;
        for again in [yes(id), reject(id)] {
            let told = house.refused(again).await;
            assert_eq!(told, Refused::AlreadyDecided(ProposalStatus::Applied));
        }
        assert_eq!(*house.standing("web").await, approved(true));
    }
}

pub async fn it_is_not_applied_before_it_is_approved(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let proposal = house.asked("web").await;
    let id = proposal.id;
    house.approve("files", false).await;
    let nothing = ServerStanding { disabled: true, ..ServerStanding::default() };
    let start = ServerStanding { definitions: [].into(), ..approved(true) };
    let offer = ServerStanding { start: None, ..approved(true) };
    for standing in [None, Some(nothing), Some(start), Some(offer)] {
        if let Some(standing) = standing.clone() {
            house.set("web", standing).await;
        }
        let told = house.refused(yes(id)).await;
        assert_eq!(told, Refused::ServerNotApproved(slug("web")));
        assert!(told.to_string().contains("narthex mcp approve web"), "{told}");
        let standings = &house.store.servers().await.unwrap().standings;
        assert_eq!(standings.get(&slug("web")).map(|it| ServerStanding::clone(it)), standing);
        assert_eq!(house.proposal(id).await, proposal, "it keeps waiting");
    }
    house.approve("web", true).await;
    house.done(yes(id)).await;
}

pub async fn one_that_was_rejected_changes_nothing(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let id = house.asked("web").await.id;
    house.approve("web", true).await;
    house.done(reject(id)).await;
    let told = house.refused(yes(id)).await;
    assert_eq!(told, Refused::AlreadyDecided(ProposalStatus::Rejected));
    assert_eq!(*house.standing("web").await, approved(true));
    assert_eq!(house.proposal(id).await.note.as_deref(), Some("no"));
}

pub async fn pages_and_servers_are_applied_each_in_their_way(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let server = house.asked("web").await;
    house.approve("web", true).await;
    let page = creation(&house.agent, draft("new", "New", ""));
    house.propose(&page).await;
    assert_eq!(house.refused(apply(server.id)).await, Refused::NotFound("page"));
    let merge = Effect::ApplyMerge { id: server.id, write: None, at: at(6_000) };
    assert_eq!(house.refused(merge).await, Refused::NotFound("merge"));
    assert_eq!(house.refused(yes(page.id)).await, Refused::NotFound("server"));
    let nowhere = yes(ProposalId::from_uuid(fresh_uuid()));
    assert_eq!(house.refused(nowhere).await, Refused::NotFound("proposal"));
}

pub async fn it_outlives_a_restart(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let (waits, done) = (house.asked("web").await, house.asked("files").await);
    house.approve("files", true).await;
    house.done(yes(done.id)).await;
    let done = house.proposal(done.id).await;
    let house = House { store: backend.reopen().await, ..house };
    for proposal in [&waits, &done] {
        assert_eq!(house.proposal(proposal.id).await, *proposal);
    }
    assert_eq!(*house.standing("files").await, approved(false));
    assert!(house.store.damaged_rows().await.unwrap().is_empty());
    assert_eq!(refused(&house, house.asking("web")).await, Refused::ServerAsked(waits.id));
    house.approve("web", false).await;
    assert_eq!(house.done(yes(waits.id)).await, Effected::Changed(false));
}

impl House {
    /// What the agent of space a asks for when it asks now.
    fn asking(&self, server: &str) -> Proposal {
        let (id, taint) = (ProposalId::from_uuid(fresh_uuid()), Taint::CLEAN);
        Proposal::for_server(id, self.agent.id, self.a, slug(server), "to look", taint, at(5_000))
            .unwrap()
    }

    /// The same, opened.
    async fn asked(&self, server: &str) -> Proposal {
        let proposal = self.asking(server);
        self.propose(&proposal).await;
        proposal
    }

    async fn approve(&self, server: &str, disabled: bool) {
        self.set(server, approved(disabled)).await;
    }

    async fn set(&self, server: &str, standing: ServerStanding) {
        let (name, standing) = (slug(server), Box::new(standing));
        self.done(Effect::SetServer { name, standing, texts: Vec::new() }).await;
    }

    async fn standing(&self, server: &str) -> Arc<ServerStanding> {
        self.store.servers().await.unwrap().standings[&slug(server)].clone()
    }
}

fn approved(disabled: bool) -> ServerStanding {
    let name = DefinitionName::new(DefinitionKind::Tool, "look");
    ServerStanding {
        disabled,
        start: Some(Digest::of(b"start")),
        definitions: [(name, Digest::of(b"look"))].into(),
        ..ServerStanding::default()
    }
}

const fn yes(id: ProposalId) -> Effect {
    Effect::ApplyServerRequest { id, at: at(6_000) }
}

fn reject(id: ProposalId) -> Effect {
    Effect::RejectProposal { id, note: "no".to_owned(), at: at(6_000) }
}

async fn refused(house: &House, proposal: Proposal) -> Refused {
    let id = proposal.id;
    let effect = Effect::OpenProposal { proposal: Box::new(proposal), cap: 100 };
    let refused = house.refused(effect).await;
    assert!(house.store.proposal(id).await.unwrap().is_none());
    refused
}
