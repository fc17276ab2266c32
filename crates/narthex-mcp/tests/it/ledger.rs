//! Every method passes the gate and leaves its record; without one there is no answer.

use narthex_core::{Outcome, Phase, Reason, RequestId};
use serde_json::json;

use crate::house::{House, TA, TB};
use crate::raw::{Request, message};

#[tokio::test]
async fn every_method_leaves_its_record() {
    use Phase::{Observed, Refused};
    let house = House::new().open().await;
    let echo = json!({"name": "echo", "arguments": {"text": "x"}});
    let nosuch = json!({"name": "nosuch"});
    let initialize = json!({"protocolVersion": "2025-11-25"});
    let none = json!({});
    for (request, expected) in [
        (
            Request::legacy(TA, "initialize", &initialize),
            Some((Observed, Reason::Permitted, "initialize")),
        ),
        (
            Request::modern(TA, "server/discover", &none),
            Some((Observed, Reason::Permitted, "server/discover")),
        ),
        (
            Request::modern(TA, "tools/list", &none),
            Some((Observed, Reason::Permitted, "tools/list")),
        ),
        (Request::modern(TA, "tools/call", &echo), Some((Observed, Reason::Permitted, "echo"))),
        (
            Request::modern(TA, "tools/call", &nosuch),
            Some((Refused, Reason::UnknownTool, "nosuch")),
        ),
        (
            Request::modern(TA, "tools/call", &none),
            Some((Refused, Reason::InvalidArguments, "tools/call")),
        ),
        (
            Request::modern(TA, "prompts/list", &none),
            Some((Refused, Reason::UnknownMethod, "prompts/list")),
        ),
        (
            Request::legacy(TA, "resources/list", &none),
            Some((Refused, Reason::UnknownMethod, "resources/list")),
        ),
        (
            Request::modern(TA, "tools/call", &echo).with("mcp-name", "x"),
            Some((Refused, Reason::InvalidRequest, "tools/call")),
        ),
        (Request::post(TA, "[]"), Some((Refused, Reason::InvalidRequest, "(unreadable)"))),
        (Request::legacy(TA, "ping", &none), None),
        (Request::post(TA, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), None),
    ] {
        let before = house.records().len();
        request.send(house.addr).await;
        let records = house.records();
        let new: Vec<_> = records[before..]
            .iter()
            .map(|record| (record.phase, record.reason, record.tool.as_str()))
            .collect();
        assert_eq!(new, expected.into_iter().collect::<Vec<_>>(), "{request:?}");
        let ok = |record: &narthex_core::RecordDraft| record.outcome == Outcome::Ok;
        assert!(records[before..].iter().all(|record| ok(record) == (record.phase == Observed)));
    }
}

#[tokio::test]
async fn ids_are_kept_as_the_client_wrote_them() {
    let house = House::new().open().await;
    let body = r#"{"jsonrpc":"2.0","id":"req\u2028-7","method":"tools/list"}"#;
    Request::post(TA, body).send(house.addr).await;
    Request::post(TA, message(42, "tools/list", &json!({}))).send(house.addr).await;
    let records = house.records();
    let ids = records.iter().filter_map(|record| record.request.as_ref().map(RequestId::as_str));
    assert_eq!(ids.collect::<Vec<_>>(), ["req\u{2028}-7", "42"]);
}

#[tokio::test]
async fn what_cannot_be_recorded_is_not_answered() {
    let house = House::new().open().await;
    house.store.break_ledger();
    let echo = json!({"name": "echo", "arguments": {"text": "secret"}});
    for request in [
        Request::modern(TA, "tools/call", &echo),
        Request::legacy(TA, "tools/call", &echo),
        Request::modern(TA, "tools/list", &json!({})),
        Request::modern(TA, "server/discover", &json!({})),
        Request::legacy(TA, "initialize", &json!({})),
        Request::modern(TA, "prompts/list", &json!({})),
        Request::modern(TB, "tools/call", &json!({"name": "suggest"})),
        Request::post(TA, "[]"),
    ] {
        let answer = request.send(house.addr).await;
        assert_eq!((answer.status, answer.code()), (503, -32603), "{request:?}");
        assert!(answer.header("retry-after").is_some());
        assert!(!String::from_utf8_lossy(&answer.body).contains("secret"));
        assert!(!String::from_utf8_lossy(&answer.body).contains("on purpose"));
    }
}

#[tokio::test]
async fn too_many_calls_at_once_are_shed() {
    let house = House::with(|gate| gate.calls_in_flight = 0).open().await;
    let echo = json!({"name": "echo", "arguments": {"text": "x"}});
    let answer = Request::modern(TA, "tools/call", &echo).send(house.addr).await;
    assert_eq!((answer.status, answer.code()), (503, -32603));
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(house.ran(), 0);
}

#[tokio::test]
async fn answers_of_many_callers_are_not_crossed() {
    let house = House::new().open().await;
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..200 {
        let (addr, token) = (house.addr, if n % 2 == 0 { TA } else { TB });
        calls.spawn(async move {
            let text = format!("{token}-{n}");
            let params = json!({"name": "echo", "arguments": {"text": text}});
            let answer = Request::modern(token, "tools/call", &params).send(addr).await;
            (text, answer.result()["structuredContent"]["text"].clone())
        });
    }
    while let Some(done) = calls.join_next().await {
        let (sent, came) = done.expect("an answer");
        assert_eq!(came, sent);
    }
}
