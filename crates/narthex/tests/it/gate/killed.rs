//! The process ends in the middle of a call: what the call may have cost is charged at the next start.

use std::time::{Duration, Instant};

use narthex_test::upstream::{Script, Step};
use serde_json::{Value, json};

use super::upstairs::Upstairs;
use crate::support::answer;

fn shown(house: &Upstairs) -> Value {
    answer(&["agent", "show", "anna"], &house.dir())["budget"].clone()
}

/// The records of the calls of a tool, by phase.
fn records(house: &Upstairs, phase: &str) -> Vec<Value> {
    let all = answer(&["ledger", "tail", "-n", "500"], &house.dir());
    let all = all.as_array().cloned().expect("records");
    all.into_iter().filter(|r| r["tool"] == "buy" && r["phase"] == phase).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_a_kill_cuts_off_costs_what_was_in_reserve() {
    let script = Script::new().tool("buy", [Step::Silence]);
    let rules = json!({"tier": "T0", "tools": {"buy": {"cost": 2.5}}});
    let house = Upstairs::new("[budget]\ncost = 6\ntime_seconds = 600\n", &script, &rules);
    for round in 1..=2_usize {
        let served = house.serve();
        let client = house.client(&served);
        let mut hangs = tokio::task::JoinSet::new();
        hangs.spawn(async move { client.call("buy", json!({})).await });
        let start = Instant::now();
        while records(&house, "intent").len() < round {
            assert!(start.elapsed() < Duration::from_secs(30), "it was not begun");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        served.kill();
        hangs.join_all().await;
        let intent = records(&house, "intent").pop().expect("an intent");
        assert_eq!(intent["reserve"]["cost"], 2_500_000, "{intent}");
        let outcome = records(&house, "outcome").pop().expect("an outcome");
        assert_eq!((&outcome["outcome"], &outcome["cost"]), (&json!("unknown"), &json!(2_500_000)));
        assert_eq!(outcome["micros"], intent["reserve"]["micros"], "{outcome}");
        let used = shown(&house);
        assert_eq!(used["used"]["cost"], json!(round * 2_500_000), "{used}");
    }
    // Less is left than one more may cost.
    let served = house.serve();
    let answer = house.client(&served).call("buy", json!({})).await.expect("an answer");
    assert_eq!(answer.tool_code().as_deref(), Some("over_budget"), "{answer:?}");
    drop(served);
    assert_eq!(records(&house, "outcome").len(), 2, "each is closed once");
}
