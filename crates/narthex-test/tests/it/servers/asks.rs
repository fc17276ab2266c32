//! What a server asks in the middle of a call: put to the client that made it, in both eras in front
//! and behind, over pipes and HTTP; refused where the owner, the client or good sense says no.

use std::time::Duration;

use narthex_core::{Mode, Reason};
use narthex_gate::SessionConfig;
use narthex_server::owner::{
    Answer as Word, ApprovalRequest, Reply, Request, StopScope, SwitchRequest,
};
use narthex_test::upstream::{Script, Speaks, Step};
use narthex_test::{Answer, Client, HouseOptions};
use serde_json::{Value, json};

use super::rig::{By, Rig};

const SERVERS: [Speaks; 2] = [Speaks::Modern, Speaks::Legacy];

fn allow() -> Value {
    json!({"allow": {"elicitation": true, "sampling": true}})
}

fn can() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}})
}

fn form(name: &str) -> (&'static str, Value) {
    let properties = serde_json::Map::from_iter([(name.to_owned(), json!({"type": "string"}))]);
    let schema = json!({"type": "object", "properties": properties});
    (
        "elicitation/create",
        json!({"mode": "form", "message": "Wh\u{200b}ere to?", "requestedSchema": schema}),
    )
}

fn visit(url: &str) -> (&'static str, Value) {
    let params = json!({"mode": "url", "message": "Go.", "url": url, "elicitationId": "e1"});
    ("elicitation/create", params)
}

fn sample() -> (&'static str, Value) {
    let message = json!({"role": "user", "content": {"type": "text", "text": "Say it."}});
    let params = json!({"messages": [message], "maxTokens": 10, "includeContext": "allServers"});
    ("sampling/createMessage", params)
}

/// Asks in the way of the server's revision.
fn ask(speaks: Speaks, (method, params): (&str, Value)) -> Step {
    match speaks {
        Speaks::Modern => Step::NeedInput(json!({"q": {"method": method, "params": params}})),
        _ => Step::ask(method, params),
    }
}

/// Its word for what is asked, where it has one; ours where not.
const fn key(speaks: Speaks) -> &'static str {
    match speaks {
        Speaks::Modern => "q",
        _ => "ask-1",
    }
}

/// What the server got for an answer.
fn got(speaks: Speaks, result: &Value) -> Value {
    let pointer = match speaks {
        Speaks::Modern => "/structuredContent/need_input/0/responses/q",
        _ => "/structuredContent/ask/0/result",
    };
    result.pointer(pointer).cloned().unwrap_or_default()
}

async fn rig() -> Rig {
    rig_waiting(Duration::from_mins(2)).await
}

async fn rig_waiting(wait: Duration) -> Rig {
    let mut options = HouseOptions { mode: Mode::Open, ..HouseOptions::default() };
    options.gate.sessions = Some(SessionConfig::default());
    options.gate.input_wait = wait;
    Rig::with(options).await
}

async fn repeat(client: &Client, tool: &str, state: &Value, answers: Value) -> Answer {
    let params = json!({"name": tool, "arguments": {}, "requestState": state,
        "inputResponses": answers});
    client.request("tools/call", params).await.unwrap()
}

/// What is asked, what is answered, and what of that the server gets.
fn rows() -> Vec<((&'static str, Value), Value, Value)> {
    let said =
        json!({"role": "assistant", "content": {"type": "text", "text": "it"}, "model": "m"});
    vec![
        (
            form("city"),
            json!({"action": "accept", "content": {"city": "Rome"}, "x": 1}),
            json!({"action": "accept", "content": {"city": "Rome"}}),
        ),
        (form("city"), json!({"action": "decline"}), json!({"action": "decline"})),
        (visit("https://example.com/go"), json!({"action": "accept"}), json!({"action": "accept"})),
        (sample(), said.clone(), said),
    ]
}

#[tokio::test]
async fn a_client_of_the_newer_revision_answers_by_repeating_the_call() {
    for by in By::ALL {
        for speaks in SERVERS {
            let mut rig = rig().await;
            let rows = rows();
            let mut script = Script::new().speaking(speaks);
            for (n, (asks, _, _)) in rows.iter().enumerate() {
                script = script.tool(&format!("t{n}"), [ask(speaks, asks.clone())]);
            }
            rig.serve("up", by, &script, allow()).await;
            let client = rig.client("anna", "up").await.declaring(can());
            for (n, (_, answer, expected)) in rows.iter().enumerate() {
                let (at, tool) = (format!("{by:?} {speaks:?} {n}"), format!("t{n}"));
                let seq = rig.house.seq().await.unwrap();
                let asked = client.call(&tool, json!({})).await.unwrap().result();
                assert_eq!(asked["resultType"], "input_required", "{at} {asked}");
                let params = &asked["inputRequests"][key(speaks)]["params"];
                let shown = params.to_string();
                assert!(shown.contains("\u{201c}up\u{201d}"), "{at} {shown}");
                assert!(
                    !shown.contains('\u{200b}') && params.get("includeContext").is_none(),
                    "{at}"
                );
                let state = &asked["requestState"];
                assert!(!state.to_string().contains("where-we-were"), "{at}");
                let answers = json!({key(speaks): answer});
                let result = repeat(&client, &tool, state, answers.clone()).await.result();
                assert_eq!(got(speaks, &result), *expected, "{at} {result}");
                if speaks == Speaks::Modern {
                    let theirs = result.pointer("/structuredContent/need_input/0/state");
                    assert_eq!(theirs, Some(&json!("where-we-were")), "{at}");
                }
                // Once, and never again.
                let again = repeat(&client, &tool, state, answers).await;
                assert_eq!(again.tool_code().as_deref(), Some("invalid_request"), "{at}");
                let records = rig.house.records_after(seq).await.unwrap();
                let of = |name: &str| records.iter().filter(|r| r.draft.tool == name).count();
                assert_eq!((of("server.asks"), of("server.answered")), (1, 1), "{at}");
                let waits = records.iter().filter(|r| r.draft.reason == Reason::InputNeeded);
                assert_eq!(waits.count(), 1, "{at}");
                let text = format!("{records:?}");
                assert!(!text.contains("Rome") && !text.contains("example.com"), "{at}");
            }
        }
    }
}

#[tokio::test]
async fn a_client_of_the_older_revisions_is_asked_on_its_stream() {
    for by in By::ALL {
        for speaks in SERVERS {
            let mut rig = rig().await;
            let rows = rows();
            let mut script = Script::new().speaking(speaks);
            for (n, (asks, _, _)) in rows.iter().enumerate() {
                script = script.tool(&format!("t{n}"), [ask(speaks, asks.clone())]);
            }
            rig.serve("up", by, &script, allow()).await;
            let client = rig.client("anna", "up").await.declaring(can());
            let client = client.in_session().await.unwrap();
            let other = rig.client("bert", "up").await.declaring(can()).in_session().await.unwrap();
            for (n, (_, answer, expected)) in rows.iter().enumerate() {
                let (at, tool) = (format!("{by:?} {speaks:?} {n}"), format!("t{n}"));
                let seq = rig.house.seq().await.unwrap();
                let talk = client.converse(&tool, json!({}), |_| Some(answer.clone()));
                let (asked, said) = talk.await.unwrap();
                assert_eq!(asked.len(), 1, "{at} {said}");
                assert!(asked[0].to_string().contains("\u{201c}up\u{201d}"), "{at} {asked:?}");
                assert_eq!(got(speaks, &said["result"]), *expected, "{at} {said}");
                let actions = rig.actions_since(seq).await;
                let of = |name: &str| actions.iter().filter(|action| *action == name).count();
                assert_eq!((of("server.asks"), of("server.answered")), (1, 1), "{at}");
                // An answer nobody waits for, from its own session or another's.
                for client in [&client, &other] {
                    let stray = json!({"jsonrpc": "2.0", "id": asked[0]["id"], "result": answer});
                    assert_eq!(client.send(&[], &stray).await.unwrap().status, 400, "{at}");
                }
            }
        }
    }
}

#[tokio::test]
async fn f16_f18_what_may_not_be_asked_reaches_nobody() {
    let none = json!({});
    let only_forms = json!({"elicitation": {}});
    let password = (
        "elicitation/create",
        json!({"message": "Who?", "requestedSchema": {
        "type": "object", "properties": {"x": {"type": "string", "format": "password"}}}}),
    );
    let rows: Vec<(&str, Value, Value, (&str, Value))> = vec![
        ("F16 the owner said nothing", none.clone(), can(), form("city")),
        ("F16 the owner said nothing", none.clone(), can(), sample()),
        ("F16 only the other", json!({"allow": {"sampling": true}}), can(), form("city")),
        ("F16 only the other", json!({"allow": {"elicitation": true}}), can(), sample()),
        ("F16 the client cannot", allow(), none.clone(), form("city")),
        ("F16 the client cannot", allow(), only_forms.clone(), sample()),
        ("F16 the client cannot", allow(), only_forms, visit("https://example.com/")),
        ("F16 roots", allow(), can(), ("roots/list", json!({}))),
        ("F18 password", allow(), can(), password),
        ("F18 password", allow(), can(), form("password")),
        ("F18 api key", allow(), can(), form("api_key")),
        ("F18 javascript", allow(), can(), visit("javascript:alert(1)")),
        ("F18 data", allow(), can(), visit("data:text/html,x")),
        ("F18 file", allow(), can(), visit("file:///etc/passwd")),
        ("F18 userinfo", allow(), can(), visit("https://a@example.com/")),
        ("F18 shell", allow(), can(), visit("https://example.com/$(id)")),
        ("F18 inside", allow(), can(), visit("https://169.254.169.254/")),
        ("F18 inside", allow(), can(), visit("https://localhost/")),
    ];
    for by in By::ALL {
        for speaks in SERVERS {
            let mut rig = rig().await;
            for (n, (what, more, declares, asks)) in rows.iter().enumerate() {
                let name = format!("up{n}");
                let script = Script::new().speaking(speaks).tool("t", [ask(speaks, asks.clone())]);
                rig.serve(&name, by, &script, more.clone()).await;
                // An agent has only so many sessions.
                let agent = format!("agent-{n}");
                let client = rig.client(&agent, &name).await.declaring(declares.clone());
                let at = format!("{what} {by:?} {speaks:?}");
                let seq = rig.house.seq().await.unwrap();
                let newer = client.call("t", json!({})).await.unwrap().result();
                let session = client.in_session().await.unwrap();
                let (asked, older) = session.converse("t", json!({}), |_| None).await.unwrap();
                assert!(asked.is_empty(), "{at} {asked:?}");
                for result in [&newer, &older["result"]] {
                    assert_ne!(result["resultType"], "input_required", "{at} {result}");
                    match speaks {
                        Speaks::Modern => assert_eq!(result["isError"], true, "{at} {result}"),
                        // It is told, and its call goes on.
                        _ => assert!(
                            result.pointer("/structuredContent/ask/0/error/code").is_some(),
                            "{at} {result}"
                        ),
                    }
                }
                let actions = rig.actions_since(seq).await;
                assert!(!actions.contains(&"server.asks".to_owned()), "{at}");
                rig.house.house().servers().end_all().await;
            }
        }
    }
}

#[tokio::test]
async fn what_was_put_aside_is_nobody_elses_and_no_other_calls() {
    for speaks in SERVERS {
        let mut rig = rig().await;
        let steps = [ask(speaks, form("city"))];
        let script = Script::new().speaking(speaks).tool("t", steps.clone()).tool("u", steps);
        rig.serve("up", By::Pipes, &script, allow()).await;
        rig.serve("twin", By::Pipes, &script, allow()).await;
        let anna = rig.client("anna", "up").await.declaring(can());
        let bert = rig.client("bert", "up").await.declaring(can());
        let twin = rig.client("anna", "twin").await.declaring(can());
        let asked = anna.call("t", json!({})).await.unwrap().result();
        let state = asked["requestState"].clone();
        let forged = json!(state.as_str().unwrap().chars().rev().collect::<String>());
        let yes = json!({key(speaks): {"action": "accept", "content": {"city": "Rome"}}});
        let no = Some(-32602);
        assert_eq!(repeat(&bert, "t", &state, yes.clone()).await.rpc_code(), no, "another agent");
        assert_eq!(repeat(&anna, "u", &state, yes.clone()).await.rpc_code(), no, "another tool");
        assert_eq!(repeat(&twin, "t", &state, yes.clone()).await.rpc_code(), no, "another server");
        assert_eq!(repeat(&anna, "t", &forged, yes.clone()).await.rpc_code(), no, "forged");
        let other = json!({"name": "t", "arguments": {"a": 1}, "requestState": state,
            "inputResponses": yes});
        assert_eq!(anna.request("tools/call", other).await.unwrap().rpc_code(), no, "arguments");
        // None of that has ended it.
        let result = repeat(&anna, "t", &state, yes).await.result();
        assert_eq!(got(speaks, &result)["content"]["city"], "Rome", "{result}");
    }
}

#[tokio::test]
async fn what_was_put_aside_ends_with_its_time_the_switch_and_its_server() {
    for speaks in SERVERS {
        for end in ["late", "stop", "off", "revoked"] {
            let wait = if end == "late" { 300 } else { 60_000 };
            let mut rig = rig_waiting(Duration::from_millis(wait)).await;
            let log = rig.path().join("log");
            let script = Script::new().speaking(speaks).tool("t", [ask(speaks, form("city"))]);
            rig.serve("up", By::Pipes, &script.logging(&log), allow()).await;
            let client = rig.client("anna", "up").await.declaring(can());
            let asked = client.call("t", json!({})).await.unwrap().result();
            assert_eq!(asked["resultType"], "input_required", "{asked}");
            match end {
                "late" => {
                    tokio::time::sleep(Duration::from_millis(400)).await;
                    rig.house.house().gate().expire_asides().await;
                }
                "stop" => {
                    let scope = StopScope::Everything;
                    let engage = SwitchRequest::Engage { scope: scope.clone(), reason: None };
                    rig.house.owner(Request::Switch(engage)).await.unwrap();
                    let lift = Request::Switch(SwitchRequest::Lift { scope });
                    rig.house.owner(lift).await.unwrap();
                }
                "off" => {
                    use narthex_server::owner::ServerRequest;
                    rig.ask(ServerRequest::Switch { on: false }).await.unwrap();
                    rig.ask(ServerRequest::Switch { on: true }).await.unwrap();
                }
                _ => {
                    use narthex_server::owner::ServerRequest;
                    let server = "up".to_owned();
                    rig.ask(ServerRequest::Revoke { server, definitions: Vec::new() })
                        .await
                        .unwrap();
                }
            }
            let yes = json!({key(speaks): {"action": "accept", "content": {"city": "Rome"}}});
            let answer = repeat(&client, "t", &asked["requestState"], yes).await;
            // A server that is asked anew, in the newer revision, has lost nothing by being off.
            let anew = speaks == Speaks::Modern && end == "off";
            assert_eq!(answer.is_ok(), anew, "{speaks:?} {end} {answer:?}");
            let heard = std::fs::read_to_string(&log).unwrap_or_default();
            assert_eq!(heard.contains("Rome"), anew, "{speaks:?} {end}");
            if end == "late" {
                let actions = rig.actions_since(0).await;
                assert!(actions.contains(&"server.unanswered".to_owned()));
            }
        }
    }
}

async fn approve(rig: &Rig, waiting: &Answer) {
    let told = waiting.result()["_meta"]["narthex/error"]["approval"]["id"].clone();
    let approval = told.as_str().expect("it waits").to_owned();
    let show = Request::Approval(ApprovalRequest::Show { approval: approval.clone() });
    let Reply::Approval(detail) = rig.house.owner(show).await.unwrap() else { panic!("approval") };
    let answer = Word::Approve { nonce: None };
    let request = ApprovalRequest::Answer { approval, digest: detail.info.digest, answer };
    rig.house.owner(Request::Approval(request)).await.unwrap();
}

#[tokio::test]
async fn what_was_approved_and_begun_goes_on_without_a_second_approval() {
    for speaks in SERVERS {
        let mut rig = rig().await;
        let script = Script::new().speaking(speaks).tool("t", [ask(speaks, form("city"))]);
        let mut more = allow();
        more["tier"] = "T2".into();
        rig.serve("up", By::Pipes, &script, more).await;
        let client = rig.client("anna", "up").await.declaring(can());
        approve(&rig, &client.call("t", json!({})).await.unwrap()).await;
        let asked = client.call("t", json!({})).await.unwrap().result();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        // What goes on is the call, not the approval.
        let anew = client.call("t", json!({})).await.unwrap();
        assert_eq!(anew.tool_code().as_deref(), Some("approval_used"), "{anew:?}");
        let yes = json!({key(speaks): {"action": "accept", "content": {"city": "Rome"}}});
        let result = repeat(&client, "t", &asked["requestState"], yes.clone()).await.result();
        assert_eq!(got(speaks, &result)["content"]["city"], "Rome", "{result}");
        let again = repeat(&client, "t", &asked["requestState"], yes).await;
        assert!(!again.is_ok(), "{again:?}");
    }
}

#[tokio::test]
async fn an_answer_does_not_leave_after_something_private_was_read() {
    for speaks in SERVERS {
        let mut rig = rig().await;
        let script = Script::new().speaking(speaks).tool("t", [ask(speaks, form("city"))]);
        rig.serve("up", By::Pipes, &script, allow()).await;
        let client = rig.client("anna", "up").await.declaring(can());
        let asked = client.call("t", json!({})).await.unwrap().result();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let inside = rig.workspace("anna");
        let read = inside.call("search", json!({"query": "zebrafinch"})).await.unwrap();
        assert!(read.is_ok(), "{read:?}");
        let yes = json!({key(speaks): {"action": "accept", "content": {"city": "Rome"}}});
        let answer = repeat(&client, "t", &asked["requestState"], yes).await;
        assert_eq!(answer.tool_code().as_deref(), Some("egress_while_tainted"), "{answer:?}");
        // In the older revisions the same, while the call is under way.
        let mut rig = self::rig().await;
        let script = Script::new().speaking(speaks).tool("t", [ask(speaks, form("city"))]);
        rig.serve("up", By::Pipes, &script, allow()).await;
        let session = rig.client("anna", "up").await.declaring(can()).in_session().await.unwrap();
        let inside = rig.workspace("anna");
        let (found, told) = tokio::sync::oneshot::channel();
        let mut found = Some(found);
        let talking = session.converse_slowly("t", json!({}), async move |_| {
            let read = inside.call("search", json!({"query": "zebrafinch"})).await.unwrap();
            let _ = found.take().expect("once").send(read.is_ok());
            Some(json!({"action": "accept", "content": {"city": "Rome"}}))
        });
        let (_, said) = talking.await.unwrap();
        assert_eq!(told.await, Ok(true));
        assert!(!said.to_string().contains("Rome"), "{said}");
    }
}

#[tokio::test]
async fn more_than_a_few_questions_in_one_call_are_refused() {
    for by in By::ALL {
        let mut rig = rig().await;
        let steps: Vec<Step> = (0..11).map(|_| ask(Speaks::Legacy, form("city"))).collect();
        let script = Script::new().speaking(Speaks::Legacy).tool("t", steps);
        rig.serve("up", by, &script, allow()).await;
        let session = rig.client("anna", "up").await.declaring(can()).in_session().await.unwrap();
        let decline = |_: &Value| Some(json!({"action": "decline"}));
        let (asked, said) = session.converse("t", json!({}), decline).await.unwrap();
        assert_eq!(asked.len(), 8, "{by:?}");
        let answers = said["result"]["structuredContent"]["ask"].as_array().unwrap().clone();
        let refused = answers.iter().filter(|answer| answer.get("error").is_some()).count();
        assert_eq!((answers.len(), refused), (11, 3), "{by:?} {said}");
    }
}
