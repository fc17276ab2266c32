//! The nonce of a call that cannot be undone: typed by the owner, and nowhere else.

use narthex_core::{ApprovalStatus, Tier};
use narthex_test::TestHouse;
use narthex_test::upstream::{Script, Step};
use serde_json::json;

use super::upstairs::Upstairs;
use super::{ledger, waiting};
use crate::support::{answer, narthex, stderr, stdout};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn it_must_be_typed_and_is_in_nothing_an_agent_or_a_log_sees() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let dir = house.dir().root();
    let call = waiting(&house, Tier::T3, json!({"to": "x"})).await?;
    let id = call.id.to_string();
    let shown = answer(&["approvals", "show", &id], dir);
    let nonce = shown["nonce"].as_str().expect("a nonce").to_owned();
    assert_eq!(nonce.len(), 8);
    assert_eq!(shown["target"], "https://example.org/x");
    assert!(stdout(&narthex(&["approvals", "show", &id], dir)).contains(&nonce));
    assert!(!stdout(&narthex(&["approvals", "list"], dir)).contains(&nonce), "the list is short");

    for without in [vec!["approve", &id], vec!["approve", &id, "--yes"]] {
        let output = narthex(&[&["approvals"], &without[..]].concat(), dir);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("the nonce must be typed"), "{}", stderr(&output));
        assert!(!stderr(&output).contains(&nonce));
    }
    let wrong = narthex(&["approvals", "approve", &id, "--nonce", "wr0ngw0r"], dir);
    assert_eq!(wrong.status.code(), Some(7), "{}", stderr(&wrong));
    assert!(!stderr(&wrong).contains(&nonce) && !stderr(&wrong).contains("wr0ngw0r"));
    assert_eq!(answer(&["approvals", "show", &id], dir)["wrong_nonces"], 1);

    let typed = format!(" {} ", nonce.to_uppercase());
    assert_eq!(
        answer(&["approvals", "approve", &id, "--nonce", &typed], dir)["status"],
        "approved"
    );
    assert_eq!(answer(&["approvals", "show", &id], dir)["nonce"], json!(null), "no longer shown");
    let said = ledger(&house).await?;
    assert!(said.contains("approval.wrong_nonce") && said.contains("approval.approve"), "{said}");
    assert!(!said.contains(&nonce) && !said.contains("wr0ngw0r"), "a nonce is in the ledger");
    Ok(())
}

/// What the program says while a call waits, is shown, mistyped and approved: to a log that may be
/// anybody's, and to whoever reads the standard error of a process it started.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_in_no_log_of_a_server_and_on_no_standard_error_of_a_stdio_process() {
    let script = Script::new().tool("wipe", [Step::Echo]);
    let rules = json!({"tools": {"wipe": {"tier": "T3", "target": "/what"}}});
    let house = Upstairs::new("", &script, &rules);
    let dir = house.dir();
    let served = house.serve();
    let client = house.client(&served);
    let mut waiting = Vec::new();
    for what in ["one", "two"] {
        let told = client.call("wipe", json!({"what": what})).await.expect("an answer");
        let id = &told.result()["_meta"]["narthex/error"]["approval"]["id"];
        let id = id.as_str().unwrap_or_else(|| panic!("{told:?}")).to_owned();
        let shown = answer(&["approvals", "show", &id], &dir);
        let nonce = shown["nonce"].as_str().expect("a nonce").to_owned();
        assert!(!told.text.contains(&nonce));
        waiting.push((id, nonce));
    }
    let approve = |(id, nonce): &(String, String)| {
        let wrong = narthex(&["approvals", "approve", id, "--nonce", "wr0ngw0r"], &dir);
        assert_eq!(wrong.status.code(), Some(7), "{}", stderr(&wrong));
        let done = narthex(&["approvals", "approve", id, "--nonce", nonce], &dir);
        assert!(done.status.success(), "{}", stderr(&done));
    };
    approve(&waiting[0]);
    let done = client.call("wipe", json!({"what": "one"})).await.expect("an answer");
    assert!(done.is_ok(), "{done:?}");
    let log = served.end();
    // The one that holds the house answers the owner, and its client reads what it says.
    let stdio = house.stdio();
    narthex(&["approvals", "show", &waiting[1].0], &dir);
    approve(&waiting[1]);
    let error = stdio.end();
    // Each is asked to say everything, and each says something.
    assert!(log.contains("the door is open"), "{log}");
    assert!(error.contains("\"id\":1"), "{error}");
    for (who, said) in [("serve", &log), ("stdio", &error)] {
        for (_, nonce) in &waiting {
            assert!(!said.to_lowercase().contains(nonce), "a nonce is in what {who} says");
        }
        assert!(!said.contains("wr0ngw0r"), "{who}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn too_many_wrong_ones_and_the_right_one_comes_too_late() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let dir = house.dir().root();
    let call = waiting(&house, Tier::T3, json!({})).await?;
    let id = call.id.to_string();
    let nonce = house.house().gate().nonce_of(&call);
    let most = house.house().gate().config().wrong_nonces;
    let before = house.seq().await?;
    for n in 1..=most {
        let wrong = narthex(&["approvals", "approve", &id, "--nonce", "00000000"], dir);
        assert_eq!(wrong.status.code(), Some(7), "{n}: {}", stderr(&wrong));
        assert_eq!(stderr(&wrong).contains("void"), n == most, "{n}: {}", stderr(&wrong));
    }
    let late = narthex(&["approvals", "approve", &id, "--nonce", &nonce], dir);
    assert_eq!(late.status.code(), Some(4), "{}", stderr(&late));
    let kept = house.store().approval(call.id).await?.expect("there");
    assert_eq!((kept.status, kept.wrong_nonces), (ApprovalStatus::Void, most));
    assert_eq!(house.seq().await?, before + u64::from(most), "one record for each");
    // Saying no needs no nonce.
    let other = waiting(&house, Tier::T3, json!({"n": 2})).await?;
    assert_eq!(answer(&["approvals", "deny", &other.id.to_string()], dir)["status"], "denied");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_of_the_owners_is_a_tool_or_a_method_for_an_agent() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let call = waiting(&house, Tier::T3, json!({})).await?;
    let client = house.client(narthex_test::Persona::AgentA);
    let nobody = client.call("no_such_tool", json!({})).await?;
    let arguments = json!({"approval": call.id, "nonce": house.house().gate().nonce_of(&call)});
    for name in [
        "approve",
        "approvals.approve",
        "approval.approve",
        "resume",
        "stop",
        "taint.clear",
        "switch.lift",
        "mode.set",
        "agent.ceiling",
        "reset",
    ] {
        let refused = client.call(name, arguments.clone()).await?;
        assert_eq!(refused.rpc_code(), nobody.rpc_code(), "{name}");
        let method = client.request(name, arguments.clone()).await?;
        assert_eq!(method.rpc_code(), Some(-32_601), "{name}");
    }
    let kept = house.store().approval(call.id).await?.expect("there");
    assert_eq!((kept.status, kept.wrong_nonces), (ApprovalStatus::Waiting, 0));
    Ok(())
}
