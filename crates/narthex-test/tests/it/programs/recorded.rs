//! What a program was told is in the ledger before it can matter to anybody.

use std::time::Duration;

use narthex_core::Outcome;
use narthex_store::UnitOfWork;
use narthex_test::upstream::Script;
use narthex_test::{Persona, TestHouse};
use serde_json::json;

use super::{open, run, said, value};
use crate::servers::rig::{By, Rig};

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

/// A look that takes its time to be written, and then cannot be.
fn of_a_look(unit: &UnitOfWork) -> bool {
    unit.records.iter().any(|record| record.tool == "search")
}

/// What a program looked at is durable before it does anything, before it waits, and before it ends: where the
/// disk fails meanwhile, nothing of that happens, however late it fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn looks_are_durable_before_anything_else() {
    let mut rig = Rig::with(open()).await;
    let script =
        Script::new().tool("note", vec![said("noted")]).tool("write", vec![said("written")]);
    let rules = json!({"tools": {"note": {"tier": "T1"}, "write": {"tier": "T2"}}, "effects": {"takesIn": "owned", "sends": "inside"}});
    rig.serve("pad", By::Pipes, &script, rules).await;
    let token = rig.client("coder", "pad").await.token();
    let client = rig.house.code_client_with(token);
    for (what, then) in [
        (
            "a change in the house",
            "w.propose_change({entity_type: 'page', action: 'create', payload: {title: 'x', body: 'y'}, reason: 'because'})",
        ),
        ("a call of a server's", "p.note({})"),
        ("a wait", "p.write({})"),
        ("the end", "'zebrafinch'"),
    ] {
        let code = |query: &str| {
            format!(
                "const w = require('host:workspace'), p = require('host:mcp-pad');
                 w.search({{query: '{query}'}}); {then}"
            )
        };
        let seq = rig.house.seq().await.expect("seq");
        let parked = rig.house.store().parked_runs(None).await.expect("runs").len();
        rig.house.faults().fail_slowly(Some(of_a_look));
        let call = json!({"code": code("zebrafinch*")});
        let ended = client.call("execute_code", call).await.expect("an answer");
        rig.house.faults().fail_slowly(None);
        assert!(!ended.is_ok() && !ended.text.contains("zebrafinch"), "{what}: {ended:?}");
        let records = rig.house.records_after(seq).await.expect("records");
        let made: Vec<&str> = records.iter().map(|record| record.draft.tool.as_str()).collect();
        let happened = ["propose_change", "note", "write", "run.parked"];
        assert!(!made.iter().any(|tool| happened.contains(tool)), "{what}: {made:?}");
        let now = rig.house.store().parked_runs(None).await.expect("runs").len();
        assert_eq!(now, parked, "{what}");
        // Where nothing fails it is done, so that it is this that held it back.
        let seq = rig.house.seq().await.expect("seq");
        let ran = run(&client, &code("zebra*")).await;
        assert!(["done", "paused"].contains(&ran["status"].as_str().unwrap_or_default()), "{ran}");
        let records = rig.house.records_after(seq).await.expect("records");
        let done = records.iter().filter(|record| happened.contains(&record.draft.tool.as_str()));
        assert_eq!(done.count() > 0, what != "the end", "{what}: {ran}");
    }
}
