//! Tools that panic, hang, fail, reach outside or need approval: each leaves its record, and the
//! house stays up.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use narthex_core::{EffectSite, Mode, Outcome, Phase, Reason, Ruled, Tier};
use narthex_gate::{Gate, GateConfig, GateParts, ReadySurface, TokenVerifier};
use narthex_mcp::EdgeConfig;
use narthex_policy::PolicyEngine;
use narthex_store::SystemClock;
use narthex_test::{SideDoor, TestHouse, raw_post};
use serde_json::json;
use tokio::io::AsyncWriteExt;

use super::surface::{Rig, TOOLS};

struct Rigged {
    house: TestHouse,
    rig: Arc<Rig>,
    door: SideDoor,
    token: String,
}

/// A door with the rig behind a gate of its own, over the house's store.
async fn rigged(mode: Mode, ceiling: Tier, deadline: Duration) -> anyhow::Result<Rigged> {
    let house = TestHouse::start().await?;
    house.agent("rigger", "a", &["read"], ceiling).await?;
    let token = house.new_token("rigger", None, None).await?.token;
    let (store, clock) = (house.house().gate().store().clone(), Arc::new(SystemClock));
    let key = house.dir().keys()?.token;
    let gate = Gate::open(GateParts {
        store: Arc::clone(&store),
        verifier: Arc::new(TokenVerifier::new(Arc::clone(&store), clock.clone(), key, 100)),
        policy: PolicyEngine::standard()?,
        clock,
        rows: house.row_key()?,
        config: GateConfig { mode, call_deadline: deadline, ..GateConfig::default() },
    })
    .await;
    let rig = Arc::new(Rig::new(store));
    let surface = Arc::new(ReadySurface::new(Arc::clone(&rig) as _)?);
    let edge = EdgeConfig { early_headers_after: Duration::from_secs(20), ..EdgeConfig::default() };
    let door = SideDoor::open(gate, surface, edge).await?;
    Ok(Rigged { house, rig, door, token })
}

impl Rigged {
    /// A connection on which a tool was called, and nothing read yet.
    async fn ask(&self, tool: &str) -> anyhow::Result<tokio::net::TcpStream> {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": {}}});
        let token = format!("authorization: Bearer {}", self.token);
        let mut stream = tokio::net::TcpStream::connect(self.door.address()).await?;
        stream.write_all(&raw_post(&[token.as_bytes()], &body.to_string())).await?;
        Ok(stream)
    }
}

type Left = (Phase, Ruled, Reason, Outcome);

#[tokio::test]
async fn each_way_to_fail_leaves_its_record_and_the_house_stays_up() -> anyhow::Result<()> {
    let rigged = rigged(Mode::Guarded, Tier::T1, Duration::from_millis(200)).await?;
    let client = rigged.door.client(&rigged.token);
    let intent: Left = (Phase::Intent, Ruled::Allow, Reason::Permitted, Outcome::Open);
    let left = |phase, reason, outcome| -> Left { (phase, Ruled::Allow, reason, outcome) };
    let refused = |reason| -> Left { (Phase::Refused, Ruled::Refuse, reason, Outcome::Refused) };
    let (late, ours) = (Reason::DeadlineExceeded, Reason::Internal);
    let rows: Vec<(&str, u16, Option<&str>, Vec<Left>)> = vec![
        ("look", 200, None, vec![left(Phase::Observed, Reason::Permitted, Outcome::Ok)]),
        ("look-panic", 500, None, vec![left(Phase::Observed, ours, Outcome::Error)]),
        (
            "look-hang",
            200,
            Some("deadline_exceeded"),
            vec![left(Phase::Observed, late, Outcome::Unknown)],
        ),
        ("change-panic", 500, None, vec![refused(ours)]),
        ("change-hang", 200, Some("deadline_exceeded"), vec![refused(late)]),
        ("send", 200, None, vec![intent, left(Phase::Outcome, Reason::Permitted, Outcome::Ok)]),
        ("send-fail", 500, None, vec![intent, left(Phase::Outcome, ours, Outcome::Error)]),
        (
            "send-refused",
            200,
            None,
            vec![intent, left(Phase::Outcome, Reason::UpstreamFailed, Outcome::Error)],
        ),
        (
            "send-lost",
            200,
            Some("outcome_unknown"),
            vec![intent, left(Phase::Outcome, Reason::OutcomeUnknown, Outcome::Unknown)],
        ),
        ("send-panic", 500, None, vec![intent, left(Phase::Outcome, ours, Outcome::Error)]),
        (
            "send-hang",
            200,
            Some("deadline_exceeded"),
            vec![intent, left(Phase::Outcome, late, Outcome::Unknown)],
        ),
        ("publish", 200, Some("over_ceiling"), vec![refused(Reason::OverCeiling)]),
        ("erase", 200, Some("over_mode"), vec![refused(Reason::OverMode)]),
    ];
    for (tool, status, code, expected) in rows {
        let before = rigged.house.seq().await?;
        let answer = client.call(tool, json!({})).await?;
        assert_eq!(
            (answer.status, answer.tool_code().as_deref()),
            (status, code),
            "{tool}: {answer:?}"
        );
        assert!(answer.header("retry-after").is_none(), "{tool}: {answer:?}");
        assert!(
            !answer.text.contains("purpose") && !answer.text.contains("secret of"),
            "{answer:?}"
        );
        let records = rigged.house.records_after(before).await?;
        let leaves: Vec<Left> = records
            .iter()
            .map(|r| (r.draft.phase, r.draft.decision, r.draft.reason, r.draft.outcome))
            .collect();
        assert_eq!(leaves, expected, "{tool}");
        assert!(records.windows(2).all(|pair| pair[0].draft.call == pair[1].draft.call), "{tool}");
    }
    assert!(client.call("look", json!({})).await?.is_ok(), "the house is down");
    rigged.door.close().await;
    rigged.house.verify().await?;
    Ok(())
}

#[tokio::test]
async fn acting_outside_begins_only_after_the_intent_is_durable() -> anyhow::Result<()> {
    let rigged = rigged(Mode::Guarded, Tier::T1, Duration::from_secs(5)).await?;
    let client = rigged.door.client(&rigged.token);
    assert!(client.call("send", json!({})).await?.is_ok());
    let durable = rigged.rig.durable.load(Ordering::SeqCst);
    assert_eq!(durable, rigged.house.seq().await? - 1, "the act saw no intent of its own");
    // What cannot be recorded is not done.
    rigged.house.faults().fail_writing(true);
    assert_eq!(client.call("send", json!({})).await?.status, 503);
    assert_eq!(rigged.rig.performed.load(Ordering::SeqCst), 1, "it acted without a record");
    rigged.door.close().await;
    Ok(())
}

/// It acted, and then the disk failed: nobody may say that it was not made, nor try it again.
#[tokio::test]
async fn an_outcome_that_cannot_be_recorded_is_unknown_and_not_to_be_tried_again()
-> anyhow::Result<()> {
    let rigged = rigged(Mode::Guarded, Tier::T1, Duration::from_millis(600)).await?;
    let (client, before) = (rigged.door.client(&rigged.token), rigged.house.seq().await?);
    let failing = async {
        until(async || rigged.rig.performed.load(Ordering::SeqCst) == 1).await?;
        rigged.house.faults().fail_writing(true);
        anyhow::Ok(())
    };
    let (answer, failing) = tokio::join!(client.call("send-hang", json!({})), failing);
    failing?;
    let answer = answer?;
    rigged.house.faults().fail_writing(false);
    assert_eq!(
        (answer.status, answer.tool_code().as_deref()),
        (200, Some(Reason::OutcomeUnknown.code())),
        "{answer:?}"
    );
    assert!(answer.header("retry-after").is_none(), "{answer:?}");
    assert!(answer.text.contains("unknown") && !answer.text.contains("not made"), "{answer:?}");
    assert_eq!(rigged.house.seq().await?, before + 1, "the intent alone");
    rigged.door.close().await;
    Ok(())
}

/// T2 and T3 wait for an approval that nobody gives here: listed, and never done.
#[tokio::test]
async fn what_needs_approval_waits_and_is_not_done() -> anyhow::Result<()> {
    for (mode, tool, reason, decision) in [
        (Mode::Readonly, "publish", Reason::OverMode, Ruled::Refuse),
        (Mode::Guarded, "publish", Reason::ApprovalNeeded, Ruled::Approval),
        (Mode::Open, "publish", Reason::ApprovalNeeded, Ruled::Approval),
        (Mode::Readonly, "erase", Reason::OverMode, Ruled::Refuse),
        (Mode::Guarded, "erase", Reason::OverMode, Ruled::Refuse),
        (Mode::Open, "erase", Reason::ApprovalNeeded, Ruled::Approval),
    ] {
        let rigged = rigged(mode, Tier::T3, Duration::from_secs(5)).await?;
        let client = rigged.door.client(&rigged.token);
        let listed = client.tools().await?.contains(&tool.to_owned());
        assert_eq!(listed, decision == Ruled::Approval, "{mode} {tool}");
        let before = rigged.house.seq().await?;
        let answer = client.call(tool, json!({"what": "one thing"})).await?;
        assert_eq!(answer.tool_code().as_deref(), Some(reason.code()), "{mode} {tool}: {answer:?}");
        let records = rigged.house.records_after(before).await?;
        assert_eq!(records.len(), 1);
        assert_eq!((records[0].draft.decision, records[0].draft.reason), (decision, reason));
        assert_eq!(rigged.rig.performed.load(Ordering::SeqCst), 0, "{mode} {tool} was done");
        rigged.door.close().await;
    }
    Ok(())
}

/// A client that hangs up takes its call back, and the ledger still says what came of it.
#[tokio::test]
async fn a_client_that_hangs_up_still_leaves_the_outcome() -> anyhow::Result<()> {
    let rigged = rigged(Mode::Guarded, Tier::T1, Duration::from_mins(1)).await?;
    let before = rigged.house.seq().await?;
    let stream = rigged.ask("send-hang").await?;
    until(async || rigged.rig.performed.load(Ordering::SeqCst) == 1).await?;
    assert_eq!(rigged.house.seq().await?, before + 1, "the intent alone");
    drop(stream);
    until(async || rigged.house.seq().await.is_ok_and(|seq| seq == before + 2)).await?;
    let outcome = rigged.house.records_after(before + 1).await?.remove(0).draft;
    assert_eq!(
        (outcome.phase, outcome.reason, outcome.outcome),
        (Phase::Outcome, Reason::Interrupted, Outcome::Unknown)
    );
    rigged.door.close().await;
    rigged.house.verify().await?;
    Ok(())
}

/// What nobody waits for any more is not looked up to its deadline, and is in the ledger.
#[tokio::test]
async fn a_client_that_hangs_up_ends_what_is_looked_up() -> anyhow::Result<()> {
    let rigged = rigged(Mode::Guarded, Tier::T1, Duration::from_mins(1)).await?;
    let before = rigged.house.seq().await?;
    let stream = rigged.ask("look-hang").await?;
    until(async || rigged.rig.observed.load(Ordering::SeqCst) == 1).await?;
    assert_eq!(rigged.house.seq().await?, before, "nothing came of it yet");
    drop(stream);
    until(async || rigged.house.seq().await.is_ok_and(|seq| seq == before + 1)).await?;
    let left = rigged.house.records_after(before).await?.remove(0).draft;
    assert_eq!(
        (left.phase, left.reason, left.outcome),
        (Phase::Observed, Reason::Interrupted, Outcome::Unknown)
    );
    rigged.door.close().await;
    rigged.house.verify().await?;
    Ok(())
}

/// The rig has one of each kind, so that the rows above are about all of them.
#[test]
fn the_rig_has_every_site_and_every_tier() {
    for site in [EffectSite::Observe, EffectSite::Local, EffectSite::External] {
        assert!(TOOLS.iter().any(|(_, of, _)| *of == site));
    }
    for tier in Tier::ALL {
        assert!(TOOLS.iter().any(|(_, _, of)| *of == tier));
    }
}

async fn until(mut there: impl AsyncFnMut() -> bool) -> anyhow::Result<()> {
    for _ in 0..400 {
        if there().await {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    anyhow::bail!("it did not come about in ten seconds")
}
