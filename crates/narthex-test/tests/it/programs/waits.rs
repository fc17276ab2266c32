//! Runs that wait for the owner.

use narthex_core::Phase;
use narthex_sandbox::SandboxConfig;
use narthex_server::owner::{Answer as OwnerAnswer, ApprovalRequest, Reply, Request};
use narthex_test::upstream::Script;
use narthex_test::{HouseOptions, Persona, TestHouse};
use serde_json::json;

use super::{open, rig, run, said, value};
use crate::servers::rig::{By, Rig};

async fn waiting(rig: &Rig) -> narthex_server::owner::ApprovalDetail {
    let list = ApprovalRequest::List { agent: None, all: false, limit: 10 };
    let Reply::Approvals(list) = rig.house.owner(Request::Approval(list)).await.expect("a list")
    else {
        panic!()
    };
    assert_eq!(list.len(), 1, "{list:?}");
    let show = ApprovalRequest::Show { approval: list[0].id.to_string() };
    match rig.house.owner(Request::Approval(show)).await.expect("a request") {
        Reply::Approval(detail) => *detail,
        other => panic!("{other:?}"),
    }
}

async fn decide(rig: &Rig, yes: bool) {
    let detail = waiting(rig).await;
    let answer = if yes {
        OwnerAnswer::Approve { nonce: None }
    } else {
        OwnerAnswer::Deny { reason: Some("not now".to_owned()) }
    };
    let (approval, digest) = (detail.info.id.to_string(), detail.info.digest);
    let request = ApprovalRequest::Answer { approval, digest, answer };
    rig.house.owner(Request::Approval(request)).await.expect("decided");
}

const GATED: &str = "const pad = require('host:mcp-pad'), w = require('host:workspace');
    const n = pad.look({}).n; const r = Math.random();
    let got; try { got = pad.write_down({}) } catch (e) { got = e.code }
    ({n, got, hits: w.search({query: 'zebrafinch*'}).hits.length, same: r === Math.random()})";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_waits_for_the_owner_and_goes_on_once() {
    let (rig, client) = rig(open()).await;
    let ran = run(&client, GATED).await;
    assert_eq!(ran["status"], "paused", "{ran}");
    let run_id = ran["run"].as_str().expect("a run").to_owned();
    // What is kept of it is under the seal.
    rig.house.verify().await.expect("the ledger holds");
    // The owner sees the whole program, what it did, and what waits.
    let shown = waiting(&rig).await.run.expect("the run");
    assert_eq!((shown.id.to_string(), shown.program.as_str()), (run_id.clone(), GATED));
    let outcomes: Vec<&str> = shown.calls.iter().map(|call| call.outcome.as_str()).collect();
    assert_eq!(outcomes, ["answered", "waits for you"]);
    // Nobody has decided: it stays paused, whichever way it is asked.
    let again = client.call("resume_run", json!({"run": run_id})).await.expect("an answer");
    assert_eq!(again.structured()["status"], "paused", "{again:?}");
    assert_eq!(run(&client, GATED).await["run"], json!(run_id), "the same program is the same run");
    // It is nobody else's.
    let other = rig.house.code_client_with(rig.house.token(Persona::AgentA));
    let not_theirs = other.call("resume_run", json!({"run": run_id})).await.expect("an answer");
    let nobodys = json!({"run": "0198c0de-0000-7000-8000-000000000001"});
    let unknown = other.call("resume_run", nobodys).await.expect("an answer");
    assert_eq!(not_theirs.result(), unknown.result());
    assert_eq!(not_theirs.tool_code().as_deref(), Some("not_found"));
    let seq = rig.house.seq().await.expect("seq");
    decide(&rig, true).await;
    let done = client.call("resume_run", json!({"run": run_id})).await.expect("an answer");
    let done = done.structured();
    assert_eq!(value(&done)["got"], json!("written"), "{done}");
    assert_eq!((&done["value"]["n"], &done["value"]["hits"]), (&json!(7), &json!(1)));
    let records = rig.house.records_after(seq).await.expect("records");
    let intents = records.iter().filter(|record| record.draft.phase == Phase::Intent);
    let made: Vec<&str> = intents.map(|record| record.draft.tool.as_str()).collect();
    assert_eq!(made, ["resume_run", "write-down"], "nothing is done twice");
    let over = client.call("resume_run", json!({"run": run_id})).await.expect("an answer");
    assert_eq!(over.tool_code().as_deref(), Some("not_found"));
    rig.house.verify().await.expect("the ledger holds");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_no_is_thrown_into_the_program() {
    let (rig, client) = rig(open()).await;
    let ran = run(&client, GATED).await;
    decide(&rig, false).await;
    let done = client
        .call("resume_run", json!({"run": ran["run"]}))
        .await
        .expect("an answer")
        .structured();
    assert_eq!(value(&done)["got"], json!("denied"), "{done}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_waits_outlives_a_restart() {
    let (rig, client) = rig(open()).await;
    let ran = run(&client, GATED).await;
    decide(&rig, true).await;
    let token = client.token();
    let path = rig.house.dir().root().to_owned();
    let Rig { house, folder: _folder, .. } = rig;
    let kept = house.stop().await.expect("stopped");
    let house = TestHouse::open(&path, open()).await.expect("opened again");
    let client = house.code_client_with(token);
    let done = client
        .call("resume_run", json!({"run": ran["run"]}))
        .await
        .expect("an answer")
        .structured();
    assert_eq!(value(&done)["got"], json!("written"), "{done}");
    assert_eq!(done["value"]["n"], json!(7));
    drop(kept);
}

/// The owner sees one program with a call. Another that would make the same call is another matter.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_approved_for_one_program_is_not_for_another() {
    let (rig, client) = rig(open()).await;
    let harmless = run(&client, "require('host:mcp-pad').write_down({}); 'harmless'").await;
    decide(&rig, true).await;
    let other = run(&client, "require('host:mcp-pad').write_down({}); 'something else'").await;
    assert_eq!(other["status"], "paused", "{other}");
    // Nor for the call alone.
    let alone = rig.house.server_client_with(client.token(), "pad");
    let alone = alone.call("write-down", json!({})).await.expect("an answer");
    assert!(!alone.is_ok(), "{alone:?}");
    let resume = json!({"run": harmless["run"]});
    let done = client.call("resume_run", resume).await.expect("an answer").structured();
    assert_eq!(value(&done), &json!("harmless"));
}

/// What a program was told before it waited is told again when it goes on: the latch knows, however long
/// that took and whatever was cleared meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_washes_nothing_off() {
    let mut rig = Rig::with(open()).await;
    let script =
        Script::new().tool("read", vec![said("foreign")]).tool("write", vec![said("written")]);
    let rules = json!({"tools": {"read": {"tier": "T0"}, "write": {"tier": "T2", "effects": {"takesIn": "owned"}}},
        "effects": {"sends": "inside"}});
    rig.serve("web", By::Pipes, &script, rules).await;
    let token = rig.client("coder", "web").await.token();
    let client = rig.house.code_client_with(token);
    let code = "const w = require('host:mcp-web'); const told = w.read({}); w.write({}); told";
    let ran = run(&client, code).await;
    assert_eq!(ran["status"], "paused", "{ran}");
    assert!(rig.taint("coder").await.untrusted);
    rig.wash("coder").await;
    assert!(!rig.taint("coder").await.untrusted);
    let again = client.call("resume_run", json!({"run": ran["run"]})).await.expect("an answer");
    assert_eq!(again.structured()["status"], "paused", "{again:?}");
    assert!(rig.taint("coder").await.untrusted, "it was told again");
}

/// A run that was told things under other rules does not go on with them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_does_not_outlive_the_rules_it_was_told_things_under() {
    let (rig, client) = rig(open()).await;
    let ran = run(&client, GATED).await;
    assert_eq!(ran["status"], "paused", "{ran}");
    let token = client.token();
    let path = rig.house.dir().root().to_owned();
    let Rig { house, folder: _folder, .. } = rig;
    let kept = house.stop().await.expect("stopped");
    let policy = r#"forbid (principal, action == Narthex::Action::"delete", resource);"#;
    let policies = vec![("more.cedar".to_owned(), policy.to_owned())];
    let house = TestHouse::open(&path, HouseOptions { policies, ..open() }).await.expect("opened");
    let client = house.code_client_with(token);
    let refused = client.call("resume_run", json!({"run": ran["run"]})).await.expect("an answer");
    assert_eq!(refused.tool_code().as_deref(), Some("conflict"), "{refused:?}");
    drop(kept);
}

/// Going on with one run does not make room for another: at no time do more wait than may.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_runs_wait_than_may() {
    let code = SandboxConfig { parked: 2, ..SandboxConfig::default() };
    let (rig, client) = rig(HouseOptions { code, ..open() }).await;
    let program = |n: u32| {
        format!(
            "const at = Date.now(); const p = require('host:mcp-pad'); p.look({{}}); let n = 0; while (n < 3e6) n++; p.write_down({{}}); {n}"
        )
    };
    let mut parked = Vec::new();
    for n in 0..2 {
        let ran = run(&client, &program(n)).await;
        assert_eq!(ran["status"], "paused", "{ran}");
        parked.push(ran["run"].clone());
    }
    let mut going_on = tokio::task::JoinSet::new();
    for round in 0..6_u32 {
        let resume = json!({"run": parked[usize::try_from(round % 2).expect("small")]});
        let resuming = client.clone();
        going_on.spawn(async move { resuming.call("resume_run", resume).await });
        let another = client.call("execute_code", json!({"code": program(10 + round)})).await;
        let another = another.expect("an answer");
        assert_eq!(another.tool_code().as_deref(), Some("limit_reached"), "{another:?}");
        while let Some(back) = going_on.join_next().await {
            let back = back.expect("a task").expect("an answer").structured();
            assert_eq!(back["status"], "paused", "{back}");
        }
        assert_eq!(rig.house.store().parked_runs(None).await.expect("runs").len(), 2);
    }
}
