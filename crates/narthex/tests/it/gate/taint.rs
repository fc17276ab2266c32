//! `narthex taint show|clear`, and where else taint is said.

use narthex_test::{Persona, TestHouse};
use serde_json::json;

use crate::support::{answer, narthex, stderr, stdout};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_an_agent_took_in_is_said_everywhere_and_cleared_by_the_owner_alone()
-> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let dir = house.dir().root();
    assert_eq!(answer(&["taint", "show"], dir), json!([]));
    let client = house.client(Persona::AgentA);
    client.call("read", json!({"kind": "page", "id": "home"})).await?;
    let propose = json!({"entity_type": "page", "action": "create", "reason": "because",
        "payload": {"title": "New", "slug": "new", "body": "words"}});
    let proposed = client.call("propose_change", propose).await?.proposal()?;

    let shown = answer(&["taint", "show", "agent-a"], dir);
    assert_eq!((&shown[0]["agent"], &shown[0]["space"]), (&json!("agent-a"), &json!("a")));
    assert_eq!(shown[0]["private"]["tool"], "read", "{shown}");
    assert_eq!(answer(&["taint", "show", "agent-b"], dir), json!([]));
    assert_eq!(answer(&["status"], dir)["tainted_agents"], 1);
    let agent = stdout(&narthex(&["agent", "show", "agent-a"], dir));
    assert!(agent.contains("private by") && agent.contains("read on workspace"), "{agent}");
    let inbox = stdout(&narthex(&["inbox", "show", &proposed], dir));
    assert!(inbox.contains("taken in  private"), "{inbox}");
    assert!(stdout(&narthex(&["inbox", "list"], dir)).contains("TAKEN IN"));

    assert_eq!(answer(&["taint", "clear", "agent-a", "--untrusted"], dir), json!([]));
    assert_eq!(answer(&["taint", "clear", "agent-a", "--space", "b"], dir), json!([]));
    let cleared = answer(&["taint", "clear", "agent-a", "--private", "--space", "a"], dir);
    assert_eq!(cleared[0]["private"], json!(null), "{cleared}");
    assert_eq!(answer(&["taint", "show"], dir), json!([]));
    assert_eq!(answer(&["taint", "clear", "agent-a"], dir), json!([]), "nothing is left");
    let records = house.records().await?;
    let of_it: Vec<_> = records.iter().filter(|r| r.draft.tool == "taint.clear").collect();
    assert_eq!(of_it.len(), 1, "one record, for what was cleared");
    let subject = &of_it[0].draft.subject;
    assert_eq!((subject.from.as_deref(), subject.to.as_deref()), (Some("private"), Some("clean")));
    let missing = narthex(&["taint", "clear", "nobody"], dir);
    assert_eq!(missing.status.code(), Some(3), "{}", stderr(&missing));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn doctor_looks_at_the_whole_gate_of_a_live_house() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let dir = house.dir().root();
    let look = || {
        let output = narthex(&["doctor", "--output", "json"], dir);
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let found = found.as_array().cloned().expect("a list");
        (output.status.code(), move |what: &str| {
            found.iter().find(|f| f["what"] == what).map(|f| f["state"].clone())
        })
    };
    let (_, found) = look();
    for what in [
        "kill switches",
        "latches",
        "approvals",
        "rows",
        "damage",
        "budgets",
        "mode",
        "clock",
        "stop file",
        "sessions",
        "egress",
    ] {
        assert_eq!(found(what), Some(json!("ok")), "{what}");
    }
    assert!(found("user").is_some() && found("stopped").is_none());
    assert_eq!(found("anchor"), Some(json!("warn")), "there is none");
    assert!(narthex(&["stop", "--space", "a"], dir).status.success());
    std::fs::write(dir.join("STOP"), "")?;
    let (_, found) = look();
    assert_eq!((found("stop file"), found("stopped")), (Some(json!("warn")), Some(json!("warn"))));
    Ok(())
}
