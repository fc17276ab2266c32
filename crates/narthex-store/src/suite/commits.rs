//! The unit of work: all of it or nothing, and each for itself.

use std::sync::Arc;
use std::time::Duration;

use narthex_core::{PageId, RevisionId, SpaceId};

use super::Backend;
use super::house::{House, at, draft, new_page, record, refusal, space};
use super::ledger::verify;
use crate::{Effect, ImportedPage, Refused, UnitOfWork, fresh_uuid};

pub async fn a_refused_unit_leaves_nothing_and_no_gap(backend: &dyn Backend) {
    let house = House::open(backend).await;
    house.write(house.a, "home", "Home", "one").await;
    let before = house.records().await;
    let unit = UnitOfWork {
        arms: None,
        guards: Vec::new(),
        effect: Some(Effect::WritePage(new_page(house.a, draft("home", "Home", "two")))),
        records: vec![record("refused-1"), record("refused-2")],
    };
    assert_eq!(refusal(house.store.commit(unit).await), Refused::Taken("slug"));
    assert_eq!(house.records().await, before);

    let next = house.store.commit(UnitOfWork::records(vec![record("next")])).await.unwrap();
    assert_eq!(next.receipts[0].seq(), before + 1);
    let tools: Vec<String> = house
        .store
        .records(1, 1_000)
        .await
        .unwrap()
        .iter()
        .map(|stored| stored.read().unwrap().draft.tool)
        .collect();
    assert!(!tools.iter().any(|tool| tool.starts_with("refused")), "{tools:?}");
    verify(&*house.store, backend).await;
}

pub async fn one_refusal_does_not_touch_its_neighbours(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let taken = house.write(house.b, "taken", "Taken", "").await;
    let mut waiting = Vec::new();
    for n in 0..60 {
        let store = Arc::clone(&house.store);
        // Every third one runs into a fault when half of it is done.
        let effect = if n % 3 == 0 {
            half_good(house.a, n, taken)
        } else {
            Effect::AddSpace(space(&format!("space-{n}")))
        };
        let unit = UnitOfWork::effect(effect, record("together"));
        waiting.push(async move { (n, store.commit(unit).await) });
    }
    for (n, result) in join(waiting).await {
        assert_eq!(result.is_err(), n % 3 == 0, "{n}: {result:?}");
    }
    assert_eq!(house.store.spaces().await.unwrap().len(), 2 + 40);
    assert_eq!(house.store.page_count(house.a).await.unwrap(), 0);
    assert!(house.found(house.a, "half").await.is_empty());
    verify(&*house.store, backend).await;
}

/// An import whose first page is good and whose second has an id that is taken.
fn half_good(space: SpaceId, n: u32, taken: PageId) -> Effect {
    let page = |slug: String, page: PageId| ImportedPage {
        page,
        revision: RevisionId::from_uuid(fresh_uuid()),
        draft: draft(&slug, "Half", "half of it"),
    };
    let fresh = PageId::from_uuid(fresh_uuid());
    let pages = vec![page(format!("good-{n}"), fresh), page(format!("bad-{n}"), taken)];
    Effect::ImportPages { space, pages, at: at(1) }
}

pub async fn receipts_name_the_records(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let before = house.records().await;
    let drafts = vec![record("one"), record("two"), record("three")];
    let done = house.store.commit(UnitOfWork::records(drafts.clone())).await.unwrap();
    let stored = house.store.records(before + 1, 10).await.unwrap();
    assert_eq!((done.receipts.len(), stored.len()), (3, 3));
    for ((receipt, stored), draft) in done.receipts.iter().zip(&stored).zip(&drafts) {
        assert_eq!((receipt.seq(), receipt.hash()), (stored.seq, stored.hash));
        assert_eq!(&stored.read().unwrap().draft, draft);
        let at_seq = house.store.hash_at(receipt.seq()).await.unwrap();
        assert_eq!(at_seq, Some(receipt.hash()));
    }
    let nothing = house.store.commit(UnitOfWork::default()).await.unwrap();
    assert!(nothing.receipts.is_empty());
    assert!(house.store.is_writable());
}

pub async fn a_commit_outlives_its_caller(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let before = house.records().await;
    let unit = UnitOfWork::records(vec![record("hung-up")]);
    // Long enough to hand it over, too short to wait for the disk in every case.
    let waited = tokio::time::timeout(Duration::from_micros(1), house.store.commit(unit)).await;
    drop(waited);
    let next = house.store.commit(UnitOfWork::records(vec![record("next")])).await.unwrap();
    assert_eq!(next.receipts[0].seq(), before + 2);
    verify(&*house.store, backend).await;
}

/// Runs all of them at once.
pub(super) async fn join<F>(futures: Vec<F>) -> Vec<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let mut set = tokio::task::JoinSet::new();
    for future in futures {
        set.spawn(future);
    }
    set.join_all().await
}
