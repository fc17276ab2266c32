//! What is refused before its message was read is in the ledger too: counted, so that nobody can
//! fill it, and under the agent's name where there is one.

use std::time::Duration;

use narthex_core::{Actor, Outcome, Phase, Reason};
use serde_json::json;

use crate::house::{House, TA};
use crate::raw::{Request, fire};

fn echo() -> Request {
    let params = json!({"name": "echo", "arguments": {"text": "x"}});
    Request::modern(TA, "tools/call", &params)
}

#[tokio::test]
async fn each_kind_leaves_its_record() {
    let house = House::with(|gate| gate.refusal_window = Duration::ZERO)
        .edge(|edge| edge.body_bytes = 10_000)
        .open()
        .await;
    let invalid = Reason::InvalidRequest;
    for (request, status, known) in [
        (echo().line("GET /mcp HTTP/1.1"), 405, false),
        (echo().line("DELETE /mcp HTTP/1.1"), 405, false),
        (echo().line("BREW /mcp HTTP/1.1"), 405, false),
        (echo().with("content-type", "text/plain"), 415, false),
        (echo().with("content-encoding", "gzip"), 415, false),
        (echo().with("accept", "text/html"), 406, false),
        (echo().body(vec![b' '; 20_000]), 413, true),
    ] {
        let before = house.records().len();
        let answers = fire(house.addr, &request.bytes()).await;
        assert_eq!(answers.first().map(|answer| answer.status), Some(status));
        let records = house.records();
        let [record] = &records[before..] else { panic!("{status}: {:?}", &records[before..]) };
        assert_eq!(
            (record.phase, record.reason, record.outcome),
            (Phase::Refused, invalid, Outcome::Refused),
            "{status}"
        );
        assert_eq!(matches!(record.actor, Actor::Agent { .. }), known, "{status}");
    }
    assert_eq!(house.ran(), 0);
}

#[tokio::test]
async fn too_much_at_once_is_on_record() {
    let house = House::with(|gate| gate.calls_in_flight = 0).open().await;
    for _ in 0..20 {
        assert_eq!(echo().send(house.addr).await.status, 503);
    }
    let records = house.records();
    let [record] = &records[..] else { panic!("{records:?}") };
    assert_eq!((record.phase, record.reason), (Phase::Refused, Reason::LimitReached));
    house.gate.drain().await;
    assert_eq!(house.records().last().and_then(|record| record.subject.count), Some(19));
}

#[tokio::test]
async fn a_flood_makes_a_handful_of_records_and_none_is_forgotten() {
    let house = House::new().open().await;
    for _ in 0..50 {
        echo().line("PUT /mcp HTTP/1.1").send(house.addr).await;
        echo().with("accept", "text/html").send(house.addr).await;
        echo().with("content-type", "text/plain").send(house.addr).await;
    }
    assert_eq!(house.records().len(), 1);
    house.gate.drain().await;
    let counted: u64 = house.records().iter().map(|record| record.subject.count.unwrap_or(1)).sum();
    assert_eq!(counted, 150);
}
