//! The ledger: founded, chained, found whole again, and honest about what was cut short.

use std::collections::BTreeSet;

use narthex_core::{Actor, CallId, Outcome, Phase, Reason, RecordDraft};

use super::Backend;
use super::house::{House, record};
use crate::chain::{Record, Verification, Verified};
use crate::{Store, UnitOfWork};

pub async fn a_house_is_founded(backend: &dyn Backend) {
    let store = backend.open().await;
    let records = store.records(0, 10).await.unwrap();
    assert_eq!(records.len(), 1);
    let first = records[0].read().unwrap();
    assert_eq!(
        (first.seq, first.draft.phase, first.draft.tool.as_str()),
        (1, Phase::House, "house.founded")
    );
    assert_eq!(first.draft.actor, Actor::House);
    verify(&*store, backend).await;
    let store = backend.reopen().await;
    assert_eq!(store.head().await.unwrap().unwrap().seq, 1, "only once");
}

pub async fn the_chain_holds_after_reopening(backend: &dyn Backend) {
    let house = House::open(backend).await;
    for n in 0..25 {
        house.write(house.a, &format!("p{n}"), "Page", "words").await;
    }
    let before = verify(&*house.store, backend).await;
    drop(house);
    for _ in 0..2 {
        let store = backend.reopen().await;
        assert_eq!(verify(&*store, backend).await, before);
    }
    let store = backend.reopen().await;
    let next = store.commit(UnitOfWork::records(vec![record("next")])).await.unwrap();
    assert_eq!(next.receipts[0].seq(), before.records + 1);
    verify(&*store, backend).await;
}

pub async fn records_are_read_in_steps(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let last = house.records().await;
    let seqs = async |from: u64, limit: u32| -> Vec<u64> {
        house.store.records(from, limit).await.unwrap().iter().map(|r| r.seq).collect()
    };
    assert_eq!(seqs(0, 2).await, [1, 2]);
    assert_eq!(seqs(2, 2).await, [2, 3]);
    assert_eq!(seqs(last, 10).await, [last]);
    assert!(seqs(last + 1, 10).await.is_empty());
    assert!(seqs(u64::MAX, 10).await.is_empty());
    assert_eq!(house.store.hash_at(last + 1).await.unwrap(), None);
    assert_eq!(house.store.hash_at(0).await.unwrap(), None);
    assert_eq!(house.store.hash_at(u64::MAX).await.unwrap(), None);
}

pub async fn open_intents_are_closed_as_unknown(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let mut open = intent("upstream.send");
    open.actor = Actor::from(&house.agent);
    open.space = Some(house.a);
    house.store.commit(UnitOfWork::records(vec![open.clone()])).await.unwrap();
    let before = house.records().await;
    drop(house);

    let store = backend.reopen().await;
    let records = read_all(&*store).await;
    assert_eq!(records.len() as u64, before + 1);
    let expected = RecordDraft {
        phase: Phase::Outcome,
        outcome: Outcome::Unknown,
        reason: Reason::Interrupted,
        micros: None,
        ..open
    };
    assert_eq!(records.last().unwrap().draft, expected);
    verify(&*store, backend).await;
    drop(store);
    let store = backend.reopen().await;
    assert_eq!(store.head().await.unwrap().unwrap().seq, before + 1, "closed once");
}

pub async fn closed_intents_stay_closed(backend: &dyn Backend) {
    let house = House::open(backend).await;
    // Together in one unit, and apart in two.
    let together = intent("local");
    let unit = UnitOfWork::records(vec![together.clone(), outcome(&together)]);
    house.store.commit(unit).await.unwrap();
    let (apart, left) = (intent("external"), intent("left-open"));
    house.store.commit(UnitOfWork::records(vec![apart.clone()])).await.unwrap();
    house.store.commit(UnitOfWork::records(vec![left.clone()])).await.unwrap();
    house.store.commit(UnitOfWork::records(vec![outcome(&apart)])).await.unwrap();
    drop(house);

    let store = backend.reopen().await;
    let unknown: BTreeSet<CallId> = read_all(&*store)
        .await
        .into_iter()
        .filter(|record| record.draft.outcome == Outcome::Unknown)
        .map(|record| record.draft.call)
        .collect();
    assert_eq!(unknown, BTreeSet::from([left.call]));
}

/// The chain from its first record to both heads, as far as a store can be asked for them.
pub(super) async fn verify(store: &dyn Store, backend: &dyn Backend) -> Verified {
    let head = store.head().await.unwrap();
    let mut walk = Verification::start(head);
    let mut from = 1;
    loop {
        let page = store.records(from, 100).await.unwrap();
        for stored in &page {
            walk.next(stored).unwrap();
            from = stored.seq + 1;
        }
        if page.is_empty() {
            break;
        }
    }
    walk.finish(head, &backend.head_key()).unwrap()
}

async fn read_all(store: &dyn Store) -> Vec<Record> {
    let stored = store.records(1, 10_000).await.unwrap();
    stored.iter().map(|stored| stored.read().unwrap()).collect()
}

fn intent(tool: &str) -> RecordDraft {
    RecordDraft { phase: Phase::Intent, outcome: Outcome::Open, ..record(tool) }
}

fn outcome(of: &RecordDraft) -> RecordDraft {
    RecordDraft { phase: Phase::Outcome, outcome: Outcome::Ok, ..of.clone() }
}
