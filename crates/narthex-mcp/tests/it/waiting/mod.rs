//! A call that waits for the owner: told by revision, by what the client declared, and by whether
//! there is a console; and what comes back with a state.

mod state;

use std::sync::Arc;

use narthex_core::Ruled;
use narthex_gate::Stdio;
use narthex_mcp::{ConsoleUrl, StdioServer};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::house::{House, TC, agent_id};
use crate::raw::{Request, message};
use crate::sessions::opened_with;
use crate::stdio::Client;

const CONSOLE: &str = "https://console.example/n";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// How a client is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    InputRequired,
    UrlRequired,
    Result,
}

fn house(console: bool) -> House {
    House::with_sessions()
        .edge(|edge| edge.console = console.then(|| ConsoleUrl::parse(CONSOLE).expect("a URL")))
}

/// What a client may declare, and whether that is being sent to a URL.
fn declared() -> [(Value, bool); 8] {
    [
        (json!({}), false),
        (json!({"elicitation": {}}), false),
        (json!({"elicitation": {"form": {}}}), false),
        (json!({"elicitation": {"url": {}}}), true),
        (json!({"elicitation": {"form": {}, "url": {}}}), true),
        (json!({"elicitation": {"url": null}}), false),
        (json!({"elicitation": {"url": true}}), false),
        (json!({"elicitation": "url", "url": {}}), false),
    ]
}

fn publish(text: &str) -> Value {
    json!({"name": "publish", "arguments": {"text": text}})
}

fn modern(token: &str, params: &Value, capabilities: &Value) -> Request {
    let request = Request::modern(token, "tools/call", params);
    let mut whole: Value = serde_json::from_slice(request.body_bytes()).expect("JSON");
    whole["params"]["_meta"][CAPABILITIES] = capabilities.clone();
    request.body(whole.to_string())
}

fn told(answer: &Value) -> Told {
    if answer["error"]["code"] == -32042 {
        return Told::UrlRequired;
    }
    let result = &answer["result"];
    if result["resultType"] == "input_required" {
        return Told::InputRequired;
    }
    assert_eq!(result["isError"], true, "{answer}");
    assert_eq!(result["_meta"]["narthex/error"]["code"], "approval_needed", "{answer}");
    Told::Result
}

/// What is told must name the request, and must hold what its form asks for.
fn check(house: &House, answer: &Value, modern: bool) -> Told {
    let approval = house.store.approvals().last().cloned().expect("it waits");
    let id = approval.id.to_string();
    let page = format!("{CONSOLE}/approvals/{id}");
    let nonce = house.gate.nonce_of(&approval);
    let text = answer.to_string();
    assert!(text.contains(&id) && !text.contains(&nonce) && !text.contains("nonce"), "{text}");
    let told = told(answer);
    match told {
        Told::InputRequired => {
            let result = &answer["result"];
            let asked = &result["inputRequests"]["approval"];
            assert_eq!(asked["method"], "elicitation/create");
            assert_eq!(
                (&asked["params"]["mode"], &asked["params"]["url"]),
                (&json!("url"), &json!(page))
            );
            assert_eq!(asked["params"]["elicitationId"], json!(id));
            assert!(asked["params"]["message"].is_string() && result["requestState"].is_string());
            assert!(result.get("content").is_none() && result.get("isError").is_none());
        }
        Told::UrlRequired => {
            let asked = &answer["error"]["data"]["elicitations"];
            assert_eq!(asked.as_array().map(Vec::len), Some(1));
            assert_eq!((&asked[0]["mode"], &asked[0]["url"]), (&json!("url"), &json!(page)));
            assert_eq!(asked[0]["elicitationId"], json!(id));
            assert!(asked[0]["message"].is_string());
        }
        Told::Result => {
            let error = &answer["result"]["_meta"]["narthex/error"];
            assert_eq!(error["approval"]["id"], json!(id));
            assert_eq!(error["approval"]["until"], json!(approval.until));
            assert!(error["message"].as_str().expect("text").contains("exactly the same call"));
            let mirror = answer["result"]["content"][0]["text"].as_str().expect("text");
            assert_eq!(&serde_json::from_str::<Value>(mirror).expect("JSON")["error"], error);
            assert!(answer["result"].get("structuredContent").is_none());
            let kind = answer["result"].get("resultType");
            assert_eq!(kind, modern.then(|| json!("complete")).as_ref());
        }
    }
    told
}

#[tokio::test]
async fn by_revision_and_capability_and_console() {
    for console in [false, true] {
        let house = house(console).open().await;
        for (n, (capabilities, urls)) in declared().into_iter().enumerate() {
            let call = publish(&format!("modern {n}"));
            let answer = modern(TC, &call, &capabilities).send(house.addr).await;
            let expected = if urls && console { Told::InputRequired } else { Told::Result };
            assert_eq!(answer.status, 200);
            assert_eq!(check(&house, &answer.json(), true), expected, "{capabilities} {console}");
            for revision in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
                let hello = json!({"protocolVersion": revision, "capabilities": capabilities});
                let session = opened_with(&house, TC, &hello).await;
                let call = publish(&format!("{revision} {n}"));
                let answer = Request::legacy(TC, "tools/call", &call)
                    .with("mcp-session-id", &session)
                    .send(house.addr)
                    .await;
                // Who offers the oldest is answered with 2025-11-25, and goes on with that.
                let speaks = matches!(revision, "2025-11-25" | "2024-11-05");
                let expected =
                    if urls && console && speaks { Told::UrlRequired } else { Told::Result };
                assert_eq!(answer.status, 200);
                let what = format!("{revision} {capabilities} {console}");
                assert_eq!(check(&house, &answer.json(), false), expected, "{what}");
                let end = Request::post(TC, "").line("DELETE /mcp HTTP/1.1");
                end.with("mcp-session-id", &session).send(house.addr).await;
            }
        }
        assert_eq!(house.ran(), 0, "nothing ran that waits");
        let waits = |record: &narthex_core::RecordDraft| record.decision == Ruled::Approval;
        assert_eq!(house.records().iter().filter(|record| waits(record)).count(), 8 * 5);
    }
}

/// Without sessions nobody remembers what a legacy client declared.
#[tokio::test]
async fn without_a_session_a_legacy_client_reads_a_result() {
    let house =
        House::new().edge(|edge| edge.console = ConsoleUrl::parse(CONSOLE).ok()).open().await;
    let capabilities = json!({"elicitation": {"url": {}}});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities});
    Request::legacy(TC, "initialize", &hello).send(house.addr).await;
    // Not even if it says so where the modern era would.
    let mut call = publish("x");
    call["_meta"][CAPABILITIES] = capabilities;
    let answer = Request::legacy(TC, "tools/call", &call).send(house.addr).await;
    assert_eq!(check(&house, &answer.json(), false), Told::Result);
}

#[tokio::test]
async fn on_stdio_the_process_remembers() {
    let house = house(true);
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let who = Stdio::Agent(agent_id(4));
    let server =
        StdioServer::new(house.gate.clone(), Arc::clone(&house.surface), who, house.edge.clone());
    let (input, output) = tokio::io::split(theirs);
    #[expect(clippy::disallowed_methods, reason = "joined by the test")]
    let serving = tokio::spawn(server.run(input, output, CancellationToken::new()));
    let mut client = Client::new(ours);
    let urls = json!({"elicitation": {"url": {}}});
    for (n, (revision, capabilities, expected)) in [
        (None, json!({}), Told::Result),
        (Some("2025-11-25"), json!({"elicitation": {}}), Told::Result),
        (Some("2025-06-18"), urls.clone(), Told::Result),
        (Some("2025-11-25"), urls, Told::UrlRequired),
    ]
    .into_iter()
    .enumerate()
    {
        if let Some(revision) = revision {
            let hello = json!({"protocolVersion": revision, "capabilities": capabilities});
            client.ask(&message(1, "initialize", &hello)).await;
        }
        let call = publish(&format!("{n}"));
        let answer = client.ask(&message(2, "tools/call", &call)).await;
        assert_eq!(check(&house, &answer, false), expected, "{revision:?}");
    }
    client.end().await;
    serving.await.expect("joined").expect("a clean end");
}
