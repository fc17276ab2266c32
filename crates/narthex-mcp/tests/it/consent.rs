//! A client may lower what it can reach; never raise it, never be forgotten. The same table on
//! every era and transport, with sessions and without.

use std::sync::Arc;

use narthex_gate::Stdio;
use narthex_mcp::StdioServer;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::house::{House, Open, TA, agent_id};
use crate::raw::{Request, message, with_meta};
use crate::sessions::opened_with;
use crate::stdio::Client;

/// What a client may say, and the highest tier it leaves (none: it says nothing).
fn said() -> Vec<(Option<Value>, Option<u8>)> {
    let mut rows = vec![(None, None)];
    rows.extend((0..4_u8).map(|tier| (Some(json!(format!("T{tier}"))), Some(tier))));
    let malformed = [
        json!("t1"),
        json!(" T1"),
        json!("T1 "),
        json!("T4"),
        json!("T-1"),
        json!("T"),
        json!("1"),
        json!(""),
        json!("\u{ff34}1"),
        json!(1),
        json!(1.5),
        json!(true),
        json!(null),
        json!(["T3"]),
        json!({"tier": "T3"}),
    ];
    rows.extend(malformed.map(|value| (Some(value), Some(0))));
    rows
}

/// How a T1 call ends under two ceilings: it is made (and ends in a conflict) or refused.
fn ends(one: Option<u8>, other: Option<u8>) -> &'static str {
    if one.unwrap_or(3).min(other.unwrap_or(3)) == 0 { "over_ceiling" } else { "conflict" }
}

fn call(consent: Option<&Value>) -> Value {
    params(json!({"name": "suggest", "arguments": {}}), consent)
}

fn params(mut params: Value, consent: Option<&Value>) -> Value {
    if let Some(consent) = consent {
        params["_meta"]["narthex/consentCeiling"] = consent.clone();
    }
    params
}

fn handshake(ceiling: Option<&Value>) -> Value {
    let mut hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
    if let Some(ceiling) = ceiling {
        hello["consentCeiling"] = ceiling.clone();
    }
    hello
}

fn code(answer: &Value) -> String {
    answer["result"]["_meta"]["narthex/error"]["code"].as_str().unwrap_or_default().to_owned()
}

fn shows_suggest(list: &Value) -> bool {
    let tools = list["result"]["tools"].as_array().expect("tools");
    tools.iter().any(|tool| tool["name"] == "suggest")
}

#[tokio::test]
async fn on_each_request_in_both_eras() {
    let house = House::new().open().await;
    for (consent, tier) in said() {
        let call = call(consent.as_ref());
        let list = params(json!({}), consent.as_ref());
        for (call, list) in [
            (Request::modern(TA, "tools/call", &call), Request::modern(TA, "tools/list", &list)),
            (Request::legacy(TA, "tools/call", &call), Request::legacy(TA, "tools/list", &list)),
        ] {
            let answer = call.send(house.addr).await.json();
            assert_eq!(code(&answer), ends(tier, None), "{consent:?}");
            let list = list.send(house.addr).await.json();
            assert_eq!(shows_suggest(&list), tier != Some(0), "{consent:?}");
        }
    }
    // Nothing a client consents to is more than the owner does.
    for tier in ["T2", "T3"] {
        let publish = params(json!({"name": "publish", "arguments": {}}), Some(&json!(tier)));
        let answer = Request::modern(TA, "tools/call", &publish).send(house.addr).await.json();
        assert_eq!(code(&answer), "over_ceiling");
    }
    let echo = params(json!({"name": "echo", "arguments": {}}), Some(&json!("T0")));
    let echo = Request::modern(TA, "tools/call", &echo).send(house.addr).await.result();
    assert_eq!(echo["isError"], false);
}

#[tokio::test]
async fn in_a_session_and_on_its_requests_the_lowest_holds() {
    let house = House::with_sessions().open().await;
    for (ceiling, session) in said() {
        // In either place where a handshake can say it.
        let by_meta = params(handshake(None), ceiling.as_ref());
        for hello in [handshake(ceiling.as_ref()), by_meta] {
            let id = opened_with(&house, TA, &hello).await;
            for (consent, request) in said() {
                let legacy = Request::legacy(TA, "tools/call", &call(consent.as_ref()));
                let answer = legacy.with("mcp-session-id", &id).send(house.addr).await.json();
                assert_eq!(code(&answer), ends(session, request), "{hello} {consent:?}");
            }
            let list = Request::legacy(TA, "tools/list", &json!({}));
            let list = list.with("mcp-session-id", &id).send(house.addr).await.json();
            assert_eq!(shows_suggest(&list), session != Some(0), "{hello}");
            end(&house, &id).await;
        }
    }
}

async fn end(house: &Open, id: &str) {
    let end = Request::post(TA, "").line("DELETE /mcp HTTP/1.1").with("mcp-session-id", id);
    assert_eq!(end.send(house.addr).await.status, 204);
}

#[tokio::test]
async fn on_stdio_for_the_process_and_on_its_requests_the_lowest_holds() {
    let house = House::new();
    for (ceiling, process) in said() {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let who = Stdio::Agent(agent_id(1));
        let (gate, surface) = (house.gate.clone(), Arc::clone(&house.surface));
        let server = StdioServer::new(gate, surface, who, house.edge.clone());
        let (input, output) = tokio::io::split(theirs);
        #[expect(clippy::disallowed_methods, reason = "joined by the test")]
        let serving = tokio::spawn(server.run(input, output, CancellationToken::new()));
        let mut client = Client::new(ours);
        let hello = handshake(ceiling.as_ref());
        assert!(client.ask(&message(1, "initialize", &hello)).await["result"].is_object());
        for (consent, request) in said() {
            let call = call(consent.as_ref());
            for call in [call.clone(), with_meta(&call)] {
                let answer = client.ask(&message(2, "tools/call", &call)).await;
                assert_eq!(code(&answer), ends(process, request), "{ceiling:?} {consent:?}");
            }
        }
        // Shaking hands again raises nothing.
        client.ask(&message(3, "initialize", &handshake(Some(&json!("T3"))))).await;
        let answer = client.ask(&message(4, "tools/call", &call(None))).await;
        assert_eq!(code(&answer), ends(process, Some(3)), "{ceiling:?}");
        client.end().await;
        serving.await.expect("joined").expect("a clean end");
    }
}

#[tokio::test]
async fn a_ceiling_that_could_not_hold_is_not_taken() {
    for house in [House::new(), House::with_sessions()] {
        let house = house.open().await;
        let keeps = house.gate.keeps_sessions();
        for ceiling in said().into_iter().filter_map(|(ceiling, _)| ceiling) {
            // In either place where a handshake can say it.
            for hello in [handshake(Some(&ceiling)), params(handshake(None), Some(&ceiling))] {
                let legacy = Request::legacy(TA, "initialize", &hello).send(house.addr).await;
                if keeps {
                    end(&house, legacy.header("mcp-session-id").expect("a session")).await;
                    continue;
                }
                assert_eq!((legacy.status, legacy.code()), (200, -32602), "{hello}");
                assert!(legacy.header("mcp-session-id").is_none());
                let message = legacy.json()["error"]["message"].to_string();
                assert!(message.contains("narthex/consentCeiling"), "{message}");
            }
            // Discovery is no handshake: nothing remembers what is said there, sessions or not.
            let said = json!({"consentCeiling": ceiling});
            let modern = Request::modern(TA, "server/discover", &said).send(house.addr).await;
            assert_eq!((modern.status, modern.code()), (200, -32602), "{ceiling}");
            let message = modern.json()["error"]["message"].to_string();
            assert!(message.contains("narthex/consentCeiling"), "{message}");
        }
        for (consent, _) in said() {
            let said = params(json!({}), consent.as_ref());
            let modern = Request::modern(TA, "server/discover", &said).send(house.addr).await;
            assert_eq!((modern.status, modern.code()), (200, 0), "{consent:?}");
        }
    }
}
