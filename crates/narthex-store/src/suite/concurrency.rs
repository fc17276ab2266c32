//! Many at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use narthex_core::ProposalStatus;

use super::Backend;
use super::commits::join;
use super::house::{House, apply, creation, draft, new_page, record};
use super::ledger::verify;
use crate::{Effect, ProposalFilter, Refused, StoreError, UnitOfWork};

pub async fn many_commits_make_one_chain(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let before = house.records().await;
    let callers = (0..32)
        .map(|_| {
            let store = Arc::clone(&house.store);
            async move {
                let mut seqs = Vec::new();
                for _ in 0..20 {
                    let unit = UnitOfWork::records(vec![record("read")]);
                    seqs.push(store.commit(unit).await.unwrap().receipts[0].seq());
                }
                seqs
            }
        })
        .collect();
    let seqs = join(callers).await;
    for of_one in &seqs {
        assert!(of_one.is_sorted(), "a caller's records are in the order it made them");
    }
    let all: BTreeSet<u64> = seqs.into_iter().flatten().collect();
    assert_eq!(all, (before + 1..=before + 640).collect());
    assert_eq!(verify(&*house.store, backend).await.seq, before + 640);
}

pub async fn a_proposal_is_applied_exactly_once(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let page = house.write(house.a, "home", "Home", "one").await;
    let made = creation(&house.agent, draft("new", "New", "theirs"));
    let changed = super::house::update(&house.agent, page, 1, draft("home", "Home", "theirs"));
    for proposal in [made, changed] {
        house.propose(&proposal).await;
        let before = house.records().await;
        let id = proposal.id;
        let attempts = (0..64)
            .map(|_| {
                let store = Arc::clone(&house.store);
                async move { store.commit(UnitOfWork::effect(apply(id), record("apply"))).await }
            })
            .collect();
        let results = join(attempts).await;
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        for result in results {
            if let Err(error) = result {
                let decided = Refused::AlreadyDecided(ProposalStatus::Applied);
                assert!(matches!(&error, StoreError::Refused(r) if *r == decided), "{error:?}");
            }
        }
        assert_eq!(house.records().await, before + 1);
    }
    assert_eq!(house.page(house.a, "home").await.revision, 2);
    assert_eq!(house.store.page_count(house.a).await.unwrap(), 2);
    verify(&*house.store, backend).await;
}

pub async fn the_cap_holds_under_load(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let attempts = (0..40)
        .map(|n| {
            let store = Arc::clone(&house.store);
            let proposal = creation(&house.agent, draft(&format!("p{n}"), "New", ""));
            let effect = Effect::OpenProposal { proposal: Box::new(proposal), cap: 7 };
            async move { store.commit(UnitOfWork::effect(effect, record("propose"))).await }
        })
        .collect();
    let results = join(attempts).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 7);
    let filter = ProposalFilter { limit: 100, ..ProposalFilter::default() };
    assert_eq!(house.store.proposals(&filter).await.unwrap().len(), 7);
}

pub async fn one_slug_is_given_once(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let attempts = (0..32)
        .map(|n| {
            let store = Arc::clone(&house.store);
            let write = new_page(house.a, draft("home", "Home", &format!("by {n}")));
            let unit = UnitOfWork::effect(Effect::WritePage(write), record("write"));
            async move { (n, store.commit(unit).await) }
        })
        .collect();
    let won: Vec<i32> = join(attempts)
        .await
        .into_iter()
        .filter_map(|(n, result)| result.is_ok().then_some(n))
        .collect();
    assert_eq!(won.len(), 1);
    assert_eq!(house.page(house.a, "home").await.draft.body, format!("by {}", won[0]));
    assert_eq!(house.found(house.a, "by").await, ["home"]);
}
