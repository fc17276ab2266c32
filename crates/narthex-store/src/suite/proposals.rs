//! Proposals: opened by agents, decided by the owner, each once.

use narthex_core::{
    EntityType, PageKey, Proposal, ProposalId, ProposalStatus, Provenance, SpaceId, Taint,
};

use super::Backend;
use super::house::{
    House, apply, at, creation, delete_page, deletion, draft, from_proposal, move_page, tagged,
    update,
};
use crate::{Effect, Effected, ProposalFilter, Refused, RevisionFilter, fresh_uuid};

pub async fn a_proposal_reads_back_as_opened(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.a, "home", "Home", "one").await;
    let says = tagged("home", "Home", "two", &["tag"]);
    let proposals = [
        creation(&house.agent, says.clone()),
        update(&house.agent, page, 1, says),
        deletion(&house.agent, page, 1),
    ];
    for proposal in proposals {
        house.propose(&proposal).await;
        assert_eq!(house.proposal(proposal.id).await, proposal);
    }
    assert_eq!(house.page(house.a, "home").await.draft.body, "one", "nothing took effect");
    let absent = ProposalId::from_uuid(fresh_uuid());
    assert!(house.store.proposal(absent).await.unwrap().is_none());
}

pub async fn it_opens_pending_whatever_it_claims(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let mut proposal = creation(&house.agent, draft("new", "New", ""));
    proposal.status = ProposalStatus::Applied;
    proposal.note = Some("done already".to_owned());
    proposal.decided = Some(at(1));
    house.propose(&proposal).await;
    let opened = house.proposal(proposal.id).await;
    assert_eq!((opened.status, opened.note, opened.decided), (ProposalStatus::Pending, None, None));
}

pub async fn its_page_must_be_in_its_space(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let foreign = house.write(house.b, "home", "Home", "theirs").await;
    let gone = house.write(house.a, "gone", "Gone", "").await;
    house.done(delete_page(house.a, gone, 1)).await;
    for page in [foreign, gone] {
        for proposal in
            [update(&house.agent, page, 1, draft("x", "X", "")), deletion(&house.agent, page, 1)]
        {
            assert_eq!(refused(&house, proposal).await, Refused::NotFound("page"));
        }
    }
    let mut lost = creation(&house.agent, draft("x", "X", ""));
    lost.space = SpaceId::from_uuid(fresh_uuid());
    assert_eq!(refused(&house, lost).await, Refused::NotFound("space"));
}

pub async fn its_parts_must_be_there(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.a, "home", "Home", "").await;
    let good = update(&house.agent, page, 1, draft("x", "X", ""));
    let without_draft = Proposal { draft: None, ..good.clone() };
    assert_eq!(refused(&house, without_draft).await, Refused::NotFound("draft"));
    let without_page = Proposal { page: None, ..good.clone() };
    assert_eq!(refused(&house, without_page).await, Refused::NotFound("page"));
    let without_base = Proposal { base_revision: None, ..good.clone() };
    assert_eq!(refused(&house, without_base).await, Refused::NotFound("page"));
    let stranger =
        Proposal { agent: narthex_core::AgentId::from_uuid(fresh_uuid()), ..good.clone() };
    assert_eq!(refused(&house, stranger).await, Refused::NotFound("agent"));
    let talk = Proposal { entity_type: EntityType::Conversation, ..good };
    assert_eq!(refused(&house, talk).await, Refused::NotFound("conversation"));
}

pub async fn only_so_many_may_wait(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let open = |by, slug: &str| Effect::OpenProposal {
        proposal: Box::new(creation(by, draft(slug, "New", ""))),
        cap: 2,
    };
    let first = creation(&house.agent, draft("one", "New", ""));
    house.propose(&first).await;
    house.done(open(&house.agent, "two")).await;
    let full = house.refused(open(&house.agent, "three")).await;
    assert_eq!(full, Refused::TooManyOpen { cap: 2 });
    house.done(open(&house.other, "theirs")).await;
    house.done(apply(first.id)).await;
    house.done(open(&house.agent, "three")).await;
}

pub async fn a_creation_is_applied(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let proposal = creation(&house.agent, draft("new", "New", "proposed words [[home]]"));
    house.propose(&proposal).await;
    assert!(house.view(house.a, "new").await.is_none());
    let effected = house.done(apply(proposal.id)).await;
    let page = house.page(house.a, "new").await;
    assert_eq!(effected, Effected::PageWritten { page: page.id, revision: 1 });
    assert_eq!(page.provenance, from_proposal(&proposal));
    assert!(page.foreign_history);
    assert_eq!(house.found(house.a, "proposed").await, ["new"]);
    let decided = house.proposal(proposal.id).await;
    assert_eq!((decided.status, decided.decided), (ProposalStatus::Applied, Some(at(6_000))));
}

pub async fn an_update_is_applied(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.a, "home", "Home", "one").await;
    let proposal = update(&house.agent, page, 1, draft("moved", "Moved", "two"));
    house.propose(&proposal).await;
    let effected = house.done(apply(proposal.id)).await;
    assert_eq!(effected, Effected::PageWritten { page, revision: 2 });
    assert!(house.view(house.a, "home").await.is_none());
    assert_eq!(house.page(house.a, "moved").await.draft.body, "two");
}

pub async fn a_deletion_is_applied(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.a, "home", "Home", "one").await;
    let proposal = deletion(&house.agent, page, 1);
    house.propose(&proposal).await;
    assert_eq!(house.done(apply(proposal.id)).await, Effected::PageDeleted { page });
    assert!(house.store.page(house.a, &PageKey::Id(page)).await.unwrap().is_none());
    let last = house.store.revisions(house.a, page, RevisionFilter::Number(2)).await.unwrap();
    assert_eq!(last[0].draft, None);
    assert_eq!(last[0].provenance, from_proposal(&proposal));
}

pub async fn a_stale_one_is_refused(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.a, "home", "Home", "one").await;
    for proposal in [
        update(&house.agent, page, 1, draft("home", "Home", "theirs")),
        deletion(&house.agent, page, 1),
    ] {
        house.propose(&proposal).await;
        let base = house.page(house.a, "home").await.revision;
        house.revise(house.a, page, base, draft("home", "Home", "mine")).await;
        let refused = house.refused(apply(proposal.id)).await;
        assert_eq!(refused, Refused::Stale { expected: 1, is: base + 1 });
        assert_eq!(house.proposal(proposal.id).await.status, ProposalStatus::Pending);
    }
    assert_eq!(house.page(house.a, "home").await.draft.body, "mine");
}

pub async fn one_whose_page_left_is_refused(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.a, "home", "Home", "one").await;
    let proposal = update(&house.agent, page, 1, draft("home", "Home", "theirs"));
    house.propose(&proposal).await;
    house.done(move_page(house.a, page, house.b)).await;
    assert_eq!(house.refused(apply(proposal.id)).await, Refused::PageLeft);
    assert_eq!(house.page(house.b, "home").await.draft.body, "one");
    // Back where it was, and unchanged, it can be applied after all.
    house.done(move_page(house.b, page, house.a)).await;
    house.done(apply(proposal.id)).await;
}

pub async fn one_whose_page_is_gone_is_refused(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.a, "home", "Home", "one").await;
    let proposal = update(&house.agent, page, 1, draft("home", "Home", "theirs"));
    house.propose(&proposal).await;
    house.done(delete_page(house.a, page, 1)).await;
    assert_eq!(house.refused(apply(proposal.id)).await, Refused::NotFound("page"));
    house.write(house.a, "home", "Home", "another page").await;
    assert_eq!(house.refused(apply(proposal.id)).await, Refused::NotFound("page"));
}

pub async fn one_whose_slug_is_taken_is_refused(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.a, "home", "Home", "one").await;
    let made = creation(&house.agent, draft("taken", "Taken", "theirs"));
    let renamed = update(&house.agent, page, 1, draft("taken", "Taken", "theirs"));
    house.propose(&made).await;
    house.propose(&renamed).await;
    house.write(house.a, "taken", "Taken", "mine").await;
    for id in [made.id, renamed.id] {
        assert_eq!(house.refused(apply(id)).await, Refused::Taken("slug"));
    }
    assert_eq!(house.page(house.a, "taken").await.draft.body, "mine");
}

pub async fn it_is_decided_only_once(backend: &dyn Backend) {
    use ProposalStatus::{Applied, Conflict, Rejected};
    let house = House::open(backend).await;
    let note = || "no".to_owned();
    for (n, status) in [Applied, Rejected, Conflict].into_iter().enumerate() {
        let proposal = creation(&house.agent, draft(&format!("p{n}"), "New", ""));
        let id = proposal.id;
        house.propose(&proposal).await;
        let decide = match status {
            Applied => apply(id),
            Rejected => Effect::RejectProposal { id, note: note(), at: at(7) },
            _ => Effect::MarkConflict { id, note: note(), at: at(7) },
        };
        house.done(decide).await;
        let decided = house.proposal(id).await;
        assert_eq!(decided.status, status);
        let again = [
            Some(apply(id)),
            Some(Effect::MarkConflict { id, note: note(), at: at(8) }),
            (status != Conflict).then(|| Effect::RejectProposal { id, note: note(), at: at(8) }),
        ];
        for effect in again.into_iter().flatten() {
            assert_eq!(house.refused(effect).await, Refused::AlreadyDecided(status));
        }
        assert_eq!(house.proposal(id).await, decided);
    }
    let absent = apply(ProposalId::from_uuid(fresh_uuid()));
    assert_eq!(house.refused(absent).await, Refused::NotFound("proposal"));
}

pub async fn a_conflict_can_still_be_rejected(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let proposal = creation(&house.agent, draft("new", "New", ""));
    let id = proposal.id;
    house.propose(&proposal).await;
    house.done(Effect::MarkConflict { id, note: "two texts".to_owned(), at: at(7) }).await;
    assert_eq!(house.proposal(id).await.note.as_deref(), Some("two texts"));
    house.done(Effect::RejectProposal { id, note: "mine".to_owned(), at: at(8) }).await;
    let rejected = house.proposal(id).await;
    assert_eq!(rejected.status, ProposalStatus::Rejected);
    assert_eq!((rejected.note.as_deref(), rejected.decided), (Some("mine"), Some(at(8))));
}

pub async fn provenance_is_not_washed_off(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.a, "home", "Home", "mine").await;
    assert!(!house.page(house.a, "home").await.foreign_history);
    let mut proposal = update(&house.agent, page, 1, draft("home", "Home", "theirs"));
    proposal.taint = Taint { private: true, untrusted: true };
    house.propose(&proposal).await;
    house.done(apply(proposal.id)).await;
    assert_eq!(house.page(house.a, "home").await.provenance, from_proposal(&proposal));

    house.revise(house.a, page, 2, draft("home", "Home", "all mine again")).await;
    house.done(move_page(house.a, page, house.b)).await;
    let now = house.page(house.b, "home").await;
    assert_eq!(now.provenance, Provenance::OWNER);
    assert!(now.foreign_history, "what was foreign once stays so");
    assert!(house.store.recent_pages(house.b, 1).await.unwrap()[0].foreign_history);
    let old = house.store.revisions(house.b, page, RevisionFilter::Number(2)).await.unwrap();
    assert_eq!(old[0].provenance, from_proposal(&proposal));
}

pub async fn lists_are_filtered_and_newest_first(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let mut ids = Vec::new();
    for (n, by) in [&house.agent, &house.other, &house.agent].into_iter().enumerate() {
        let mut proposal = creation(by, draft(&format!("p{n}"), "New", ""));
        proposal.created = at(10 * i64::try_from(n).unwrap());
        house.propose(&proposal).await;
        ids.push(proposal.id);
    }
    let id = ids[0];
    house.done(Effect::RejectProposal { id, note: "no".to_owned(), at: at(9) }).await;
    let list = async |filter: ProposalFilter| -> Vec<ProposalId> {
        house.store.proposals(&filter).await.unwrap().iter().map(|p| p.id).collect()
    };
    let all = ProposalFilter { limit: 10, ..ProposalFilter::default() };
    assert_eq!(list(all.clone()).await, [ids[2], ids[1], ids[0]]);
    assert_eq!(list(ProposalFilter { limit: 1, ..all.clone() }).await, [ids[2]]);
    assert_eq!(list(ProposalFilter { space: Some(house.b), ..all.clone() }).await, [ids[1]]);
    let by_agent = ProposalFilter { agent: Some(house.agent.id), ..all.clone() };
    assert_eq!(list(by_agent.clone()).await, [ids[2], ids[0]]);
    let waiting = ProposalFilter { statuses: vec![ProposalStatus::Pending], ..by_agent };
    assert_eq!(list(waiting).await, [ids[2]]);
    let statuses = vec![ProposalStatus::Rejected, ProposalStatus::Applied];
    assert_eq!(list(ProposalFilter { statuses, ..all }).await, [ids[0]]);
}

async fn refused(house: &House, proposal: Proposal) -> Refused {
    let id = proposal.id;
    let effect = Effect::OpenProposal { proposal: Box::new(proposal), cap: 100 };
    let refused = house.refused(effect).await;
    assert!(house.store.proposal(id).await.unwrap().is_none());
    refused
}
