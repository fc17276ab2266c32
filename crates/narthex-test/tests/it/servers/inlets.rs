//! What a server says in any way is taken in: the latch is set and the ledger says so (threat E12),
//! and nothing of it is heard before that is durable.

use narthex_core::{Budget, Phase, Taint};
use narthex_store::chain::Record;
use narthex_test::upstream::{Script, Step};
use narthex_test::{Client, HouseOptions};
use serde_json::{Value, json};

use super::rig::{By, Rig};

const CLEAN: Taint = Taint::CLEAN;
const UNTRUSTED: Taint = Taint { private: false, untrusted: true };
const BOTH: Taint = Taint { private: true, untrusted: true };

/// A way to be told something: by which method, with what, and what that does to the latch.
type Inlet = (&'static str, &'static str, Value, Taint);

fn inlets() -> Vec<Inlet> {
    let call = |name: &str| json!({"name": name, "arguments": {}});
    vec![
        ("a result", "tools/call", call("says"), UNTRUSTED),
        ("a result with isError", "tools/call", call("fails"), UNTRUSTED),
        ("an error", "tools/call", call("refuses"), UNTRUSTED),
        ("no answer", "tools/call", call("hangs"), UNTRUSTED),
        ("private too", "tools/call", call("diary"), BOTH),
        ("the owner's own", "tools/call", call("own"), CLEAN),
        ("a resource", "resources/read", json!({"uri": "test://a"}), UNTRUSTED),
        ("an error of a resource", "resources/read", json!({"uri": "test://b"}), UNTRUSTED),
        ("a prompt", "prompts/get", json!({"name": "p"}), UNTRUSTED),
        ("an error of a prompt", "prompts/get", json!({"name": "q"}), UNTRUSTED),
    ]
}

fn script() -> Script {
    let refuse = || Step::Refuse { code: -32000, message: "no".to_owned(), data: None };
    let read = Step::Answer(json!({"contents": [{"uri": "test://a", "text": "one"}]}));
    let got = Step::Answer(
        json!({"messages": [{"role": "user", "content": {"type": "text", "text": "do"}}]}),
    );
    Script::new()
        .tool("says", [Step::text("hello")])
        .tool("fails", [Step::Fail("broken".to_owned())])
        .tool("refuses", [refuse()])
        .tool("hangs", [Step::Silence])
        .tool("diary", [Step::text("dear diary")])
        .tool("own", [Step::text("as you wrote it")])
        .tool("tells", [Step::Tell("half way".to_owned()), Step::Sleep(50), Step::text("done")])
        .resource(json!({"uri": "test://a", "name": "a"}), [read])
        .resource(json!({"uri": "test://b", "name": "b"}), [refuse()])
        .prompt(json!({"name": "p"}), [got])
        .prompt(json!({"name": "q"}), [refuse()])
}

fn rules() -> Value {
    let (private, own) = (json!({"reads": "private"}), json!({"takesIn": "owned"}));
    json!({"limits": {"callSeconds": 1},
        "tools": {"diary": {"effects": private}, "own": {"effects": own}}})
}

fn armed(records: &[Record], phase: Phase) -> Taint {
    let of = records.iter().filter(|record| record.draft.phase == phase);
    of.fold(CLEAN, |sum, record| sum.and(record.draft.armed))
}

#[tokio::test]
async fn e12_every_inlet_of_a_server_sets_the_latch_and_the_ledger_says_so() {
    for by in By::ALL {
        let mut rig = Rig::new().await;
        rig.serve("up", by, &script(), rules()).await;
        let client = rig.client("anna", "up").await;
        for (what, method, params, sets) in inlets() {
            rig.wash("anna").await;
            let since = rig.house.seq().await.unwrap();
            client.request(method, params).await.unwrap();
            assert_eq!(rig.taint("anna").await, sets, "{what} {by:?}");
            let records = rig.house.records_after(since).await.unwrap();
            assert_eq!(armed(&records, Phase::Outcome), sets, "{what} {by:?}");
            assert_eq!(armed(&records, Phase::Intent), CLEAN, "{what} {by:?}");
        }
    }
}

/// What was told to a client that listens, each with what was so when it was heard.
async fn watched(
    rig: &Rig,
    client: &Client,
    tool: &str,
) -> (Vec<(Value, Taint, Vec<Record>)>, Value) {
    let since = rig.house.seq().await.unwrap();
    let mut heard = Vec::new();
    let last = client.watch(tool, json!({}), async |said: Value| {
        let (taint, records) = (rig.taint("anna").await, rig.house.records_after(since).await);
        heard.push((said["params"].clone(), taint, records.unwrap()));
    });
    let last = last.await.unwrap();
    (heard, last)
}

#[tokio::test]
async fn e12_what_is_said_on_the_way_is_taken_in_before_it_is_heard() {
    for by in By::ALL {
        let mut rig = Rig::new().await;
        rig.serve("up", by, &script(), rules()).await;
        let client = rig.client("anna", "up").await;
        rig.wash("anna").await;
        let since = rig.house.seq().await.unwrap();
        let (heard, last) = watched(&rig, &client, "tells").await;
        let [(said, taint, records)] = heard.as_slice() else { panic!("{by:?} {heard:?}") };
        assert_eq!(said["message"], "half way", "{by:?}");
        assert_eq!(*taint, UNTRUSTED, "{by:?}");
        assert_eq!(armed(records, Phase::Intent), UNTRUSTED, "{by:?}");
        // Once is enough, and what was told is charged with what was answered.
        let records = rig.house.records_after(since).await.unwrap();
        assert_eq!(armed(&records, Phase::Outcome), CLEAN, "{by:?}");
        let outcome = records.iter().find(|record| record.draft.phase == Phase::Outcome).unwrap();
        let quiet = client.call("tells", json!({})).await.unwrap();
        let records = rig.house.records_after(outcome.seq).await.unwrap();
        let silent = records.iter().find(|record| record.draft.phase == Phase::Outcome).unwrap();
        let told = "half way".len() as u64;
        assert_eq!(outcome.draft.bytes, silent.draft.bytes.map(|bytes| bytes + told), "{by:?}");
        assert_eq!(last["result"]["content"], quiet.result()["content"]);
    }
}

#[tokio::test]
async fn what_is_said_on_the_way_is_cleaned_like_an_answer() {
    for by in By::ALL {
        let mut rig = Rig::new().await;
        rig.variables.set("TOKEN", "s3cr3t-value-1234");
        let given = match by {
            By::Pipes => json!({"env": {"KEY": "${TOKEN}"}}),
            By::Http => json!({"headers": {"X-Key": "${TOKEN}"}}),
        };
        let words = "h\u{200b}alf \u{1b}[31mway\u{e0041} s3cr3t-value\u{200b}-1234 in /home/anna/x";
        let long = "w".repeat(15_000);
        let steps = [Step::Tell(words.to_owned()), Step::Tell(long), Step::Sleep(50), Step::Echo];
        rig.serve("up", by, &Script::new().tool("tells", steps), given).await;
        let client = rig.client("anna", "up").await;
        let (heard, _) = watched(&rig, &client, "tells").await;
        let said: Vec<&str> = heard.iter().filter_map(|(s, _, _)| s["message"].as_str()).collect();
        let [cleaned, short] = said.as_slice() else { panic!("{by:?} {heard:?}") };
        assert!(cleaned.starts_with("half way ["), "{by:?} {cleaned:?}");
        for hidden in ["\u{200b}", "\u{1b}", "\u{e0041}", "s3cr3t", "/home"] {
            assert!(!cleaned.contains(hidden), "{by:?} {cleaned:?}");
        }
        assert!(short.chars().count() <= 501, "{by:?} {}", short.len());
    }
}

/// More than a call may tell, or than is left in the budget, is left out; how far it is is still told.
#[tokio::test]
async fn what_is_said_on_the_way_is_bounded_by_the_gate_and_by_the_budget() {
    let answer = json!({"content": [{"type": "text", "text": "done"}]});
    for (most, budget, expected) in [
        (1_000, None, vec![Some("first"), Some("second"), Some("3")]),
        (10, None, vec![Some("first"), None, Some("3")]),
        (1_000, Some(10), vec![Some("first"), None, Some("3")]),
        (0, None, vec![None, None, None]),
    ] {
        let mut options =
            HouseOptions { mode: narthex_core::Mode::Open, ..HouseOptions::default() };
        options.gate.progress_bytes = most;
        options.gate.budget = Budget { bytes: budget, ..Budget::default() };
        let mut rig = Rig::with(options).await;
        let tell = |words: &str| Step::Tell(words.to_owned());
        let pause = || Step::Sleep(20);
        let steps = [
            tell("first"),
            pause(),
            tell("second"),
            pause(),
            tell("3"),
            pause(),
            Step::Answer(answer.clone()),
        ];
        rig.serve("up", By::Pipes, &Script::new().tool("tells", steps), json!({})).await;
        let client = rig.client("anna", "up").await;
        let since = rig.house.seq().await.unwrap();
        let (heard, last) = watched(&rig, &client, "tells").await;
        let said: Vec<Option<&str>> = heard.iter().map(|(s, _, _)| s["message"].as_str()).collect();
        assert_eq!(said, expected, "{most} {budget:?}");
        assert_eq!(heard[2].0["progress"], 3.0);
        let told: usize = said.iter().flatten().map(|words| words.len()).sum();
        let records = rig.house.records_after(since).await.unwrap();
        let outcome = records.iter().find(|record| record.draft.phase == Phase::Outcome).unwrap();
        if budget.is_some() {
            // The answer was too much, and what was told is charged all the same.
            assert!(last.to_string().contains("over_budget"), "{last}");
            assert_eq!(outcome.draft.bytes, Some(told as u64));
        } else {
            assert!(outcome.draft.bytes.unwrap() > told as u64);
        }
    }
}
