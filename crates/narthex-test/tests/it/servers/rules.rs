//! What the owner's file says of tiers and effects counts at once, and not before it is recorded.

use narthex_core::{Actor, Phase, Subject};
use narthex_test::upstream::{Script, Step};
use serde_json::{Value, json};

use super::rig::{By, Rig};

const T2: &str = "T2 reads=nothing takesIn=foreign sends=outside";
const T0: &str = "T0 reads=nothing takesIn=foreign sends=outside";

fn script() -> Script {
    Script::new().tool("echo", [Step::Echo]).tool("other", [Step::Echo])
}

/// What is recorded of rules since, and whether the call was recorded after all of it.
async fn rules_since(rig: &Rig, seq: u64) -> Vec<(String, Subject)> {
    let records = rig.house.records_after(seq).await.unwrap();
    let ours = |tool: &str| tool == "server.rules" || tool == "server.rule";
    let call = records.iter().position(|record| record.draft.phase == Phase::Intent);
    let last = records.iter().rposition(|record| ours(&record.draft.tool));
    if let (Some(call), Some(last)) = (call, last) {
        assert!(last < call, "what changed is recorded before it counts");
    }
    let rules = records.into_iter().map(|record| record.draft).filter(|draft| ours(&draft.tool));
    rules
        .map(|draft| {
            assert_eq!((draft.phase, draft.actor), (Phase::House, Actor::House));
            (draft.tool, draft.subject)
        })
        .collect()
}

fn changed(of: &str, from: &str, to: &str) -> (String, Subject) {
    ("server.rule".to_owned(), Subject::one("rule", format!("up {of}")).changed(from, to))
}

async fn called(rig: &mut Rig, tool: &str) -> (Vec<(String, Subject)>, Option<String>) {
    let client = rig.client("anna", "up").await;
    // What was taken in before is not what this is about.
    rig.wash("anna").await;
    let since = rig.house.seq().await.unwrap();
    let answer = client.call(tool, json!({})).await.unwrap();
    (rules_since(rig, since).await, answer.tool_code())
}

#[tokio::test]
async fn what_the_file_changes_is_recorded_before_it_counts() {
    let mut rig = Rig::new().await;
    rig.serve("up", By::Pipes, &script(), json!({"tier": "T2"})).await;
    let waits = Some("approval_needed".to_owned());
    // The first time it is told that there are rules, and then only what changes.
    let (told, code) = called(&mut rig, "echo").await;
    assert_eq!((told.len(), told[0].0.as_str(), &code), (1, "server.rules", &waits));
    assert_eq!((told[0].1.count, told[0].1.id.as_deref()), (Some(1), Some("up")));
    assert!(told[0].1.digest.is_some());
    assert_eq!(called(&mut rig, "echo").await, (vec![], Some("approval_needed".to_owned())));
    let own = json!({"echo": {"tier": "T0", "effects": {"reads": "private", "sends": "inside"}}});
    rig.name("up", By::Pipes, &script(), json!({"tier": "T2", "tools": own})).await;
    let lowered = "T0 reads=private takesIn=foreign sends=inside";
    let (told, code) = called(&mut rig, "echo").await;
    assert_eq!((told, code), (vec![changed("echo", "as the server", lowered)], None));
    // What is not about tiers and effects is not.
    let limits = json!({"tier": "T2", "tools": own, "limits": {"callSeconds": 9}});
    rig.name("up", By::Pipes, &script(), limits).await;
    assert_eq!(called(&mut rig, "echo").await, (vec![], None));
    rig.name("up", By::Pipes, &script(), json!({"tier": "T0"})).await;
    let expected = vec![changed("*", T2, T0), changed("echo", lowered, "as the server")];
    assert_eq!(called(&mut rig, "other").await, (expected, None));
    // A profile says what is so for those who have it.
    let mine = json!({"servers": ["up"], "overrides": {"up": {"tools": {"echo": {"tier": "T2"}}}}});
    rig.profile("all", mine);
    let expected = vec![changed("echo in all", "as the server", T2)];
    assert_eq!(called(&mut rig, "echo").await, (expected, waits));
    rig.house.verify().await.unwrap();
}

#[tokio::test]
async fn what_was_changed_while_the_house_was_closed_is_recorded_too() {
    let mut rig = Rig::new().await;
    rig.serve("up", By::Pipes, &script(), json!({"tier": "T2"})).await;
    called(&mut rig, "echo").await;
    let mut rig = rig
        .restart(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            let mut said: Value = serde_json::from_str(&text).unwrap();
            said["mcpServers"]["up"]["tier"] = "T0".into();
            std::fs::write(file, said.to_string()).unwrap();
        })
        .await;
    assert_eq!(called(&mut rig, "echo").await, (vec![changed("*", T2, T0)], None));
    let mut rig = rig.restart(|_| {}).await;
    assert_eq!(called(&mut rig, "echo").await, (vec![], None), "once");
}

/// What cannot be recorded does not count: nobody is let in on it.
#[tokio::test]
async fn what_cannot_be_recorded_does_not_count() {
    let mut rig = Rig::new().await;
    rig.serve("up", By::Pipes, &script(), json!({"tier": "T2"})).await;
    called(&mut rig, "echo").await;
    let client = rig.client("anna", "up").await;
    rig.name("up", By::Pipes, &script(), json!({"tier": "T0"})).await;
    rig.house.faults().fail_writing(true);
    let answer = client.call("echo", json!({})).await.unwrap();
    assert!(!answer.is_ok(), "{answer:?}");
    rig.house.faults().fail_writing(false);
    assert_eq!(called(&mut rig, "echo").await, (vec![changed("*", T2, T0)], None));
}
