//! How a session ends: by DELETE, by silence, by age.

use std::time::Duration;

use narthex_core::{Phase, Reason};
use narthex_gate::SessionConfig;
use serde_json::json;

use super::{echo, opened};
use crate::house::{House, OWN, TA, TB};
use crate::raw::Request;

fn delete(token: &str) -> Request {
    Request::post(token, "").line("DELETE /mcp HTTP/1.1").without("content-type").without("accept")
}

#[tokio::test]
async fn delete_ends_what_is_ones_own() {
    let house = House::with_sessions().open().await;
    let id = opened(&house, TA).await;
    for (request, status) in [
        (delete(TA), 400),
        (delete(TA).with("mcp-session-id", "forged"), 404),
        (delete(TB).with("mcp-session-id", &id), 404),
        (delete(OWN).with("mcp-session-id", &id), 401),
        (delete("wrong").with("mcp-session-id", &id), 401),
        (delete(TA).with("mcp-session-id", &id).with("mcp-protocol-version", "2026-07-28"), 405),
        (delete(TA).with("mcp-session-id", &id).with("mcp-protocol-version", "1999-01-01"), 400),
    ] {
        let answer = request.send(house.addr).await;
        assert_eq!(answer.status, status, "{request:?}");
        assert!(answer.json()["error"].is_object(), "{request:?}");
        assert_eq!(house.gate.sessions().len(), 1, "{request:?}");
    }
    let before = house.records().len();
    let answer = delete(TA).with("mcp-session-id", &id).send(house.addr).await;
    assert_eq!((answer.status, answer.body.len()), (204, 0));
    let records = house.records();
    let new: Vec<_> = records[before..].iter().map(|r| (r.phase, r.reason)).collect();
    assert_eq!(new, [(Phase::Observed, Reason::Permitted)]);
    assert!(records[before].session.is_some());
    assert!(house.gate.sessions().is_empty());
    assert_eq!(echo(TA).with("mcp-session-id", &id).send(house.addr).await.status, 404);
    assert_eq!(delete(TA).with("mcp-session-id", &id).send(house.addr).await.status, 404);
}

#[tokio::test]
async fn a_session_does_not_end_without_a_record() {
    let house = House::with_sessions().open().await;
    let id = opened(&house, TA).await;
    house.store.break_ledger();
    assert_eq!(delete(TA).with("mcp-session-id", &id).send(house.addr).await.status, 503);
    assert_eq!(house.gate.sessions().len(), 1);
}

#[tokio::test]
async fn silence_and_age_end_a_session() {
    let short = |idle, absolute| {
        House::with(move |gate| {
            let (idle, absolute) = (Duration::from_millis(idle), Duration::from_millis(absolute));
            gate.sessions = Some(SessionConfig { idle, absolute, per_agent: 2 });
        })
    };
    for house in [short(300, 60_000), short(60_000, 300)] {
        let house = house.open().await;
        let id = opened(&house, TA).await;
        tokio::time::sleep(Duration::from_millis(400)).await;
        let answer = echo(TA).with("mcp-session-id", &id).send(house.addr).await;
        assert_eq!((answer.status, answer.code()), (404, -32600));
        assert!(house.gate.sessions().is_empty());
    }
}

/// Nothing of what an agent is held to lies in the session, so another one sheds nothing.
#[tokio::test]
async fn a_new_session_opens_nothing_the_old_one_did_not() {
    let house = House::with_sessions().open().await;
    let publish = json!({"name": "publish", "arguments": {}});
    for _ in 0..3 {
        let id = opened(&house, TA).await;
        let request = Request::legacy(TA, "tools/call", &publish).with("mcp-session-id", &id);
        let result = request.send(house.addr).await.result();
        assert_eq!(result["_meta"]["narthex/error"]["code"], "over_ceiling");
    }
    assert_eq!(house.ran(), 0);
}
