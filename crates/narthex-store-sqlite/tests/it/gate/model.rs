//! Random units, many at once, against a small model of what must come of them.

use std::sync::Arc;

use narthex_core::{Budget, Taint};
use narthex_store::suite::Backend as _;
use narthex_store::{Clock as _, Commits as _, Effect, Guard, Refused, StoreError, UnitOfWork};

use super::{House, UNTRUSTED, commit, holder, latch, observed};

/// A generator that gives the same numbers every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// What one holder must look like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Model {
    taint: Taint,
    used: u64,
}

#[tokio::test]
async fn one_after_the_other_they_follow_the_model() {
    for seed in 1..=8 {
        Box::pin(follows(seed)).await;
    }
}

async fn follows(seed: u64) {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let (house, mut store) = House::open().await;
    let agents = [house.agent.clone(), house.other.clone()];
    let mut models = [Model::default(); 2];
    for step in 0..150 {
        let which = usize::try_from(dice.roll(2)).expect("small");
        let (Some(agent), Some(model)) = (agents.get(which), models.get_mut(which)) else {
            panic!("one of the two");
        };
        let limit = dice.roll(40);
        let budget = Budget {
            window_seconds: 600,
            calls: [Some(limit), None, None, None],
            ..Budget::default()
        };
        let now = house.backend.clock().now();
        let decided = if dice.roll(2) == 0 { Taint::CLEAN } else { UNTRUSTED };
        let budgeted = Guard::WithinBudget { holder: holder(agent), budget, now };
        let clean = Guard::TaintWithin { holder: holder(agent), decided };
        let told = format!("seed {seed} step {step}");
        match dice.roll(12) {
            0 => {
                let taint = UNTRUSTED;
                let effect = Effect::ClearLatch { holder: holder(agent), taint, ran_out: None };
                super::done(&store, effect).await;
                model.taint = Taint::CLEAN;
            }
            1 => {
                store.close().await.expect("closes");
                store = house.backend.store().await.expect("opens");
            }
            roll => {
                let arms = if roll < 5 { house.arming(agent, UNTRUSTED).arms } else { None };
                let arming = arms.is_some();
                let records = vec![observed(agent)];
                let guards = vec![clean, budgeted];
                let unit = UnitOfWork { guards, arms, records, ..UnitOfWork::default() };
                let answer = commit(&store, unit).await;
                if !model.taint.is_within(decided) {
                    let moved = matches!(answer, Err(StoreError::Refused(Refused::TaintMoved)));
                    assert!(moved, "{told}: {answer:?}");
                } else if model.used + 1 > limit {
                    let over = matches!(answer, Err(StoreError::Refused(Refused::OverBudget(_))));
                    assert!(over, "{told}: {answer:?}");
                } else {
                    assert!(answer.is_ok(), "{told}: {answer:?}");
                    model.used += 1;
                    if arming {
                        model.taint = UNTRUSTED;
                    }
                }
            }
        }
        for (agent, model) in agents.iter().zip(&models) {
            let taint = latch(&store, agent).await.taint();
            let seen = Model { taint, used: house.used(&store, agent).await };
            assert_eq!(seen, *model, "{told}");
        }
    }
    store.close().await.expect("closes");
}

/// However they fall into batches: what went ahead is what was used, and never more than allowed.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_at_once_they_never_pass_the_limit() {
    let (house, store) = House::open().await;
    let store = Arc::new(store);
    let approved = house.approved(&store, "once").await;
    let now = house.backend.clock().now();
    let budget =
        Budget { window_seconds: 600, calls: [Some(50), None, None, None], ..Budget::default() };
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..300 {
        let mut unit = super::call(&house.agent);
        let holder = holder(&house.agent);
        unit.guards.push(Guard::WithinBudget { holder, budget, now });
        let burns = n % 3 == 0;
        if burns {
            unit.guards.extend(house.using(&approved).guards);
        }
        let store = Arc::clone(&store);
        tasks.spawn(async move { (burns, store.commit(unit).await.is_ok()) });
    }
    let results = tasks.join_all().await;
    let went = |burning: bool| results.iter().filter(|(b, ok)| *b == burning && *ok).count();
    assert!(went(true) <= 1, "an approval is good once");
    let sum = u64::try_from(went(true) + went(false)).expect("small");
    assert_eq!(sum, 50);
    assert_eq!(house.used(&store, &house.agent).await, sum);
    store.close().await.expect("closes");
    let store = house.backend.store().await.expect("opens");
    assert_eq!(house.used(&store, &house.agent).await, sum);
    store.close().await.expect("closes");
}
