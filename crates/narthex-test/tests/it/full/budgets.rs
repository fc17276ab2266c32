//! What may be used up in a window: exact under load, kept over a restart (threat E13).

use std::sync::Arc;
use std::time::Duration;

use narthex_core::{Budget, Consent, Cost, Mode, Phase, Reason, Tier, Usage};
use narthex_store::{Effect, UnitOfWork};
use serde_json::json;
use tokio::task::JoinSet;

use super::workshop::{Said, Workshop, call, said};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_at_once_are_exactly_as_many_as_allowed() -> anyhow::Result<()> {
    let budget = Budget { calls: [Some(40), Some(25), None, None], ..Budget::default() };
    let mut shop = Workshop::with(|config| config.budget = budget).await?;
    for (tool, allowed) in [("peek", 40), ("note", 25)] {
        let admitted = Arc::new(shop.admitted("worker").await);
        let mut tasks = JoinSet::new();
        for n in 0..200 {
            let (gate, surface) = (shop.gate.clone(), Arc::clone(&shop.surface));
            let admitted = Arc::clone(&admitted);
            tasks.spawn(async move {
                let made = call(&gate, &surface, &admitted, tool, json!({"n": n}), Consent::Absent);
                said(made.await)
            });
        }
        let mut done = 0;
        while let Some(ended) = tasks.join_next().await {
            match ended? {
                Said::Done => done += 1,
                Said::Refused(Reason::OverBudget) => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(done, allowed, "{tool}");
    }
    assert_eq!(shop.bench.count("note"), 25, "what is refused is not done");
    // A restart, a new token and another revision give nothing back.
    for restart in [false, true] {
        if restart {
            shop = shop.restart(|_| {}).await?;
        }
        shop.new_token("worker").await?;
        for tool in ["peek", "note"] {
            assert_eq!(shop.call(tool, json!({})).await, Said::Refused(Reason::OverBudget));
        }
    }
    // Time does.
    shop.advance(Duration::from_mins(62));
    assert_eq!(shop.call("note", json!({})).await, Said::Done);
    shop.house.verify().await?;
    Ok(())
}

/// Calls that act outside, many at once. Bytes are held when the answer is there, cost and time by
/// what is in reserve while they are under way; whatever is withheld, its outcome is recorded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_known_only_afterwards_is_not_passed_in_parallel() -> anyhow::Result<()> {
    let answer = 2 * json!({"did": "note"}).to_string().len() as u64;
    let bytes = Budget { bytes: Some(answer * 3 + answer - 1), ..Budget::default() };
    for (budget, tool, arguments, done, made) in [
        (bytes, "note", json!({}), 3, 3..=40),
        (cost(5.0), "buy", json!({"cost": 1.0}), 5, 5..=5),
        (cost(5.5), "buy", json!({"cost": 1.0}), 5, 5..=5),
        (Budget { millis: Some(400), ..Budget::default() }, "hang", json!({}), 0, 1..=1),
    ] {
        let shop = Workshop::with(|config| config.budget = budget).await?;
        let before = shop.house.seq().await?;
        let admitted = Arc::new(shop.admitted("worker").await);
        let mut tasks = JoinSet::new();
        for _ in 0..40 {
            let (gate, surface) = (shop.gate.clone(), Arc::clone(&shop.surface));
            let (admitted, arguments) = (Arc::clone(&admitted), arguments.clone());
            tasks.spawn(async move {
                said(call(&gate, &surface, &admitted, tool, arguments, Consent::Absent).await)
            });
        }
        let ended = tasks.join_all().await;
        let count = |wanted: &Said| ended.iter().filter(|said| *said == wanted).count();
        let late = count(&Said::Refused(Reason::DeadlineExceeded));
        assert_eq!(count(&Said::Done), done, "{tool}: {ended:?}");
        assert_eq!(count(&Said::Refused(Reason::OverBudget)) + late, 40 - done, "{tool}");
        assert!(made.contains(&shop.bench.count(tool)), "{tool}: {}", shop.bench.count(tool));
        let used = shop.used("worker").await;
        assert!(budget.bytes.is_none_or(|most| used.bytes <= most), "{used:?}");
        assert!(budget.cost.is_none_or(|most| used.cost <= most), "{used:?}");
        let records = shop.house.records_after(before).await?;
        let of = |phase| records.iter().filter(move |record| record.draft.phase == phase).count();
        assert_eq!(of(Phase::Intent), shop.bench.count(tool));
        assert_eq!(of(Phase::Outcome), of(Phase::Intent), "{tool}: each has its outcome");
    }
    Ok(())
}

/// The owner is not asked about a call that its budget does not let through.
#[tokio::test]
async fn a_budget_comes_before_the_owner() -> anyhow::Result<()> {
    let budget = Budget { calls: [None, None, Some(0), None], ..Budget::default() };
    let shop = Workshop::with(|config| config.budget = budget).await?;
    assert_eq!(shop.call("publish", json!({})).await, Said::Refused(Reason::OverBudget));
    assert!(shop.waiting().await.is_empty());
    Ok(())
}

/// Nobody knows whether a call that was given up was paid for, so it is.
#[tokio::test]
async fn an_unknown_outcome_costs_as_much_as_it_may_have() -> anyhow::Result<()> {
    let shop = Workshop::with(|config| {
        config.budget = cost(5.0);
        config.call_deadline = Duration::from_millis(20);
    })
    .await?;
    assert_eq!(shop.call("buy", json!({})).await, Said::Refused(Reason::DeadlineExceeded));
    assert_eq!(shop.used("worker").await.cost, Cost::from_millionths(1_000_000));
    Ok(())
}

#[tokio::test]
async fn each_part_has_its_limit_and_refusals_cost_nothing() -> anyhow::Result<()> {
    // A peek answers with {"did":"peek"}, structured and as text: twice 14 bytes.
    for (budget, tool, arguments, times) in [
        (Budget { bytes: Some(28 * 3 + 27), ..Budget::default() }, "peek", json!({}), 3),
        (Budget { bytes: Some(0), ..Budget::default() }, "peek", json!({}), 0),
        (cost(2.5), "note", json!({"cost": 1.0}), 3),
        (cost(2.0), "note", json!({"cost": 1.0}), 2),
        (cost(0.0), "note", json!({}), 0),
        (Budget { calls: [None, Some(2), None, None], ..Budget::default() }, "note", json!({}), 2),
    ] {
        let shop = Workshop::with(|config| config.budget = budget).await?;
        for n in 0..6 {
            let expected = if n < times { Said::Done } else { Said::Refused(Reason::OverBudget) };
            assert_eq!(shop.call(tool, arguments.clone()).await, expected, "{budget:?} {n}");
        }
        assert_eq!(shop.bench.count(tool).min(times), times);
        // Refused for other reasons: nothing is charged.
        let before = shop.used("worker").await;
        for _ in 0..5 {
            shop.call("no such tool", json!({})).await;
            shop.call("note", json!({"unknown": 1})).await;
            shop.call_as("worker", "note", json!({}), Consent::Malformed).await;
            shop.call("publish", json!({})).await;
        }
        assert_eq!(shop.used("worker").await, before, "{budget:?}");
    }
    Ok(())
}

/// NaN, negative and absurd costs are no costs: refused, and nothing is charged for them.
#[tokio::test]
async fn only_finite_non_negative_costs_count() -> anyhow::Result<()> {
    let shop = Workshop::with(|config| config.budget = cost(1.0)).await?;
    for bad in [-1.0, -0.000_001, 1e308, 1e10] {
        let got = shop.call("note", json!({"cost": bad})).await;
        assert_eq!(got, Said::Refused(Reason::InvalidArguments), "{bad}");
    }
    assert_eq!(shop.used("worker").await.cost, Cost::default());
    assert_eq!(shop.call("note", json!({"cost": 1.0})).await, Said::Done);
    assert_eq!(shop.call("note", json!({})).await, Said::Refused(Reason::OverBudget));
    Ok(())
}

#[tokio::test]
async fn an_agents_own_budget_holds_and_giving_another_sheds_nothing() -> anyhow::Result<()> {
    let mut shop = Workshop::open(Mode::Guarded).await?;
    shop.agent("other", "a", Tier::T3).await?;
    let agent = shop.agent_id("worker").await;
    let set = async |limit: Option<u64>| {
        let budget =
            limit.map(|n| Budget { calls: [None, Some(n), None, None], ..Budget::default() });
        let effect = Effect::SetAgentBudget { agent, budget };
        shop.store().commit(UnitOfWork { effect: Some(effect), ..UnitOfWork::default() }).await
    };
    assert_eq!(shop.call("note", json!({})).await, Said::Done);
    set(Some(2)).await?;
    assert_eq!(shop.call("note", json!({})).await, Said::Done);
    assert_eq!(shop.call("note", json!({})).await, Said::Refused(Reason::OverBudget));
    set(Some(3)).await?;
    assert_eq!(shop.call("note", json!({})).await, Said::Done);
    assert_eq!(shop.call("note", json!({})).await, Said::Refused(Reason::OverBudget));
    let other = shop.call_as("other", "note", json!({}), Consent::Absent).await;
    assert_eq!(other, Said::Done, "another agent has its own");
    set(None).await?;
    assert_eq!(shop.call("note", json!({})).await, Said::Done);
    assert_eq!(shop.used("worker").await.calls[1], 4);
    Ok(())
}

fn cost(limit: f64) -> Budget {
    Budget { cost: Some(Cost::from_figure(limit).unwrap()), ..Budget::default() }
}

impl Workshop {
    pub(super) async fn used(&self, agent: &str) -> Usage {
        let spent = self.store().spent(self.holder(agent).await).await.expect("an account");
        let now = narthex_store::Clock::now(self.clock.as_ref());
        let used = spent.within(now, Duration::from_hours(1));
        Usage { micros: 0, ..used }
    }
}
