//! One exact call, once, in time, by the owner (threats E01 to E10, E21, E24).

use std::sync::Arc;
use std::time::Duration;

use narthex_core::{
    Actor, ApprovalStatus, Approver, Consent, EngagedBy, Mode, Phase, Reason, Ruled, SwitchScope,
    Tier,
};
use narthex_store::{Effect, Refused, StoreError, UnitOfWork};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::workshop::{Said, Workshop, call, no_digest, said};

const MINUTE: Duration = Duration::from_mins(1);
/// Approvals tried at once.
const TOGETHER: usize = 8;

#[tokio::test]
async fn a_gated_call_waits_and_runs_once_after_approval() -> anyhow::Result<()> {
    let shop = Workshop::open(Mode::Guarded).await?;
    let id = shop.call("publish", json!({"text": "x"})).await.waits();
    assert_eq!(shop.bench.count("publish"), 0);
    // Asking again asks for the same thing, once.
    assert_eq!(shop.call("publish", json!({"text": "x"})).await, Said::Waits(id));
    assert_eq!(shop.waiting().await.len(), 1);
    shop.approve(id).await;
    assert_eq!(shop.call("publish", json!({"text": "x"})).await, Said::Done);
    assert_eq!(
        shop.call("publish", json!({"text": "x"})).await,
        Said::Refused(Reason::ApprovalUsed)
    );
    assert_eq!(shop.bench.count("publish"), 1);
    // Much later the same call is a new question.
    shop.advance(11 * MINUTE);
    let again = shop.call("publish", json!({"text": "x"})).await.waits();
    assert_ne!(again, id);
    shop.house.verify().await?;
    Ok(())
}

/// E24: whoever reads the ledger sees who asked, who approved, and exactly what.
#[tokio::test]
async fn the_ledger_names_who_asked_who_approved_and_what() -> anyhow::Result<()> {
    let shop = Workshop::open(Mode::Guarded).await?;
    let before = shop.house.seq().await?;
    let id = shop.call("publish", json!({"text": "secret-canary"})).await.waits();
    shop.approve(id).await;
    assert_eq!(shop.call("publish", json!({"text": "secret-canary"})).await, Said::Done);
    let digest = shop.store().approval(id).await?.expect("kept").digest;
    let records = shop.house.records_after(before).await?;
    let of = |phase: Phase| records.iter().find(|r| r.draft.phase == phase).expect("a record");
    let asked = of(Phase::Refused).draft.clone();
    let mark = asked.approval.expect("a mark");
    assert_eq!(asked.decision, Ruled::Approval);
    assert_eq!((mark.id, mark.digest, mark.approver, mark.dry_run), (id, digest, None, true));
    let ran = of(Phase::Intent).draft.clone();
    assert!(matches!(&ran.actor, Actor::Agent { slug, .. } if slug.as_str() == "worker"));
    let mark = ran.approval.expect("a mark");
    assert_eq!(
        (mark.id, mark.digest, mark.approver, mark.dry_run),
        (id, digest, Some(Approver::Owner), false)
    );
    let all = serde_json::to_string(&records)?;
    let nonce = shop.gate.nonce_of(&shop.store().approval(id).await?.expect("kept"));
    assert!(!all.contains("secret-canary") && !all.contains(&nonce));
    Ok(())
}

/// E06, E07 and their kin: whatever changes between approval and call, the approval is for
/// something else.
#[tokio::test]
async fn an_approval_is_for_exactly_one_call_in_time() -> anyhow::Result<()> {
    type Change = (&'static str, Value);
    let calls: [Change; 7] = [
        ("publish", json!({"text": "y"})),
        ("publish", json!({"text": "x", "n": 1})),
        ("publish", json!({})),
        ("publish", json!({"text": "x "})),
        ("publish", json!({"n": 9_007_199_254_740_993_i64, "text": "x"})),
        ("publish", json!({"text": "X"})),
        ("erase", json!({"text": "x", "target": "t"})),
    ];
    let shop = Workshop::open(Mode::Open).await?;
    let id = shop.call("publish", json!({"text": "x"})).await.waits();
    shop.approve(id).await;
    for (tool, arguments) in calls {
        let got = shop.call(tool, arguments.clone()).await;
        assert!(matches!(&got, Said::Waits(other) if *other != id), "{tool} {arguments}: {got:?}");
    }
    assert_eq!(shop.bench.done.lock().unwrap().len(), 0);
    // The order of keys and an explicit consent are no part of the call.
    let consenting =
        shop.call_as("worker", "publish", json!({"text": "x"}), Consent::AtMost(Tier::T2));
    assert_eq!(consenting.await, Said::Done);
    Ok(())
}

#[tokio::test]
async fn time_and_circumstance_void_an_approval() -> anyhow::Result<()> {
    for what in [
        "nothing",
        "ten minutes",
        "ten minutes and a second",
        "back an hour",
        "forward six minutes",
        "reboot",
        "policy",
        "mode",
        "ceiling",
        "restart",
        "disabled",
        "consent",
        "stopped",
        "other agent",
    ] {
        let mut shop = Workshop::open(Mode::Open).await?;
        shop.agent("other", "a", Tier::T3).await?;
        let id = shop.call("publish", json!({"text": "x"})).await.waits();
        shop.approve(id).await;
        let (mut agent, mut consent) = ("worker", Consent::Absent);
        let mut runs = false;
        match what {
            "nothing" => runs = true,
            "ten minutes" => {
                shop.advance(10 * MINUTE);
                runs = true;
            }
            "ten minutes and a second" => shop.advance(10 * MINUTE + Duration::from_secs(1)),
            "back an hour" => shop.clock.set_wall_by(-3_600_000),
            "forward six minutes" => shop.clock.set_wall_by(360_000),
            "reboot" => shop.clock.reboot(),
            "policy" => shop.policy("// another text of the same meaning")?,
            "mode" => drop(shop.gate.set_mode(Mode::Guarded).await?),
            "ceiling" => {
                let effect = Effect::SetAgentCeiling {
                    agent: shop.agent_id("worker").await,
                    ceiling: Tier::T1,
                };
                shop.store()
                    .commit(UnitOfWork { effect: Some(effect), ..UnitOfWork::default() })
                    .await?;
            }
            "restart" => {
                shop = shop.restart(|_| {}).await?;
                runs = true;
            }
            "disabled" => {
                let agent = shop.agent_id("worker").await;
                let effect = Effect::SetAgentDisabled { agent, disabled: true };
                shop.house
                    .faults()
                    .slip_in(UnitOfWork { effect: Some(effect), ..UnitOfWork::default() });
            }
            "consent" => consent = Consent::Malformed,
            "stopped" => {
                shop.gate
                    .engage(SwitchScope::Everything, EngagedBy::Owner, Actor::Owner, "")
                    .await?;
            }
            "other agent" => agent = "other",
            other => unreachable!("{other}"),
        }
        let got = shop.call_as(agent, "publish", json!({"text": "x"}), consent).await;
        assert_eq!(got == Said::Done, runs, "{what}: {got:?}");
        assert_eq!(shop.bench.count("publish"), usize::from(runs), "{what}");
        // A call that did not go ahead used nothing up.
        let status = shop.store().approval(id).await?.expect("kept").status;
        let expected = if runs { ApprovalStatus::Used } else { ApprovalStatus::Approved };
        assert_eq!(status, expected, "{what}");
    }
    Ok(())
}

/// E09 and E18: an agent can neither approve nor decide; who may is not said in a request.
#[tokio::test]
async fn a_decision_is_for_what_was_shown_and_only_once() -> anyhow::Result<()> {
    let shop = Workshop::open(Mode::Guarded).await?;
    let id = shop.call("publish", json!({"text": "x"})).await.waits();
    let at = narthex_store::Clock::moment(shop.clock.as_ref());
    let other = Effect::DecideApproval { id, digest: no_digest(), approve: true, note: None, at };
    let unit = UnitOfWork { effect: Some(other), ..UnitOfWork::default() };
    assert!(shop.store().commit(unit).await.is_err(), "another call than the one shown");
    shop.decide(id, false).await?;
    let late = shop.decide(id, true).await;
    assert!(
        matches!(late, Err(StoreError::Refused(Refused::NotApproved(ApprovalStatus::Denied)))),
        "{late:?}"
    );
    assert_eq!(
        shop.call("publish", json!({"text": "x"})).await,
        Said::Refused(Reason::ApprovalDenied)
    );
    assert_eq!(shop.bench.count("publish"), 0);
    Ok(())
}

/// E10: one agent's flood neither fills another's place nor grows without bound.
#[tokio::test]
async fn only_so_many_requests_of_one_agent_wait() -> anyhow::Result<()> {
    let mut shop = Workshop::with(|config| config.approvals_waiting = 5).await?;
    shop.agent("flood", "a", Tier::T3).await?;
    let mine = shop.call("publish", json!({"text": "mine"})).await.waits();
    let mut refused = 0;
    for n in 0..200 {
        match shop.call_as("flood", "publish", json!({"n": n}), Consent::Absent).await {
            Said::Waits(_) => {}
            Said::Refused(Reason::LimitReached) => refused += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(refused, 195);
    assert!(shop.waiting().await.iter().any(|approval| approval.id == mine));
    assert_eq!(shop.waiting().await.len(), 6);
    // What nobody decided on makes room again.
    shop.advance(61 * MINUTE);
    shop.call_as("flood", "publish", json!({"n": 1000}), Consent::Absent).await.waits();
    shop.approve_all_but(mine).await;
    Ok(())
}

/// T3: exactly one target, and only in the open mode.
#[tokio::test]
async fn what_cannot_be_undone_names_one_target() -> anyhow::Result<()> {
    let shop = Workshop::open(Mode::Open).await?;
    for (target, one) in [
        (json!("db/main"), true),
        (json!(["db/main"]), true),
        (json!(7), true),
        (json!([]), false),
        (json!(["a", "b"]), false),
        (json!(null), false),
        (json!(""), false),
        (json!("  "), false),
        (json!("db/*"), false),
        (json!("a\nb"), false),
        (json!([["a"]]), false),
    ] {
        let got = shop.call("erase", json!({"target": target})).await;
        match (&got, one) {
            (Said::Waits(id), true) => {
                let approval = shop.store().approval(*id).await?.expect("kept");
                assert!(approval.nonce && approval.target.is_some(), "{target}");
                shop.decide(*id, false).await?;
            }
            (Said::Refused(Reason::OneTarget), false) => {}
            _ => panic!("{target}: {got:?}"),
        }
    }
    assert_eq!(shop.call("erase", json!({})).await, Said::Refused(Reason::OneTarget));
    assert_eq!(shop.bench.count("erase"), 0);
    Ok(())
}

/// Two requests have two nonces, and neither is in anything an agent or a reader of logs gets.
#[tokio::test]
async fn the_nonce_is_the_owners_alone() -> anyhow::Result<()> {
    let shop = Workshop::open(Mode::Open).await?;
    let mut nonces = std::collections::HashSet::new();
    for n in 0..20 {
        let admitted = shop.admitted("worker").await;
        let arguments = json!({"target": format!("t{n}")});
        let told = call(&shop.gate, &shop.surface, &admitted, "erase", arguments, Consent::Absent);
        let told = told.await.expect_err("it waits");
        let approval = shop.waiting().await.remove(0);
        let nonce = shop.gate.nonce_of(&approval);
        assert_eq!((nonce.len(), nonce.clone()), (8, shop.gate.nonce_of(&approval)));
        assert!(!format!("{told:?}").contains(&nonce));
        assert!(!serde_json::to_string(&approval)?.contains(&nonce));
        assert!(nonces.insert(nonce));
        shop.decide(approval.id, false).await?;
    }
    let ledger = serde_json::to_string(&shop.house.records().await?)?;
    assert!(nonces.iter().all(|nonce| !ledger.contains(nonce)));
    Ok(())
}

/// E04: a thousand approvals, each sent 64 times at once, are a thousand executions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_approvals_64_times_each_run_a_thousand_times() -> anyhow::Result<()> {
    let approvals = 1_000_usize;
    let shop = Workshop::with(|config| config.approvals_waiting = 2_000).await?;
    let admitted = Arc::new(shop.admitted("worker").await);
    for n in 0..approvals {
        let id = shop.call("publish", json!({"n": n})).await.waits();
        shop.approve(id).await;
    }
    let mut done = 0;
    for from in (0..approvals).step_by(TOGETHER) {
        let mut tasks = JoinSet::new();
        for n in from..from + TOGETHER {
            for _ in 0..64 {
                let (gate, surface) = (shop.gate.clone(), Arc::clone(&shop.surface));
                let admitted = Arc::clone(&admitted);
                tasks.spawn(async move {
                    let ended = call(
                        &gate,
                        &surface,
                        &admitted,
                        "publish",
                        json!({"n": n}),
                        Consent::Absent,
                    );
                    said(ended.await)
                });
            }
        }
        while let Some(ended) = tasks.join_next().await {
            match ended? {
                Said::Done => done += 1,
                Said::Refused(Reason::ApprovalUsed) => {}
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!((done, shop.bench.count("publish")), (approvals, approvals));
    assert_eq!(shop.waiting().await.len(), 0, "nobody was asked a second time");
    shop.house.verify().await?;
    Ok(())
}

impl Workshop {
    async fn approve_all_but(&self, mine: narthex_core::ApprovalId) {
        for approval in self.waiting().await {
            if approval.id != mine {
                self.approve(approval.id).await;
            }
        }
    }
}
