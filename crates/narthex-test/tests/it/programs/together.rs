//! Programs of several agents at once, and the end of all of them.

use std::collections::BTreeSet;
use std::time::Duration;

use narthex_core::{Reason, Tier};
use narthex_sandbox::SandboxConfig;
use narthex_server::owner::{Request, StopScope, SwitchRequest};
use narthex_test::{HouseOptions, Persona, TestHouse};
use serde_json::json;

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
