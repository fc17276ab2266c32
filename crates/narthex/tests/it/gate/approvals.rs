//! `narthex approvals list|show|approve|deny`.

use std::sync::Arc;

use narthex_core::{ApprovalStatus, Digest, Tier};
use narthex_server::owner::{Answer, ApprovalRequest, Request, Trouble};
use narthex_store::ManualClock;
use narthex_test::{HouseOptions, TestHouse};
use serde_json::json;

use super::{ledger, now, waiting};
use crate::support::{answer, narthex, stderr, stdout};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_call_is_shown_whole_and_answered_once() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let dir = house.dir().root();
    assert!(stdout(&narthex(&["approvals", "list"], dir)).contains("Nothing waits"));
    let call = waiting(&house, Tier::T2, json!({"to": "b\u{202e}ob", "n": 1})).await?;
    let id = call.id.to_string();

    let list = answer(&["approvals", "list"], dir);
    assert_eq!(list[0]["id"], id.as_str());
    assert_eq!((&list[0]["agent"], &list[0]["space"]), (&json!("agent-a"), &json!("a")));
    assert!(list[0].get("arguments").is_none() && list[0].get("nonce").is_none(), "{list}");
    let none = answer(&["approvals", "list", "--agent", "agent-b"], dir);
    assert_eq!(none, json!([]));
    let inbox = narthex(&["inbox", "list"], dir);
    assert!(stderr(&inbox).contains("1 call waits for your approval"), "{}", stderr(&inbox));

    let shown = stdout(&narthex(&["approvals", "show", &id], dir));
    for part in ["agent-a", "servers/web", "post", "T2", "⟨U+202E⟩", "1 hidden characters", &id]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(shown.contains(&call.digest.to_string()) && !shown.contains('\u{202e}'), "{shown}");
    assert_eq!(answer(&["approvals", "show", &id], dir)["arguments"]["to"], "b\u{202e}ob");

    let approved = answer(&["approvals", "approve", &id], dir);
    assert_eq!(approved["status"], "approved");
    assert!(approved["good_until"].is_string());
    for again in [vec!["approve", &id], vec!["approve", &id, "--yes"], vec!["deny", &id]] {
        let again = narthex(&[&["approvals"], &again[..]].concat(), dir);
        assert_eq!(again.status.code(), Some(4), "{}", stderr(&again));
        assert!(stderr(&again).contains("approved already"), "{}", stderr(&again));
    }
    assert_eq!(answer(&["approvals", "list"], dir), json!([]));
    assert_eq!(answer(&["approvals", "list", "--all"], dir)[0]["status"], "approved");

    let records = house.records().await?;
    let record = records.iter().find(|r| r.draft.tool == "approval.approve").expect("a record");
    let mark = record.draft.approval.as_ref().expect("a mark");
    assert_eq!((mark.id, mark.digest), (call.id, call.digest));
    assert_eq!(serde_json::to_value(mark)?["approver"], "owner");
    assert_eq!(record.draft.subject.id.as_deref(), Some(id.as_str()));
    assert_eq!(record.draft.subject.digest, Some(call.digest));
    assert!(!ledger(&house).await?.contains("ob\""), "arguments are not in the ledger");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_no_has_its_words_and_what_is_not_there_is_not_found() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let dir = house.dir().root();
    let call = waiting(&house, Tier::T2, json!({})).await?;
    let id = call.id.to_string();
    let broken = narthex(&["approvals", "deny", &id, "--reason", "a\nb"], dir);
    assert_eq!(broken.status.code(), Some(2), "{}", stderr(&broken));
    let denied = answer(&["approvals", "deny", &id, "--reason", "not on a Friday"], dir);
    assert_eq!((&denied["status"], &denied["good_until"]), (&json!("denied"), &json!(null)));
    assert_eq!(answer(&["approvals", "show", &id], dir)["note"], "not on a Friday");
    assert!(house.records().await?.iter().any(|r| r.draft.tool == "approval.deny"));
    for wrong in ["0198c0de-0000-7000-8000-000000000001", "0198", "", "../x"] {
        for command in ["show", "approve", "deny"] {
            let output = narthex(&["approvals", command, wrong], dir);
            assert_eq!(output.status.code(), Some(3), "{command} {wrong}: {}", stderr(&output));
            assert!(stderr(&output).contains("approvals list --all"), "{}", stderr(&output));
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_waited_too_long_or_is_another_call_is_not_approved() -> anyhow::Result<()> {
    let clock = Arc::new(ManualClock::at(now()));
    let options = HouseOptions { clock: Arc::clone(&clock) as _, ..HouseOptions::default() };
    let house = TestHouse::with(options).await?;
    let dir = house.dir().root();
    let call = waiting(&house, Tier::T2, json!({})).await?;
    let other = Request::Approval(ApprovalRequest::Answer {
        approval: call.id.to_string(),
        digest: Digest::of(b"another"),
        answer: Answer::Approve { nonce: None },
    });
    let refused = house.owner(other).await.expect_err("another call");
    assert_eq!(refused.kind, Trouble::Conflict);
    assert!(refused.message.contains("not what was shown"), "{refused}");
    let kept = house.store().approval(call.id).await?.expect("there");
    assert_eq!(kept.status, ApprovalStatus::Waiting);

    clock.advance_millis(3_600_001);
    assert_eq!(answer(&["approvals", "list"], dir), json!([]));
    let id = call.id.to_string();
    assert_eq!(answer(&["approvals", "show", &id], dir)["status"], "void");
    let late = narthex(&["approvals", "approve", &id, "--yes"], dir);
    assert_eq!(late.status.code(), Some(4), "{}", stderr(&late));
    let late = Request::Approval(ApprovalRequest::Answer {
        approval: id,
        digest: call.digest,
        answer: Answer::Approve { nonce: None },
    });
    let late = house.owner(late).await.expect_err("too late");
    assert!(late.message.contains("must ask again"), "{late}");
    Ok(())
}
