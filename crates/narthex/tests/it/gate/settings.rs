//! `narthex mode`, `narthex agent set`, `narthex space set`, and what `show` says of them.

use narthex_core::{Mode, Tier};
use narthex_gate::GateConfig;
use narthex_server::owner::{BudgetChange, BudgetSpec, Limit, Request, SettingRequest, Trouble};
use narthex_test::{HouseOptions, TestHouse};
use serde_json::{Value, json};

use crate::support::{answer, narthex, stderr, stdout};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_posture_goes_down_and_up_again_and_never_above_the_settings() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let dir = house.dir().root();
    let shown = json!({"mode": "guarded", "settings": "guarded", "before": null});
    assert_eq!(answer(&["mode"], dir), shown);
    assert_eq!(answer(&["mode", "show"], dir), shown);
    assert_eq!(answer(&["mode", "set", "readonly"], dir)["before"], "guarded");
    assert_eq!(answer(&["agent", "show", "agent-a"], dir)["effective_ceiling"], "T0");
    let people = stdout(&narthex(&["agent", "show", "agent-a"], dir));
    assert!(people.contains("T1 (in force: T0, because of mode readonly)"), "{people}");
    assert_eq!(answer(&["status"], dir)["settings_mode"], "guarded");
    assert_eq!(answer(&["mode", "set", "guarded", "--yes"], dir)["before"], "readonly");
    let above = narthex(&["mode", "set", "open", "--yes"], dir);
    assert_eq!(above.status.code(), Some(4), "{}", stderr(&above));
    assert!(stderr(&above).contains("mode = \"open\" in narthex.toml"), "{}", stderr(&above));
    assert_eq!(narthex(&["mode", "set", "wild"], dir).status.code(), Some(2));
    let changes = changes(&house, "mode.set").await?;
    assert!(changes.ends_with(&[pair("guarded", "readonly"), pair("readonly", "guarded")]));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ceilings_are_changed_each_with_its_record() -> anyhow::Result<()> {
    let house =
        TestHouse::with(HouseOptions { mode: Mode::Open, ..HouseOptions::default() }).await?;
    let dir = house.dir().root();
    let set = answer(&["agent", "set", "agent-a", "--ceiling", "T3"], dir);
    assert_eq!((&set["ceiling"], &set["effective_ceiling"]), (&json!("T3"), &json!("T3")));
    assert_eq!(answer(&["space", "set", "a", "--ceiling", "T0"], dir)["ceiling"], "T0");
    let people = stdout(&narthex(&["agent", "show", "agent-a"], dir));
    assert!(people.contains("T3 (in force: T0, because of its space)"), "{people}");
    assert_eq!(answer(&["space", "set", "a", "--ceiling", "none"], dir)["ceiling"], json!(null));
    assert_eq!(answer(&["agent", "set", "agent-a", "--ceiling", "T0"], dir)["ceiling"], "T0");
    let agent = changes(&house, "agent.ceiling").await?;
    assert_eq!(agent, [pair("T1", "T3"), pair("T3", "T0")]);
    let space = changes(&house, "space.ceiling").await?;
    assert_eq!(space, [pair("none", "T0"), pair("T0", "none")]);
    for (args, code) in [
        (vec!["agent", "set", "agent-a"], 2),
        (vec!["agent", "set", "agent-a", "--ceiling", "T4"], 2),
        (vec!["agent", "set", "agent-a", "--budget", "t9=1"], 2),
        (vec!["agent", "set", "nobody", "--ceiling", "T0"], 3),
        (vec!["space", "set", "a"], 2),
        (vec!["space", "set", "a", "--ceiling", "t1"], 2),
        (vec!["space", "set", "nowhere", "--ceiling", "T1"], 3),
    ] {
        assert_eq!(narthex(&args, dir).status.code(), Some(code), "{args:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_budget_is_shown_with_what_is_left_and_holds() -> anyhow::Result<()> {
    let options = HouseOptions::default();
    let budget = GateConfig::default().budget;
    let gate = GateConfig { budget, ..options.gate.clone() };
    let house = TestHouse::with(HouseOptions { gate, ..options }).await?;
    let dir = house.dir().root();
    let spec = "window=2h,t0=3,bytes=10MB,time=5m,cost=2.5";
    let set = answer(&["agent", "set", "agent-a", "--budget", spec], dir);
    assert_eq!(set["budget"]["own"], true);
    let limits = &set["budget"]["limits"];
    assert_eq!((&limits["window_seconds"], &limits["bytes"]), (&json!(7_200), &json!(10_000_000)));
    assert_eq!(limits["calls"], json!([3, 600, 120, 12]), "what is not named stays");
    let client = house.client(narthex_test::Persona::AgentA);
    for n in 1..=4 {
        let answer = client.call("search", json!({"query": "welcome"})).await?;
        assert_eq!(answer.is_ok(), n <= 3, "{n}");
    }
    let people = stdout(&narthex(&["agent", "show", "agent-a"], dir));
    assert!(people.contains("3 of 3 calls used, 0 left"), "{people}");
    assert!(people.contains("its own, in any 2h"), "{people}");
    let back = answer(&["agent", "set", "agent-a", "--budget", "default"], dir);
    assert_eq!(back["budget"]["own"], false);
    assert_eq!(back["budget"]["used"]["calls"][0], 3, "what was used up stays used up");
    let changed = changes(&house, "agent.budget").await?;
    assert_eq!(changed.len(), 2);
    assert_eq!(changed[0]["from"], "default");
    let to = changed[0]["to"].as_str().unwrap_or_default();
    assert!(to.starts_with("window=7200s,t0=3,") && to.ends_with("cost=2500000"), "{to}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_tool_gets_another_tier_for_one_agent_and_its_own_again() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let dir = house.dir().root();
    let tool = "workspace/propose_change";
    let create = json!({"entity_type": "page", "action": "create", "payload": {"title": "T"},
        "reason": "r"});
    let client = house.client(narthex_test::Persona::AgentA);
    answer(&["agent", "set", "agent-a", "--ceiling", "T2", "--yes"], dir);
    let given = format!("{tool}=T2");
    let set = answer(&["agent", "set", "agent-a", "--tool-tier", &given, "--yes"], dir);
    assert_eq!(set["tool_tiers"], json!({tool: "T2"}));
    let people = stdout(&narthex(&["agent", "show", "agent-a"], dir));
    assert!(people.contains("workspace/propose_change is T2"), "{people}");
    let waits = client.call("propose_change", create.clone()).await?;
    assert_eq!(waits.tool_code().as_deref(), Some("approval_needed"), "{waits:?}");
    let back = format!("{tool}=default");
    let back = answer(&["agent", "set", "agent-a", "--tool-tier", &back, "--yes"], dir);
    assert_eq!(back["tool_tiers"], json!({}));
    assert!(client.call("propose_change", create).await?.is_ok());
    let said = |tier: &str| format!("{tool}={tier}");
    let changed = changes(&house, "agent.tool_tier").await?;
    assert_eq!(changed, [pair(&said("default"), &said("T2")), pair(&said("T2"), &said("default"))]);
    let wrong =
        ["propose_change=T1", "workspace/propose_change", "workspace/x=T9", "workspace/x=T1"];
    for wrong in wrong.into_iter().chain(["companion/search=T1", "nowhere/search=T1"]) {
        let output = narthex(&["agent", "set", "agent-a", "--tool-tier", wrong], dir);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
    assert_eq!(answer(&["ledger", "verify"], dir)["ok"], true);
    Ok(())
}

/// The desk has the last word, whoever asks it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_budget_out_of_bounds_is_refused_with_all_that_came_with_it() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let nothing = BudgetSpec::default();
    let most = |n| Some(Limit::Most(n));
    for (spec, part) in [
        (BudgetSpec { window_seconds: Some(0), ..nothing }, "window"),
        (BudgetSpec { window_seconds: Some(u32::MAX), ..nothing }, "window"),
        (BudgetSpec { calls: [None, None, None, most(1_000_000_001)], ..nothing }, "t3"),
        (BudgetSpec { bytes: most(0), ..nothing }, "bytes"),
        (BudgetSpec { millis: most(999), ..nothing }, "time"),
        (BudgetSpec { cost: most(u64::MAX), ..nothing }, "cost"),
    ] {
        let (agent, budget) = ("agent-a".to_owned(), Some(BudgetChange::Own(spec)));
        let request = SettingRequest::SetAgent {
            agent,
            ceiling: Some(Tier::T0),
            budget,
            tool_tiers: Vec::new(),
        };
        let refused = house.house().desk().handle(Request::Setting(request)).await;
        let refused = refused.expect_err(part);
        assert_eq!(refused.kind, Trouble::Invalid, "{refused:?}");
        assert!(refused.message.starts_with(part), "{refused:?}");
    }
    assert!(changes(&house, "agent.ceiling").await?.is_empty(), "both or neither");
    Ok(())
}

fn pair(from: &str, to: &str) -> Value {
    json!({"from": from, "to": to})
}

/// What the ledger says was changed by the owner, from what to what.
async fn changes(house: &TestHouse, action: &str) -> anyhow::Result<Vec<Value>> {
    let records = house.records().await?;
    let of_it = records.iter().filter(|record| record.draft.tool == action);
    Ok(of_it
        .map(|record| json!({"from": record.draft.subject.from, "to": record.draft.subject.to}))
        .collect())
}
