//! Latches: set with the answer that sets them, opened only by the owner or a window.

use std::sync::Arc;
use std::time::Duration;

use narthex_core::{Cause, Holder, Latch, Taint};

use super::Backend;
use super::calls::{BOTH, MINUTE, PRIVATE, UNTRUSTED, arming, guarded, holder};
use super::commits::join;
use super::house::{House, draft, new_page, refusal};
use crate::{Clock as _, Effect, Effected, Guard, Refused, UnitOfWork};

const fn clear(holder: Holder, taint: Taint) -> Effect {
    Effect::ClearLatch { holder, taint, ran_out: None }
}

pub async fn an_answer_sets_what_it_brings(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let own = holder(&house.agent);
    assert_eq!(house.store.latch(own).await.unwrap(), Latch::default());
    assert!(house.store.latches().await.unwrap().is_empty());
    let first = arming(&house.agent, PRIVATE, backend.clock().moment());
    let cause = first.arms.clone().map(|arms| arms.cause);
    house.commit(first).await.unwrap();
    assert_eq!(
        house.store.latch(own).await.unwrap(),
        Latch { private: cause.clone(), untrusted: None }
    );
    // What is set keeps its first cause, and learns when it was set last; what is not is added.
    backend.clock().advance_millis(MINUTE);
    let second = arming(&house.agent, BOTH, backend.clock().moment());
    let later = second.arms.clone().map(|arms| arms.cause);
    house.commit(second).await.unwrap();
    let last = backend.clock().moment();
    let again = cause.map(|cause| Cause { last, ..cause });
    let both = Latch { private: again, untrusted: later };
    assert_eq!(house.store.latches().await.unwrap(), [(own, both)]);
    for other in [holder(&house.other), Holder { space: None, ..own }] {
        assert_eq!(house.taint(other).await, Taint::CLEAN);
    }
}

/// The companion is one agent, started for one space or for all: what it took in in one of them
/// it has not forgotten in another.
pub async fn what_was_taken_in_anywhere_counts_everywhere(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let own = holder(&house.agent);
    house.commit(arming(&house.agent, PRIVATE, backend.clock().moment())).await.unwrap();
    for space in [None, Some(house.b)] {
        let elsewhere = Holder { space, ..own };
        assert_eq!(house.store.taint(elsewhere).await.unwrap(), PRIVATE);
        let guard = Guard::TaintWithin { holder: elsewhere, decided: Taint::CLEAN };
        let refused = house.commit(guarded(&house.agent, vec![guard])).await;
        assert_eq!(refusal(refused), Refused::TaintMoved);
    }
    assert_eq!(house.store.latches_of(own.agent).await.unwrap().len(), 1);
    assert_eq!(house.store.taint(holder(&house.other)).await.unwrap(), Taint::CLEAN);
}

pub async fn setting_it_again_is_noted_only_now_and_then(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let own = holder(&house.agent);
    let arm = async |after: i64| {
        backend.clock().advance_millis(after);
        house.commit(arming(&house.agent, UNTRUSTED, backend.clock().moment())).await.unwrap();
        house.store.latch(own).await.unwrap().untrusted.expect("it is set")
    };
    let first = arm(0).await;
    assert_eq!(arm(999).await, first);
    let again = arm(1).await;
    assert_eq!((again.first, again.call), (first.first, first.call));
    assert_eq!(again.last, backend.clock().moment());
}

pub async fn a_refused_unit_sets_nothing(backend: &dyn Backend) {
    let house = House::open(backend).await;
    house.write(house.a, "taken", "Taken", "").await;
    let now = backend.clock().moment();
    let effect = Some(Effect::WritePage(new_page(house.a, draft("taken", "Taken", ""))));
    let unit = UnitOfWork { effect, ..arming(&house.agent, BOTH, now) };
    assert_eq!(refusal(house.commit(unit).await), Refused::Taken("slug"));
    let own = holder(&house.agent);
    assert_eq!(house.taint(own).await, Taint::CLEAN);
    house.commit(arming(&house.agent, PRIVATE, now)).await.unwrap();
    let guards = vec![Guard::TaintWithin { holder: own, decided: Taint::CLEAN }];
    let unit = UnitOfWork { guards, ..arming(&house.agent, BOTH, now) };
    assert_eq!(refusal(house.commit(unit).await), Refused::TaintMoved);
    assert_eq!(house.taint(own).await, PRIVATE);
    let house = House { store: backend.reopen().await, ..house };
    assert_eq!(house.taint(own).await, PRIVATE);
}

pub async fn a_decision_on_less_is_refused(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let own = holder(&house.agent);
    for (set, rows) in [
        (Taint::CLEAN, [true, true, true, true]),
        (PRIVATE, [false, true, false, true]),
        (BOTH, [false, false, false, true]),
    ] {
        house.commit(arming(&house.agent, set, backend.clock().moment())).await.unwrap();
        for (decided, holds) in [Taint::CLEAN, PRIVATE, UNTRUSTED, BOTH].into_iter().zip(rows) {
            let guard = Guard::TaintWithin { holder: own, decided };
            let result = house.commit(guarded(&house.agent, vec![guard])).await;
            assert_eq!(result.is_ok(), holds, "{set:?} {decided:?}");
            if !holds {
                assert_eq!(refusal(result), Refused::TaintMoved);
            }
        }
    }
}

pub async fn only_what_is_named_is_opened(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let own = holder(&house.agent);
    house.commit(arming(&house.agent, BOTH, backend.clock().moment())).await.unwrap();
    house.commit(arming(&house.other, BOTH, backend.clock().moment())).await.unwrap();
    assert_eq!(house.done(clear(own, Taint::CLEAN)).await, Effected::Changed(false));
    assert_eq!(house.done(clear(own, UNTRUSTED)).await, Effected::Changed(true));
    assert_eq!(house.taint(own).await, PRIVATE);
    assert_eq!(house.done(clear(own, UNTRUSTED)).await, Effected::Changed(false));
    assert_eq!(house.done(clear(own, BOTH)).await, Effected::Changed(true));
    let house = House { store: backend.reopen().await, ..house };
    assert_eq!(house.taint(own).await, Taint::CLEAN);
    assert_eq!(house.store.latches().await.unwrap().len(), 1, "the other's stays");
    assert_eq!(house.done(clear(own, BOTH)).await, Effected::Changed(false));
}

pub async fn a_window_opens_only_what_ran_out(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let (own, clock) = (holder(&house.agent), backend.clock());
    house.commit(arming(&house.agent, PRIVATE, clock.moment())).await.unwrap();
    clock.advance_millis(5 * MINUTE);
    house.commit(arming(&house.agent, UNTRUSTED, clock.moment())).await.unwrap();
    let run_out = async || {
        let ran_out = Some((clock.moment(), Duration::from_mins(10)));
        house.done(Effect::ClearLatch { holder: own, taint: BOTH, ran_out }).await
    };
    clock.advance_millis(5 * MINUTE - 1);
    assert_eq!(run_out().await, Effected::Changed(false));
    clock.advance_millis(1);
    assert_eq!(run_out().await, Effected::Changed(true));
    assert_eq!(house.taint(own).await, UNTRUSTED);
    clock.set_wall_by(60 * MINUTE);
    assert_eq!(run_out().await, Effected::Changed(false), "a clock set ahead opens nothing");
    clock.set_wall_by(-60 * MINUTE);
    clock.advance_millis(5 * MINUTE);
    assert_eq!(run_out().await, Effected::Changed(true));
    assert_eq!(house.taint(own).await, Taint::CLEAN);
}

pub async fn it_outlives_a_restart(backend: &dyn Backend) {
    let house = House::open(backend).await;
    for agent in [&house.agent, &house.other] {
        house.commit(arming(agent, BOTH, backend.clock().moment())).await.unwrap();
    }
    let before = house.store.latches().await.unwrap();
    assert_eq!(before.len(), 2);
    let records = house.records().await;
    for _ in 0..2 {
        let store = backend.reopen().await;
        assert_eq!(store.latches().await.unwrap(), before);
        assert_eq!(store.head().await.unwrap().unwrap().seq, records, "nothing to say about it");
    }
}

/// Whoever arms first makes every other decision on a clean latch void, in one batch or in many.
pub async fn a_setting_is_seen_by_whoever_comes_after(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let own = holder(&house.agent);
    let now = backend.clock().moment();
    let attempts = (0..64)
        .map(|_| {
            let store = Arc::clone(&house.store);
            let guards = vec![Guard::TaintWithin { holder: own, decided: Taint::CLEAN }];
            let unit = UnitOfWork { guards, ..arming(&house.agent, UNTRUSTED, now) };
            async move { store.commit(unit).await }
        })
        .collect();
    let results = join(attempts).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for result in results.into_iter().filter(Result::is_err) {
        assert_eq!(refusal(result), Refused::TaintMoved);
    }
}
