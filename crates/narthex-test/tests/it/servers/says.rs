//! What a server says by the way: to the log, of resources that change, of lists that change. It reaches
//! who it is for and wants it, and nobody else.

use std::time::Duration;

use narthex_core::Mode;
use narthex_gate::SessionConfig;
use narthex_test::upstream::{Offer, Script, Speaks, Step, When, definition};
use narthex_test::{Answer, Client, Era, HouseOptions, Listening};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::rig::{By, Rig};

const SECRET: &str = "planted-secret-1234";

async fn rig() -> Rig {
    let mut options = HouseOptions { mode: Mode::Open, ..HouseOptions::default() };
    options.gate.sessions = Some(SessionConfig::default());
    let rig = Rig::with(options).await;
    rig.variables.set("TOKEN", SECRET);
    rig
}

fn more(by: By) -> Value {
    match by {
        By::Pipes => json!({"env": {"TOKEN": "${TOKEN}"}}),
        By::Http => json!({"headers": {"X-Token": "${TOKEN}"}}),
    }
}

fn log(level: &str, data: &str) -> Step {
    let params = json!({"level": level, "logger": "up", "data": data});
    let params = params.as_object().unwrap().clone();
    Step::Notify { method: "notifications/message".to_owned(), params, times: 1 }
}

fn updated(uri: &str) -> Step {
    let params = json!({"uri": uri}).as_object().unwrap().clone();
    Step::Notify { method: "notifications/resources/updated".to_owned(), params, times: 1 }
}

/// A server with a log, whose resources can be watched.
fn script(speaks: Speaks) -> Script {
    let talk = [
        log("debug", "not so loud"),
        log("warning", &format!("\u{1b}[31ma\u{200b}b {SECRET} /home/owner/x")),
        Step::Sleep(20),
        log("error", "second"),
        Step::text("done"),
    ];
    let touch = [updated("test://b"), updated("test://a/below"), updated("test://a"), Step::Echo];
    let mut script = Script::new()
        .speaking(speaks)
        .tool("talk", talk)
        .tool("touch", touch)
        .resource(json!({"uri": "test://a", "name": "a"}), [])
        .resource(json!({"uri": "test://b", "name": "b"}), [])
        .on("resources/subscribe", [Step::Raw(json!({}))])
        .on("resources/unsubscribe", [Step::Raw(json!({}))]);
    script.offer.capabilities = Some(json!({"tools": {"listChanged": true}, "logging": {},
        "resources": {"subscribe": true}}));
    script
}

async fn call(client: &Client, tool: &str, level: Option<&str>) -> Answer {
    let mut meta = serde_json::Map::new();
    if let Some(level) = level {
        meta.insert("io.modelcontextprotocol/logLevel".to_owned(), level.into());
    }
    let params = json!({"name": tool, "arguments": {}, "_meta": meta});
    client.request("tools/call", params).await.unwrap()
}

fn logs(answer: &Answer) -> Vec<Value> {
    let said = answer.messages().into_iter();
    said.filter(|said| said["method"] == "notifications/message").collect()
}

#[tokio::test]
async fn what_is_said_to_the_log_reaches_who_made_the_call_and_wants_it() {
    for by in By::ALL {
        for speaks in [Speaks::Modern, Speaks::Legacy] {
            let mut rig = rig().await;
            rig.serve("up", by, &script(speaks), more(by)).await;
            for (era, agent) in [(Era::Modern, "anna"), (Era::Legacy, "ben")] {
                let at = format!("{by:?} {speaks:?} {era:?}");
                let client = rig.client(agent, "up").await;
                let (client, level) = match era {
                    Era::Modern => (client, Some("info")),
                    Era::Legacy => (client.in_session().await.unwrap(), None),
                };
                let quiet = call(&client, "talk", None).await;
                assert!(quiet.is_ok() && logs(&quiet).is_empty(), "{at} {quiet:?}");
                if era == Era::Legacy {
                    let set = json!({"level": "info"});
                    let set = client.request("logging/setLevel", set).await.unwrap();
                    assert_eq!(set.json()["result"], json!({}), "{at} {set:?}");
                }
                let seq = rig.house.seq().await.unwrap();
                let answer = call(&client, "talk", level).await;
                let said = logs(&answer);
                assert_eq!(said.len(), 2, "{at} {answer:?}");
                assert_eq!(said[0]["params"]["level"], "warning", "{at}");
                let hidden =
                    if by == By::Pipes { "ab [TOKEN] [path]" } else { "ab [X-Token] [path]" };
                assert_eq!(said[0]["params"]["data"], hidden, "{at}");
                assert_eq!(said[0]["params"]["_meta"]["narthex/provenance"]["server"], "up");
                assert_eq!(said[1]["params"]["data"], "second", "{at}");
                // All of it before the answer, and none of it without a record.
                assert!(answer.is_ok(), "{at} {answer:?}");
                let records = rig.house.records_after(seq).await.unwrap();
                let says = records.iter().filter(|r| r.draft.tool == "server.says");
                assert_eq!(says.count(), 2, "{at}");
                assert!(!format!("{records:?}").contains(SECRET), "{at}");
            }
            rig.house.verify().await.unwrap();
        }
    }
}

/// The first thing an agent ever hears of a server is a message: the latch is set before it is told.
#[tokio::test]
async fn what_is_said_to_the_log_is_taken_in_like_an_answer() {
    let mut rig = rig().await;
    let mut hangs = script(Speaks::Legacy).tool("hang", [log("error", "hello"), Step::Silence]);
    hangs.offer.tools.as_mut().unwrap().push(definition("more"));
    rig.serve("up", By::Pipes, &hangs, json!({"limits": {"callSeconds": 30}})).await;
    let client = rig.client("anna", "up").await;
    let taint = async |rig: &Rig| {
        let agents = rig.house.store().agents().await.unwrap();
        let anna = agents.into_iter().find(|agent| agent.slug.as_str() == "anna").unwrap();
        let holder = narthex_core::Holder { agent: anna.id, space: anna.space };
        rig.house.store().taint(holder).await.unwrap()
    };
    assert!(taint(&rig).await.is_clean());
    let seq = rig.house.seq().await.unwrap();
    let hearing = timeout(Duration::from_secs(2), call(&client, "hang", Some("debug")));
    assert!(hearing.await.is_err(), "it hangs");
    let records = rig.house.records_after(seq).await.unwrap();
    let says = records.iter().find(|record| record.draft.tool == "server.says").unwrap();
    assert!(says.draft.armed.untrusted, "{says:?}");
    assert!(taint(&rig).await.untrusted);
}

#[tokio::test]
async fn a_log_is_not_there_where_it_is_not_offered_or_could_be_anybodys() {
    for (capabilities, stateless) in
        [(json!({"tools": {}}), false), (json!({"tools": {}, "logging": {}}), true)]
    {
        let mut rig = rig().await;
        let mut script = script(Speaks::Legacy);
        script.offer.capabilities = Some(capabilities);
        rig.serve("up", By::Pipes, &script, json!({"stateless": stateless})).await;
        let client = rig.client("anna", "up").await;
        let initialize = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"}});
        let legacy = client.speaking(Era::Legacy);
        let greeted = legacy.request("initialize", initialize).await.unwrap().result();
        assert_eq!(greeted["capabilities"].get("logging"), None, "{greeted}");
        let session = client.in_session().await.unwrap();
        let set = session.request("logging/setLevel", json!({"level": "info"})).await.unwrap();
        assert_eq!(set.rpc_code(), Some(-32601), "{set:?}");
        assert!(logs(&call(&client, "talk", Some("debug")).await).is_empty());
        assert!(logs(&call(&session, "talk", None).await).is_empty());
    }
}

async fn next(listening: &mut Listening) -> Option<Value> {
    timeout(Duration::from_secs(8), listening.next()).await.ok().map(|said| said.unwrap())
}

#[tokio::test]
async fn a_change_of_a_resource_reaches_who_watches_it() {
    for by in By::ALL {
        let mut rig = rig().await;
        rig.serve("up", by, &script(Speaks::Legacy), more(by)).await;
        let anna = rig.client("anna", "up").await.in_session().await.unwrap();
        let ben = rig.client("ben", "up").await.in_session().await.unwrap();
        let (mut to_anna, mut to_ben) = (anna.listen().await.unwrap(), ben.listen().await.unwrap());
        let watch = async |method: &str, uri: &str| {
            anna.request(method, json!({"uri": uri})).await.unwrap()
        };
        let seq = rig.house.seq().await.unwrap();
        let watched = watch("resources/subscribe", "test://a").await;
        assert_eq!(watched.json()["result"], json!({}), "{by:?} {watched:?}");
        assert!(rig.actions_since(seq).await.contains(&"resources/subscribe".to_owned()));
        let unknown = watch("resources/subscribe", "file:///etc/passwd").await;
        assert!(unknown.rpc_code().is_some(), "{unknown:?}");
        // What she does not watch is not told her, nor anything to anybody else.
        assert!(call(&ben, "touch", None).await.is_ok());
        assert!(call(&anna, "touch", None).await.is_ok());
        let told = next(&mut to_anna).await.expect("a change");
        assert_eq!(told["method"], "notifications/resources/updated", "{by:?}");
        assert_eq!(told["params"], json!({"uri": "test://a"}), "{by:?}");
        let done = watch("resources/unsubscribe", "test://a").await;
        assert_eq!(done.json()["result"], json!({}), "{by:?} {done:?}");
        assert!(call(&anna, "touch", None).await.is_ok());
        let more = timeout(Duration::from_millis(700), to_anna.next()).await;
        assert!(more.is_err(), "{by:?} {more:?}");
        let other = timeout(Duration::from_millis(100), to_ben.next()).await;
        assert!(other.is_err(), "{by:?} {other:?}");
        // The newer revision has no such method.
        let modern = rig.client("anna", "up").await;
        let none = modern.request("resources/subscribe", json!({"uri": "test://a"})).await.unwrap();
        assert_eq!(none.rpc_code(), Some(-32601), "{none:?}");
    }
}

#[tokio::test]
async fn who_listens_in_a_session_is_told_that_a_list_has_changed() {
    for by in By::ALL {
        let mut rig = rig().await;
        let flag = rig.path().join("flag");
        let other = Offer::tools([definition("talk")]);
        let script = script(Speaks::Legacy).turning(When::File(flag.clone()), other);
        rig.serve("up", by, &script, more(by)).await;
        let client = rig.client("anna", "up").await.in_session().await.unwrap();
        assert!(call(&client, "talk", None).await.is_ok());
        let mut listening = client.listen().await.unwrap();
        std::fs::write(&flag, "").unwrap();
        let told = next(&mut listening).await.expect("a change");
        assert_eq!(told["method"], "notifications/tools/list_changed", "{by:?} {told}");
        assert_eq!(client.tools().await.unwrap(), ["talk"], "{by:?}");
        // Off: there is nothing left to listen to.
        rig.give("anna", &[]).await.unwrap();
        let ended =
            timeout(Duration::from_secs(8), async { while listening.next().await.is_ok() {} });
        assert!(ended.await.is_ok(), "{by:?}");
    }
}
