//! What is used up: exactly what the ledger says, and never more than there is.

use std::sync::Arc;

use narthex_core::{
    Actor, Budget, Cost, Holder, Overspent, Phase, RecordDraft, Reserve, Ruled, Tier, Usage,
};

use super::Backend;
use super::calls::{MINUTE, call, calls, guarded, holder, within};
use super::commits::join;
use super::house::{House, draft, new_page, record, refusal};
use crate::{Clock as _, Effect, Refused, StoreError, UnitOfWork};

pub async fn the_ledger_is_the_account(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let (own, agent) = (holder(&house.agent), &house.agent);
    let cost = Some(Cost::from_millionths(9));
    let observed = RecordDraft {
        bytes: Some(100),
        micros: Some(7),
        cost,
        ..call(agent, Phase::Observed, Tier::T0)
    };
    let intent = RecordDraft { bytes: Some(1_000), ..call(agent, Phase::Intent, Tier::T2) };
    let outcome = RecordDraft { phase: Phase::Outcome, bytes: Some(20), ..intent.clone() };
    let refused = RecordDraft {
        phase: Phase::Refused,
        decision: Ruled::Refuse,
        bytes: Some(500),
        ..observed.clone()
    };
    let owners = RecordDraft { actor: Actor::Owner, ..observed.clone() };
    let records = vec![observed, intent, outcome, refused, owners, record("owner.action")];
    house.commit(UnitOfWork::records(records)).await.unwrap();
    let usage =
        Usage { calls: [1, 0, 1, 0], bytes: 120, micros: 7, cost: Cost::from_millionths(9) };
    assert_eq!(house.used(own, backend).await, usage);
    for other in [holder(&house.other), Holder { space: None, ..own }] {
        assert_eq!(house.used(other, backend).await, Usage::default());
    }
    let house = House { store: backend.reopen().await, ..house };
    assert_eq!(house.used(own, backend).await, usage, "a restart forgets nothing");
}

pub async fn a_budget_is_reached_and_not_passed(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let now = backend.clock().now();
    let unit = |agent| guarded(agent, vec![within(agent, calls(3), now)]);
    for _ in 0..3 {
        house.commit(unit(&house.agent)).await.unwrap();
    }
    let before = house.records().await;
    let over = Overspent::Calls { tier: Tier::T0, used: 3, limit: 3 };
    assert_eq!(refusal(house.commit(unit(&house.agent)).await), Refused::OverBudget(over));
    assert_eq!(house.records().await, before);
    assert_eq!(house.used(holder(&house.agent), backend).await.calls, [3, 0, 0, 0]);
    house.commit(unit(&house.other)).await.expect("everyone has their own");
    let t1 = UnitOfWork {
        records: vec![call(&house.agent, Phase::Observed, Tier::T1)],
        ..unit(&house.agent)
    };
    house.commit(t1).await.expect("and every tier");
    let unlimited = guarded(&house.agent, vec![within(&house.agent, Budget::default(), now)]);
    house.commit(unlimited).await.unwrap();
    assert_eq!(house.used(holder(&house.agent), backend).await.calls, [4, 1, 0, 0]);
}

pub async fn bytes_time_and_cost_are_held_too(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let now = backend.clock().now();
    let heavy = RecordDraft {
        bytes: Some(60),
        micros: Some(5_000),
        cost: Some(Cost::from_millionths(10)),
        ..call(&house.agent, Phase::Observed, Tier::T0)
    };
    let unit = |budget| UnitOfWork {
        records: vec![heavy.clone()],
        ..guarded(&house.agent, vec![within(&house.agent, budget, now)])
    };
    house.commit(unit(Budget { bytes: Some(100), ..calls(9) })).await.unwrap();
    for (budget, over) in [
        (
            Budget { bytes: Some(100), ..calls(9) },
            Overspent::Bytes { used: 60, limit: 100, more: 60 },
        ),
        (Budget { millis: Some(5), ..calls(9) }, Overspent::Time { used: 5, limit: 5 }),
        (
            Budget { cost: Some(Cost::from_millionths(10)), ..calls(9) },
            Overspent::Cost { used: 10, limit: 10 },
        ),
    ] {
        assert_eq!(refusal(house.commit(unit(budget)).await), Refused::OverBudget(over));
    }
    let roomy = Budget { bytes: Some(120), millis: Some(6), ..calls(9) };
    house.commit(unit(roomy)).await.unwrap();
}

/// What a call under way may still use up is not there for another, until its outcome is recorded.
pub async fn what_is_in_reserve_is_held_until_the_outcome(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let (agent, now) = (&house.agent.clone(), backend.clock().now());
    let cost = Cost::from_millionths;
    let budget = Budget { cost: Some(cost(10)), ..calls(9) };
    let intent = |most: u64| {
        let reserve = Reserve { cost: cost(most), ..Reserve::default() };
        let intent = RecordDraft { reserve, ..call(agent, Phase::Intent, Tier::T1) };
        let guard = within(agent, budget, now);
        UnitOfWork { records: vec![intent], ..guarded(agent, vec![guard]) }
    };
    let (first, second) = (intent(6), intent(4));
    let begun = first.records.first().cloned().unwrap();
    house.commit(first).await.unwrap();
    house.commit(second).await.expect("exactly as much as there is");
    let over = Refused::OverBudget(Overspent::Cost { used: 10, limit: 10 });
    assert_eq!(refusal(house.commit(intent(1)).await), over);
    assert_eq!(refusal(house.commit(intent(0)).await), over, "nor one that says nothing");
    assert_eq!(house.used(holder(agent), backend).await.cost, cost(0), "nothing is charged yet");
    let outcome = RecordDraft {
        phase: Phase::Outcome,
        cost: Some(cost(1)),
        reserve: Reserve::default(),
        ..begun
    };
    house.commit(UnitOfWork::records(vec![outcome])).await.unwrap();
    house.commit(intent(5)).await.expect("it took less than it might have");
    assert_eq!(refusal(house.commit(intent(1)).await), over);
    let house = House { store: backend.reopen().await, ..house };
    let used = house.used(holder(agent), backend).await;
    assert_eq!(used.cost, cost(10), "what was cut off costs what it may have");
    assert_eq!(refusal(house.commit(intent(1)).await), over);
    let again = backend.reopen().await.spent(holder(agent)).await.unwrap();
    assert_eq!(again.within(now, budget.window()), used, "once");
}

/// A call's own reserve does not stand in its own way, and another's does.
pub async fn an_outcome_is_measured_without_its_own_reserve(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let (agent, now) = (&house.agent, backend.clock().now());
    let budget = Budget { bytes: Some(100), ..calls(9) };
    let intent = |bytes: u64| {
        let reserve = Reserve { bytes, ..Reserve::default() };
        let intent = RecordDraft { reserve, ..call(agent, Phase::Intent, Tier::T1) };
        UnitOfWork { records: vec![intent], ..guarded(agent, vec![within(agent, budget, now)]) }
    };
    let outcome = |of: &RecordDraft, bytes: u64| {
        let outcome = RecordDraft {
            phase: Phase::Outcome,
            bytes: Some(bytes),
            reserve: Reserve::default(),
            ..of.clone()
        };
        UnitOfWork { records: vec![outcome], ..guarded(agent, vec![within(agent, budget, now)]) }
    };
    let (first, second) = (intent(40), intent(30));
    let (one, two) = (first.records[0].clone(), second.records[0].clone());
    house.commit(first).await.unwrap();
    house.commit(second).await.unwrap();
    let over = Refused::OverBudget(Overspent::Bytes { used: 70, limit: 100, more: 31 });
    assert_eq!(refusal(house.commit(intent(31)).await), over);
    let over = Refused::OverBudget(Overspent::Bytes { used: 30, limit: 100, more: 71 });
    assert_eq!(refusal(house.commit(outcome(&one, 71)).await), over);
    house.commit(outcome(&one, 70)).await.expect("all that the other leaves");
    house.commit(outcome(&two, 30)).await.expect("all that is left");
}

pub async fn a_refused_unit_costs_nothing(backend: &dyn Backend) {
    let house = House::open(backend).await;
    house.write(house.a, "taken", "Taken", "").await;
    let effect = Some(Effect::WritePage(new_page(house.a, draft("taken", "Taken", ""))));
    let unit = UnitOfWork { effect, ..guarded(&house.agent, Vec::new()) };
    assert_eq!(refusal(house.commit(unit).await), Refused::Taken("slug"));
    assert_eq!(house.used(holder(&house.agent), backend).await, Usage::default());
}

pub async fn a_window_rolls(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let clock = backend.clock();
    let one = async || {
        let guard = within(&house.agent, calls(1), clock.now());
        house.commit(guarded(&house.agent, vec![guard])).await
    };
    one().await.unwrap();
    clock.advance_millis(10 * MINUTE - 1);
    assert!(one().await.is_err());
    // The clock set back does not make room either.
    clock.set_wall_by(-30 * MINUTE);
    assert!(one().await.is_err());
    clock.set_wall_by(30 * MINUTE);
    clock.advance_millis(11_000);
    one().await.unwrap();
}

pub async fn exactly_so_many_go_ahead_under_load(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let now = backend.clock().now();
    let attempt = |n: usize| {
        let store = Arc::clone(&house.store);
        // Some observe, some act, some without any effect of their own.
        let effect = n
            .is_multiple_of(5)
            .then(|| Effect::WritePage(new_page(house.a, draft(&format!("p{n}"), "Page", ""))));
        let guards = vec![within(&house.agent, calls(37), now)];
        let unit = UnitOfWork { effect, ..guarded(&house.agent, guards) };
        async move { store.commit(unit).await }
    };
    let results = join((0..200).map(attempt).collect()).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 37);
    for result in results.into_iter().filter(Result::is_err) {
        assert!(matches!(refusal(result), Refused::OverBudget(_)));
    }
    let own = holder(&house.agent);
    assert_eq!(house.used(own, backend).await.calls, [37, 0, 0, 0]);
    let house = House { store: backend.reopen().await, ..house };
    assert_eq!(house.used(own, backend).await.calls, [37, 0, 0, 0]);
    let late =
        house.commit(guarded(&house.agent, vec![within(&house.agent, calls(37), now)])).await;
    assert!(matches!(late, Err(StoreError::Refused(Refused::OverBudget(_)))), "{late:?}");
}

pub async fn it_stays_exact_over_many_records_and_restarts(backend: &dyn Backend) {
    let mut house = House::open(backend).await;
    let mut expected = 0;
    for round in 0..4 {
        let records = |n| (0..n).map(|_| call(&house.agent, Phase::Observed, Tier::T0)).collect();
        for size in [1_500, 1_500, 1_500, round] {
            house.commit(UnitOfWork::records(records(size))).await.unwrap();
            expected += size;
            backend.clock().advance_millis(500);
        }
        house = House { store: backend.reopen().await, ..house };
        let used = house.used(holder(&house.agent), backend).await;
        assert_eq!(used.calls[0], expected);
    }
}
