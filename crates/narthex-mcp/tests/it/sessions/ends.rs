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
    for ((idle, absolute), why) in
        [((300, 60_000), Reason::SessionIdle), ((60_000, 300), Reason::SessionExpired)]
    {
        for by_message in [true, false] {
            let house = short(idle, absolute).open().await;
            let id = opened(&house, TA).await;
            let before = house.records().len();
            tokio::time::sleep(Duration::from_millis(400)).await;
            if by_message {
                let answer = echo(TA).with("mcp-session-id", &id).send(house.addr).await;
                assert_eq!((answer.status, answer.code()), (404, -32600));
            } else {
                house.gate.expire_sessions().await;
            }
            assert!(house.gate.sessions().is_empty());
            for _ in 0..3 {
                echo(TA).with("mcp-session-id", &id).send(house.addr).await;
                house.gate.expire_sessions().await;
            }
            let records = house.records();
            let ends: Vec<_> =
                records[before..].iter().filter(|record| record.phase == Phase::House).collect();
            assert_eq!(ends.len(), 1, "once: {ends:?}");
            assert_eq!((ends[0].tool.as_str(), ends[0].reason), ("session.end", why));
            assert_eq!(ends[0].session, records[before - 1].session);
            assert_eq!(ends[0].subject.kind.as_deref(), Some("agent"));
        }
    }
}

#[tokio::test]
async fn an_end_that_could_not_be_recorded_is_recorded_later() {
    let house = House::with(|gate| {
        let idle = Duration::from_millis(50);
        gate.sessions = Some(SessionConfig { idle, ..SessionConfig::default() });
    });
    let house = house.open().await;
    opened(&house, TA).await;
    house.store.break_ledger();
    tokio::time::sleep(Duration::from_millis(100)).await;
    house.gate.expire_sessions().await;
    let ends = || house.records().iter().filter(|record| record.tool == "session.end").count();
    assert_eq!(ends(), 0);
    house.store.mend_ledger();
    house.gate.drain().await;
    assert_eq!(ends(), 1);
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
