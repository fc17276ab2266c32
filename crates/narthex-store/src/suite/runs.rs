//! Runs that wait for the owner: kept whole, taken up once, and by nobody else.

use narthex_core::{
    ApprovalId, Digest, Holder, Journal, ParkedRun, RunAnswer, RunCall, RunEvent, RunId, Taint,
    Timestamp,
};
use serde_json::json;

use super::Backend;
use super::house::House;
use crate::{Effect, Refused, fresh_uuid};

fn run(house: &House, until: i64) -> ParkedRun {
    let value = json!({"é": "\u{2028}", "n": 9_007_199_254_740_991_u64});
    ParkedRun {
        id: RunId::from_uuid(fresh_uuid()),
        holder: Holder { agent: house.agent.id, space: house.agent.space },
        program: "workspace.read({})".to_owned(),
        asked: Digest::of(b"asked"),
        script_ms: Some(100),
        waiting: vec![ApprovalId::from_uuid(fresh_uuid())],
        journal: Journal {
            seed: u64::MAX,
            started: Timestamp::from_millis(7),
            events: vec![
                RunEvent::Called(RunCall {
                    call: 0,
                    module: "host:workspace".to_owned(),
                    function: "read".to_owned(),
                    arguments: json!({"slug": "tea"}),
                    deferred: false,
                }),
                RunEvent::Answered {
                    call: 0,
                    at: Timestamp::from_millis(8),
                    answer: RunAnswer::Value { value, binaries: Vec::new() },
                },
            ],
        },
        taint: Taint { private: true, untrusted: false },
        rules: Some(Digest::of(b"rules")),
        parked: Timestamp::from_millis(9),
        until: Timestamp::from_millis(until),
    }
}

fn park(run: &ParkedRun, now: i64) -> Effect {
    Effect::ParkRun { run: Box::new(run.clone()), cap: 2, now: Timestamp::from_millis(now) }
}

pub async fn a_run_reads_back_as_parked(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let run = run(&house, 1_000);
    house.done(park(&run, 10)).await;
    let house = House { store: backend.reopen().await, ..house };
    let one = house.store.parked_run(run.holder, run.id).await.unwrap();
    assert_eq!(one.as_ref(), Some(&run));
    for holder in [Some(run.holder), None] {
        assert_eq!(house.store.parked_runs(holder).await.unwrap(), std::slice::from_ref(&run));
    }
    let other = Holder { agent: house.other.id, space: house.other.space };
    let asked = |holder, asked| house.store.parked_run_asked(holder, asked);
    assert_eq!(asked(run.holder, run.asked).await.unwrap().as_ref(), Some(&run));
    assert_eq!(asked(run.holder, Digest::of(b"else")).await.unwrap(), None);
    assert_eq!(asked(other, run.asked).await.unwrap(), None);
    assert_eq!(house.store.parked_run(other, run.id).await.unwrap(), None);
    assert_eq!(house.store.parked_runs(Some(other)).await.unwrap(), []);
    assert!(house.store.damaged_rows().await.unwrap().is_empty());
}

pub async fn it_is_taken_up_once_and_by_whose_it_is(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let run = run(&house, 1_000);
    house.done(park(&run, 10)).await;
    let other = Holder { agent: house.other.id, space: house.other.space };
    let take = |holder| Effect::TakeUpRun { id: run.id, holder };
    assert_eq!(house.refused(take(other)).await, Refused::NotFound("run"));
    house.done(take(run.holder)).await;
    assert_eq!(house.refused(take(run.holder)).await, Refused::NotFound("run"));
    let house = House { store: backend.reopen().await, ..house };
    assert_eq!(house.refused(take(run.holder)).await, Refused::NotFound("run"));
    assert_eq!(house.store.parked_runs(None).await.unwrap(), []);
}

pub async fn only_so_many_wait_and_what_is_over_goes(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let (first, second, third) = (run(&house, 50), run(&house, 1_000), run(&house, 1_000));
    let holder = Holder { agent: house.other.id, space: house.other.space };
    house.done(park(&ParkedRun { holder, ..run(&house, 50) }, 10)).await;
    house.done(park(&first, 10)).await;
    house.done(park(&second, 10)).await;
    assert_eq!(house.refused(park(&third, 50)).await, Refused::TooManyParked { cap: 2 });
    house.done(park(&third, 51)).await;
    assert_eq!(house.store.parked_runs(None).await.unwrap(), [second, third]);
}
