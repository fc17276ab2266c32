//! Check and burn under every order a scheduler can find: one approval, several calls, an owner
//! who changes their mind, a clock that moves, a writer that may fall over.
//!
//! What runs here is what the gate and the store run: [`Approval::for_call`] on a copy, then
//! [`Approval::use_up`] inside the writer's turn. The store is a lock (one writer, one turn at a
//! time) that takes back what it did when the turn fails.
//!
//! So what is real here is the rule, and nothing around it: not the gate's stages, not the writer's
//! batches, not SQLite, and no thread of theirs. Those are tried together, under load and not in every
//! order, where an approval is sent 64 times at once (`narthex-test/tests/it/full/approvals.rs`) and
//! where the store's suite does the same to a back end (`narthex-store/src/suite/approvals.rs`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::time::Duration;

use narthex_core::{
    AgentId, Approval, ApprovalId, ApprovalStatus, Binding, BootId, CallId, Digest, ForCall,
    Holder, Mode, Moment, Reason, Taint, Tier, Timestamp,
};
use shuttle::rand::Rng as _;
use shuttle::sync::{Arc, Mutex};
use shuttle::thread;
use uuid::Uuid;

const VALID: Duration = Duration::from_mins(10);
const WAIT: Duration = Duration::from_hours(1);
const CALLERS: u128 = 4;

/// What the writer holds: the row, the effects that were committed, the time.
struct Store {
    approval: Approval,
    executed: Vec<CallId>,
    minutes: u64,
}

#[test]
fn however_calls_interleave_one_runs() {
    shuttle::check_random(|| scene(burn), 4_000);
    shuttle::check_pct(|| scene(burn), 4_000, 4);
}

/// The same scene finds the fault it is there for: checking outside the writer's turn.
#[test]
fn checking_before_the_turn_is_caught() {
    let found = std::panic::catch_unwind(|| shuttle::check_random(|| scene(unchecked), 4_000));
    assert!(found.is_err(), "two calls ran on one approval and nobody noticed");
}

type Turn = fn(&mut Store, CallId, &Approval) -> bool;

/// The writer's turn as it is: check and burn together, or nothing.
fn burn(store: &mut Store, call: CallId, seen: &Approval) -> bool {
    let before = store.approval.clone();
    let used = store.approval.use_up(seen.digest, call, moment(store.minutes), VALID).is_ok();
    if used && shuttle::rand::thread_rng().gen_bool(0.2) {
        // The transaction fell: the effect and the burning fall with it.
        store.approval = before;
        return false;
    }
    used
}

/// As it must not be: what was seen before the turn is believed.
fn unchecked(store: &mut Store, call: CallId, _seen: &Approval) -> bool {
    store.approval.status = ApprovalStatus::Used;
    store.approval.used_by = Some(call);
    true
}

fn scene(turn: Turn) {
    let store =
        Arc::new(Mutex::new(Store { approval: waiting(), executed: Vec::new(), minutes: 0 }));
    let mut threads = Vec::new();
    for n in 0..CALLERS {
        let store = Arc::clone(&store);
        threads.push(thread::spawn(move || {
            let call = CallId::from_uuid(Uuid::from_u128(100 + n));
            for _ in 0..2 {
                // Decided on a copy, as the gate decides on what it read.
                let (seen, now) = {
                    let store = store.lock().unwrap();
                    (store.approval.clone(), moment(store.minutes))
                };
                if seen.for_call(now, VALID, WAIT) == ForCall::Use {
                    let mut store = store.lock().unwrap();
                    if turn(&mut store, call, &seen) {
                        store.executed.push(call);
                    }
                }
                thread::yield_now();
            }
        }));
    }
    let owner = Arc::clone(&store);
    threads.push(thread::spawn(move || {
        let approve = shuttle::rand::thread_rng().gen_bool(0.9);
        let mut store = owner.lock().unwrap();
        let now = moment(store.minutes);
        store.approval.status =
            if approve { ApprovalStatus::Approved } else { ApprovalStatus::Denied };
        store.approval.decided = Some(now);
    }));
    let clock = Arc::clone(&store);
    threads.push(thread::spawn(move || {
        for _ in 0..3 {
            clock.lock().unwrap().minutes += 4;
            thread::yield_now();
        }
    }));
    for thread in threads {
        thread.join().unwrap();
    }
    let store = store.lock().unwrap();
    assert!(store.executed.len() <= 1, "{:?} ran on one approval", store.executed);
    if let [call] = store.executed[..] {
        assert_eq!(
            (store.approval.status, store.approval.used_by),
            (ApprovalStatus::Used, Some(call))
        );
    } else {
        assert_ne!(store.approval.status, ApprovalStatus::Used, "used up by nobody");
    }
}

fn moment(minutes: u64) -> Moment {
    let millis = minutes * 60_000;
    Moment {
        wall: Timestamp::from_millis(i64::try_from(millis).unwrap()),
        boot: BootId::from_uuid(Uuid::from_u128(1)),
        up: millis,
    }
}

fn waiting() -> Approval {
    let binding = Binding {
        holder: Holder { agent: AgentId::from_uuid(Uuid::from_u128(1)), space: None },
        surface: "s".to_owned(),
        tool: "t".to_owned(),
        definition: Digest::of(b"definition"),
        arguments: serde_json::json!({}),
        tier: Tier::T2,
        mode: Mode::Guarded,
        policy: Digest::of(b"policy"),
        run: None,
    };
    let (id, until) =
        (ApprovalId::from_uuid(Uuid::from_u128(2)), Timestamp::from_millis(3_600_000));
    Approval::waiting(id, binding, Reason::ApprovalNeeded, Taint::CLEAN, moment(0), until)
}
