//! The ledger: founded, chained, found whole again, and honest about what was cut short.

use std::collections::BTreeSet;

use narthex_core::{Actor, CallId, Outcome, Phase, Reason, RecordDraft};

use super::Backend;
use super::house::{House, record};
use crate::chain::{GENESIS, Head, Record};
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
    assert_eq!(next.receipts[0].seq(), before.seq + 1);
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

/// Walks the chain from its first record to the stored head, and gives that.
pub(super) async fn verify(store: &dyn Store, backend: &dyn Backend) -> Head {
    let (mut seq, mut hash) = (0, GENESIS);
    loop {
        let page = store.records(seq + 1, 100).await.unwrap();
        for stored in &page {
            assert_eq!((stored.seq, stored.read().unwrap().seq), (seq + 1, seq + 1));
            assert!(stored.follows(hash), "record {}", stored.seq);
            (seq, hash) = (stored.seq, stored.hash);
        }
        if page.is_empty() {
            break;
        }
    }
    let head = store.head().await.unwrap().unwrap();
    assert!(backend.head_key().is_genuine(&head));
    assert_eq!((head.seq, head.hash), (seq, hash));
    head
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
