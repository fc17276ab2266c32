//! Legacy sessions, switched on: who has one, what it takes, when it ends.

mod ends;
mod streams;

use narthex_core::{Outcome, Phase, Reason, SessionId};
use serde_json::{Value, json};

use crate::house::{House, Open, TA, TA_TOO, TB};
use crate::raw::{Answer, Request, message};

const NOTIFICATION: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn initialize(token: &str, more: &Value) -> Request {
    let mut params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "a client", "version": "1"},
    });
    for (key, value) in more.as_object().expect("an object") {
        params[key] = value.clone();
    }
    Request::post(token, message(1, "initialize", &params))
}

fn echo(token: &str) -> Request {
    let params = json!({"name": "echo", "arguments": {"text": "x"}});
    Request::legacy(token, "tools/call", &params)
}

fn id_of(answer: &Answer) -> String {
    answer.header("mcp-session-id").expect("a session").to_owned()
}

/// Opens a session.
pub(crate) async fn opened(house: &Open, token: &str) -> String {
    opened_with(house, token, &json!({})).await
}

pub(crate) async fn opened_with(house: &Open, token: &str, more: &Value) -> String {
    let answer = initialize(token, more).send(house.addr).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    id_of(&answer)
}

#[tokio::test]
async fn the_handshake_mints_an_id_that_every_other_message_needs() {
    let house = House::with_sessions().open().await;
    let id = opened(&house, TA).await;
    assert!(id.len() == 64 && id.bytes().all(|b| b.is_ascii_hexdigit()), "{id}");
    assert_ne!(id, opened(&house, TA).await);
    let unknown = json!({"name": "nosuch"});
    for (request, status) in [
        (echo(TA), 200),
        (Request::legacy(TA, "ping", &json!({})), 200),
        (Request::legacy(TA, "tools/list", &json!({})), 200),
        (Request::legacy(TA, "tools/call", &unknown), 200),
        (Request::legacy(TA, "prompts/list", &json!({})), 200),
        (Request::post(TA, NOTIFICATION), 202),
        (Request::post(TA, r#"{"jsonrpc":"2.0","method":"initialize"}"#), 202),
    ] {
        let before = house.ran();
        let with = request.clone().with("mcp-session-id", &id).send(house.addr).await;
        assert_eq!((with.status, with.header("mcp-session-id")), (status, None), "{request:?}");
        let ran = house.ran();
        let without = request.send(house.addr).await;
        assert_eq!((without.status, without.code()), (400, -32600), "{request:?}");
        let twice = request.with("mcp-session-id", &id).and("mcp-session-id", id.as_bytes());
        assert_eq!(twice.send(house.addr).await.status, 400);
        assert_eq!(house.ran(), ran, "nothing runs without a session");
        assert!(ran - before <= 1);
    }
}

#[tokio::test]
async fn an_id_is_its_agents_and_all_that_is_none_gets_the_same_bytes() {
    let house = House::with_sessions().open().await;
    let (own, other) = (opened(&house, TA).await, opened(&house, TB).await);
    let ended = opened(&house, TA).await;
    let end = Request::post(TA, "").line("DELETE /mcp HTTP/1.1").with("mcp-session-id", &ended);
    assert_eq!(end.send(house.addr).await.status, 204);
    let upper = own.to_uppercase();
    let mut bodies = Vec::new();
    for wrong in [&other, &ended, &upper, &"0".repeat(64), "x", &"y".repeat(9_000), ""] {
        let before = house.records().len();
        let answer = echo(TA).with("mcp-session-id", wrong).send(house.addr).await;
        assert_eq!((answer.status, answer.code()), (404, -32600), "{wrong}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.json()["error"]["data"]["code"], "unknown_session");
        bodies.push(answer.body);
        let records = house.records();
        let new: Vec<_> = records[before..].iter().map(|r| (r.phase, r.reason)).collect();
        assert_eq!(new, [(Phase::Refused, Reason::UnknownSession)], "{wrong}");
        assert!(records[before].session.is_none() && records[before].outcome == Outcome::Refused);
    }
    bodies.dedup();
    assert_eq!(bodies.len(), 1, "the same to the byte");
    assert_eq!(house.ran(), 0);
    // It belongs to the agent, not to the token it was opened with.
    for token in [TA, TA_TOO] {
        let answer = echo(token).with("mcp-session-id", &own).send(house.addr).await;
        assert_eq!(answer.status, 200, "{token}");
    }
    house.tokens.revoke(TA);
    assert_eq!(echo(TA).with("mcp-session-id", &own).send(house.addr).await.status, 401);
    assert_eq!(echo(TA_TOO).with("mcp-session-id", &own).send(house.addr).await.status, 200);
}

#[tokio::test]
async fn the_modern_era_knows_no_sessions() {
    let house = House::with_sessions().open().await;
    let id = opened_with(&house, TA, &json!({"consentCeiling": "T0"})).await;
    let suggest = json!({"name": "suggest", "arguments": {}});
    let none = Request::modern(TA, "tools/call", &suggest);
    for request in [
        none.clone(),
        none.clone().with("mcp-session-id", &id),
        none.clone().with("mcp-session-id", "forged").with("last-event-id", "7"),
    ] {
        let before = house.records().len();
        let answer = request.send(house.addr).await;
        assert_eq!(answer.header("mcp-session-id"), None);
        // The modern request says nothing of a ceiling; what the session agreed to is not its.
        assert_eq!(answer.result()["_meta"]["narthex/error"]["code"], "conflict");
        assert!(house.records()[before..].iter().all(|record| record.session.is_none()));
    }
    let discover = Request::modern(TA, "server/discover", &json!({})).send(house.addr).await;
    assert_eq!((discover.status, discover.header("mcp-session-id")), (200, None));
}

#[tokio::test]
async fn records_name_the_session_by_a_digest_and_never_by_its_id() {
    let house = House::with_sessions().open().await;
    let id = opened(&house, TA).await;
    for request in [
        echo(TA),
        Request::legacy(TA, "tools/list", &json!({})),
        Request::legacy(TA, "prompts/list", &json!({})),
        Request::legacy(TA, "tools/call", &json!({"name": "nosuch"})),
        Request::legacy(TA, "tools/call", &json!({})),
    ] {
        request.with("mcp-session-id", &id).send(house.addr).await;
    }
    let records = house.records();
    assert_eq!(records.len(), 6);
    let digest = narthex_core::Digest::of(id.as_bytes()).to_string();
    for record in &records {
        assert_eq!(record.session.as_ref().map(SessionId::as_str), Some(digest.as_str()));
        let text = serde_json::to_string(record).expect("JSON");
        assert!(!text.contains(&id), "{text}");
    }
    assert_eq!(records[0].tool, "initialize");
}

#[tokio::test]
async fn what_a_client_consented_to_holds_for_its_session() {
    let house = House::with_sessions().open().await;
    let suggest = |id: &str, meta: Option<&str>| {
        let mut params = json!({"name": "suggest", "arguments": {}});
        if let Some(tier) = meta {
            params["_meta"]["narthex/consentCeiling"] = json!(tier);
        }
        Request::legacy(TA, "tools/call", &params).with("mcp-session-id", id)
    };
    let over = "over_ceiling";
    for (ceiling, request, code) in [
        (None, None, "conflict"),
        (None, Some("T0"), over),
        (Some(json!("T3")), None, "conflict"),
        (Some(json!("T1")), Some("T3"), "conflict"),
        (Some(json!("T1")), Some("T0"), over),
        (Some(json!("T0")), None, over),
        (Some(json!("T0")), Some("T3"), over),
        (Some(json!("t1")), None, over),
        (Some(json!(1)), None, over),
        (Some(json!(null)), None, over),
        (Some(json!({"tier": "T3"})), Some("T3"), over),
    ] {
        let more = ceiling.clone().map_or_else(|| json!({}), |c| json!({"consentCeiling": c}));
        let id = opened_with(&house, TA, &more).await;
        let result = suggest(&id, request).send(house.addr).await.result();
        assert_eq!(result["_meta"]["narthex/error"]["code"], code, "{ceiling:?} {request:?}");
        house.gate.expire_sessions().await;
        let end = Request::post(TA, "").line("DELETE /mcp HTTP/1.1").with("mcp-session-id", &id);
        assert_eq!(end.send(house.addr).await.status, 204);
    }
}

#[tokio::test]
async fn an_id_that_could_not_be_recorded_is_no_session() {
    let house = House::with_sessions().open().await;
    house.store.break_ledger();
    let answer = initialize(TA, &json!({})).send(house.addr).await;
    assert_eq!((answer.status, answer.header("mcp-session-id")), (503, None));
    assert!(house.gate.sessions().is_empty());
}

#[tokio::test]
async fn one_too_many_is_refused_and_says_so() {
    let house = House::with(|gate| {
        gate.sessions = Some(narthex_gate::SessionConfig { per_agent: 3, ..Default::default() });
    });
    let house = house.open().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(opened(&house, TA).await);
    }
    for _ in 0..5 {
        let before = house.records().len();
        let refused = initialize(TA_TOO, &json!({})).send(house.addr).await;
        assert_eq!((refused.status, refused.header("mcp-session-id")), (429, None));
        assert_eq!(refused.json()["error"]["data"]["code"], "limit_reached");
        assert_eq!(house.records()[before].reason, Reason::LimitReached);
    }
    opened(&house, TB).await;
    for id in &ids {
        assert_eq!(echo(TA).with("mcp-session-id", id).send(house.addr).await.status, 200);
    }
    let end = Request::post(TA, "").line("DELETE /mcp HTTP/1.1").with("mcp-session-id", &ids[0]);
    assert_eq!(end.send(house.addr).await.status, 204);
    opened(&house, TA).await;
}

#[tokio::test]
async fn a_slow_handshake_still_names_its_session() {
    let house = House::with_sessions()
        .edge(|edge| edge.early_headers_after = std::time::Duration::ZERO)
        .open()
        .await;
    let id = opened(&house, TA).await;
    assert_eq!(echo(TA).with("mcp-session-id", &id).send(house.addr).await.status, 200);
}
