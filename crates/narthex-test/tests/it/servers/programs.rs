//! Programs that agents send, through the door: every call of one is a call of the agent's.

use std::collections::BTreeSet;
use std::time::Duration;

use narthex_core::{Mode, Outcome, Phase, Reason, Tier};
use narthex_sandbox::SandboxConfig;
use narthex_server::owner::{
    Answer as OwnerAnswer, ApprovalRequest, Reply, Request, ServerRequest, StopScope, SwitchRequest,
};
use narthex_test::upstream::{Script, Step};
use narthex_test::{Client, HouseOptions, Persona, TestHouse};
use serde_json::{Value, json};

use super::rig::{By, Rig};

fn said(text: &str) -> Step {
    Step::Answer(json!({"content": [{"type": "text", "text": text}]}))
}

async fn run(client: &Client, code: &str) -> Value {
    let answer = client.call("execute_code", json!({"code": code})).await.expect("an answer");
    assert!(answer.is_ok(), "{answer:?}");
    answer.structured()
}

fn value(ran: &Value) -> &Value {
    assert_eq!(ran["status"], "done", "{ran}");
    &ran["value"]
}

/// A house with one server, `pad`: it reads at T0 and writes at T2.
async fn rig(options: HouseOptions) -> (Rig, Client) {
    let mut rig = Rig::with(options).await;
    let script = Script::new()
        .tool("look", vec![said("{\"n\": 7}")])
        .tool("write-down", vec![said("written")]);
    let rules = json!({"tools": {"look": {"tier": "T0"}, "write-down": {"tier": "T2"}}, "effects": {"takesIn": "owned", "sends": "inside"}});
    rig.serve("pad", By::Pipes, &script, rules).await;
    let client = rig.client("coder", "pad").await;
    let token = client.token();
    let client = rig.house.code_client_with(token);
    (rig, client)
}

fn open() -> HouseOptions {
    HouseOptions { mode: Mode::Open, ..HouseOptions::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_program_uses_everything_the_agent_may_and_nothing_else() {
    let (rig, client) = rig(open()).await;
    let connected = client.request("server/discover", json!({})).await.expect("an answer");
    let said = connected.result()["instructions"].as_str().unwrap_or_default().to_owned();
    for module in ["host:workspace", "host:mcp-pad", "execute_code"] {
        assert!(said.contains(module), "{said}");
    }
    let tools = client.tools().await.expect("tools");
    let all = [
        "list_modules",
        "module_info",
        "execute_code",
        "resume_run",
        "list_mcp_servers",
        "mcp_server_info",
        "manage_mcp",
        "stop_me",
    ];
    assert_eq!(tools, all);
    let listed = client.call("list_modules", json!({"query": "write"})).await.expect("an answer");
    assert!(listed.text.contains("write_down("), "{listed:?}");
    let info = client
        .call("module_info", json!({"module": "host:mcp-pad", "functions": ["write_down"]}))
        .await
        .expect("an answer");
    let declared = info.structured()["declarations"].as_str().unwrap_or_default().to_owned();
    assert!(
        declared.contains("declare module \"host:mcp-pad\"") && !declared.contains("look"),
        "{declared}"
    );
    let ran = run(&client, "import * as pad from 'host:mcp-pad'; const w = require('host:workspace');
        const hits = w.search({query: 'zebrafinch*'}).hits; ({n: pad.look({}).n, hits: hits.length})").await;
    assert_eq!(value(&ran), &json!({"n": 7, "hits": 1}));
    let calls: Vec<&str> =
        ran["calls"].as_array().expect("calls").iter().filter_map(|c| c["call"].as_str()).collect();
    assert_eq!(calls, ["host:workspace.search", "host:mcp-pad.look"]);
    // Each is in the ledger, in the agent's name, with the run it belongs to.
    let records = rig.house.records().await.expect("records");
    let run_id = ran["run"].as_str().expect("a run");
    let of_run: Vec<(String, Phase)> = records
        .iter()
        .filter(|record| record.draft.run.is_some_and(|run| run.to_string() == run_id))
        .map(|record| (record.draft.tool.clone(), record.draft.phase))
        .collect();
    assert!(of_run.contains(&("search".to_owned(), Phase::Observed)), "{of_run:?}");
    assert!(of_run.contains(&("look".to_owned(), Phase::Intent)), "{of_run:?}");
    // It may ask for one that is not ready, and the owner is told; it turns nothing on.
    rig.ask(ServerRequest::Enable { server: "pad".to_owned(), on: false }).await.expect("off");
    let servers = client.call("list_mcp_servers", json!({})).await.expect("an answer").structured();
    assert_eq!(servers["servers"][0]["stands"], "the owner has switched it off", "{servers}");
    let ask = json!({"action": "enable", "server": "pad", "reason": "to write things down"});
    let asked = client.call("manage_mcp", ask.clone()).await.expect("an answer");
    assert_eq!(asked.structured()["status"], "pending", "{asked:?}");
    let again = client.call("manage_mcp", ask).await.expect("an answer");
    assert_eq!(again.tool_code().as_deref(), Some("conflict"), "{again:?}");
    let other = json!({"action": "enable", "server": "nothing", "reason": "x"});
    let other = client.call("manage_mcp", other).await.expect("an answer");
    assert_eq!(other.tool_code().as_deref(), Some("not_found"), "{other:?}");
    // With the servers off, everything that speaks of them is gone.
    rig.ask(ServerRequest::Switch { on: false }).await.expect("off");
    let tools = client.tools().await.expect("tools");
    assert!(!tools.iter().any(|tool| tool.contains("mcp")), "{tools:?}");
    let ran = run(&client, "try { require('host:mcp-pad') } catch (e) { e.message }").await;
    assert!(value(&ran).as_str().is_some_and(|said| said.contains("there is no module")), "{ran}");
    rig.house.verify().await.expect("the ledger holds");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_can_do_no_more_than_its_agent() {
    let house = TestHouse::start().await.expect("house");
    let propose = "require('host:workspace').propose_change.try({entity_type: 'page', action: 'create', payload: {title: 'x', body: 'y'}, reason: 'because'}).error?.code ?? 'done'";
    for (persona, expected) in [
        (Persona::AgentA, "done"),
        (Persona::Lowered, "(no function)"),
        (Persona::Reader, "(no function)"),
    ] {
        let client = house.code_client_with(house.token(persona));
        let ran = run(&client, &format!("const w = require('host:workspace'); w.propose_change === undefined ? '(no function)' : {propose}")).await;
        assert_eq!(value(&ran), &json!(expected), "{persona:?}");
    }
    // What the client consents to holds inside too.
    let client = house.code_client_with(house.token(Persona::AgentA));
    let code = json!({"code": "require('host:workspace').propose_change === undefined"});
    let answer =
        client.call_consenting(json!("T0"), "execute_code", code).await.expect("an answer");
    assert_eq!(answer.structured()["value"], json!(true), "{answer:?}");
    // Nothing of another space is there.
    let ran = run(
        &client,
        "const w = require('host:workspace'); w.search({query: 'quokka*'}).hits.length",
    )
    .await;
    assert_eq!(value(&ran), &json!(0));
    // Nobody without the right is told that there is code mode.
    for persona in [Persona::Bare, Persona::Creator] {
        let answer = house
            .code_client_with(house.token(persona))
            .request("tools/list", json!({}))
            .await
            .expect("an answer");
        assert_eq!(answer.status, 404, "{persona:?} {answer:?}");
    }
    for persona in
        [Persona::Nobody, Persona::Stranger, Persona::Owner, Persona::Revoked, Persona::Disabled]
    {
        let answer = house
            .code_client_with(house.token(persona))
            .request("tools/list", json!({}))
            .await
            .expect("an answer");
        assert!([401, 403].contains(&answer.status), "{persona:?} {answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_module_answered_counts_for_the_next_call() {
    let mut rig = Rig::with(open()).await;
    let script =
        Script::new().tool("read", vec![said("foreign")]).tool("note", vec![said("noted")]);
    // What it reads is foreign; what it notes is small, stays inside, and is not contained.
    let rules = json!({"tools": {"read": {"tier": "T0"}, "note": {"tier": "T1"}}, "effects": {"sends": "inside"}});
    rig.serve("web", By::Pipes, &script, rules).await;
    let token = rig.client("coder", "web").await.token();
    let client = rig.house.code_client_with(token);
    let ran = run(&client, "const w = require('host:mcp-web'); w.note({})").await;
    assert_eq!(ran["status"], "done", "clean, so it may: {ran}");
    // The note's own answer is foreign: from here on the owner is asked.
    let ran = run(&client, "const w = require('host:mcp-web'); w.read({}); w.note({})").await;
    assert_eq!(ran["status"], "paused", "{ran}");
    assert_eq!(ran["calls"][1]["decision"], "waits for the owner", "{ran}");
}

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_ends_a_program_under_way_and_an_agent_can_stop_itself() {
    let house = TestHouse::start().await.expect("house");
    let client = house.code_client_with(house.token(Persona::AgentA));
    let running = client.clone();
    let mut endless = tokio::task::JoinSet::new();
    endless.spawn(async move {
        running.call("execute_code", json!({"code": "const w = require('host:workspace'); for (;;) { try { w.search({query: 'x'}) } catch { for (;;) {} } }"})).await
    });
    tokio::time::sleep(Duration::from_millis(400)).await;
    let engage =
        SwitchRequest::Engage { scope: StopScope::Agent("agent-a".to_owned()), reason: None };
    house.owner(Request::Switch(engage)).await.expect("stopped");
    let ended = endless.join_next().await.expect("one").expect("a task").expect("an answer");
    assert_eq!(ended.tool_code().as_deref(), Some("stopped"), "{ended:?}");
    // Another one stops itself, and cannot lift it.
    let other = house.code_client_with(house.token(Persona::Reader));
    let stopped = other
        .call("stop_me", json!({"reason": "I was told to send secrets"}))
        .await
        .expect("an answer");
    assert_eq!(stopped.structured()["stopped"], json!(true), "{stopped:?}");
    let after = other.call("execute_code", json!({"code": "1"})).await.expect("an answer");
    assert_eq!(after.tool_code().as_deref(), Some("stopped"), "{after:?}");
    let records = house.records().await.expect("records");
    assert!(
        records
            .iter()
            .any(|r| r.draft.tool == "switch.engage" && r.draft.reason == Reason::Stopped)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_leaves_a_run_that_could_not_be_recorded() {
    let house = TestHouse::start().await.expect("house");
    let client = house.code_client_with(house.token(Persona::AgentA));
    assert_eq!(value(&run(&client, "1").await), &json!(1));
    // From the first call on nothing can be written.
    let running = client.clone();
    let code = "const w = require('host:workspace'); const at = Date.now(); let n = 0; while (n < 60) { w.search({query: 'zebrafinch*'}); n++ } w.search({query: 'zebrafinch*'}).hits[0].snippet";
    let mut ran = tokio::task::JoinSet::new();
    ran.spawn(async move { running.call("execute_code", json!({"code": code})).await });
    tokio::time::sleep(Duration::from_millis(150)).await;
    house.faults().fail_writing(true);
    let ended = ran.join_next().await.expect("one").expect("a task").expect("an answer");
    house.faults().fail_writing(false);
    let recorded = house.records().await.expect("records");
    if ended.is_ok() {
        // It was faster: then everything it was told is in the ledger.
        let looks = recorded
            .iter()
            .filter(|r| r.draft.tool == "search" && r.draft.outcome == Outcome::Ok)
            .count();
        assert_eq!(looks, 61);
    } else {
        assert!(!ended.text.contains("zebrafinch"), "{ended:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_programs_of_eight_agents_cross_nothing_and_all_get_their_share() {
    let code = SandboxConfig { ready: 2, runs: 4, runs_per_agent: 2, ..SandboxConfig::default() };
    let house =
        TestHouse::with(HouseOptions { code, ..HouseOptions::default() }).await.expect("house");
    let mut clients = Vec::new();
    for agent in 0..8 {
        let name = format!("worker-{agent}");
        house.agent(&name, "a", &["read"], Tier::T1).await.expect("an agent");
        let token = house.new_token(&name, None, None).await.expect("token").token;
        clients.push(house.code_client_with(Some(token)));
    }
    let mut running = tokio::task::JoinSet::new();
    // All of the first one's, then all of the second one's: the last is not served last.
    for (agent, client) in clients.into_iter().enumerate() {
        for script in 0..8 {
            let client = client.clone();
            running.spawn(async move {
                let code = format!(
                    "const w = require('host:workspace');
                     const all = parallel(Array.from({{length: 5}}, () => () => w.search({{query: 'zebrafinch*'}})));
                     ({{agent: {agent}, script: {script}, n: all.length}})"
                );
                let answer = client.call("execute_code", json!({"code": code})).await;
                (agent, script, answer.expect("an answer"))
            });
        }
    }
    let mut order = Vec::new();
    while let Some(done) = running.join_next().await {
        let (agent, script, answer) = done.expect("a task");
        assert_eq!(
            answer.structured()["value"],
            json!({"agent": agent, "script": script, "n": 5}),
            "{answer:?}"
        );
        order.push(agent);
    }
    assert_eq!(order.len(), 64);
    // Nobody has to wait until another is done with all of its own.
    let first: BTreeSet<usize> = order.iter().take(40).copied().collect();
    assert_eq!(first.len(), 8, "{order:?}");
}
