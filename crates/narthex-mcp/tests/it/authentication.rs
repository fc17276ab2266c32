//! Threat family C, as far as it is the edge's: one header, one token, nothing else looked at.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::house::{House, NOWHERE, OWN, TA};
use crate::raw::{Request, fire, read_head};

fn call() -> Request {
    Request::modern(TA, "tools/call", &json!({"name": "echo", "arguments": {"text": "hi"}}))
}

#[tokio::test]
async fn anything_but_one_good_bearer_is_401() {
    let house = House::new().open().await;
    let good = format!("Bearer {TA}");
    for value in [
        &b"Bearer"[..],
        b"Bearer ",
        b"Basic dXNlcjpwYXNz",
        b"Bearer wrong",
        b"Bearer \xc3\xa9\xff",
        format!("Bearer {TA}\0").as_bytes(),
        format!("Bearer {TA}\0 x").as_bytes(),
        format!("Bearer {TA}, Basic x").as_bytes(),
        format!("Bearer {TA} {TA}").as_bytes(),
        format!("Basic {TA}").as_bytes(),
        TA.as_bytes(),
    ] {
        let request = call().without("authorization").and("authorization", value);
        let answer = request.send(house.addr).await;
        let shown = String::from_utf8_lossy(value).into_owned();
        assert_eq!((answer.status, answer.word().as_str()), (401, "unauthorized"), "{shown}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"), "{shown}");
        assert_eq!(answer.header("connection"), Some("close"), "{shown}");
    }
    for request in [
        call().without("authorization"),
        call().and("authorization", good.as_bytes()),
        call().without("authorization").line(&format!("POST /mcp?access_token={TA} HTTP/1.1")),
        call().without("authorization").and("x-agent-id", b"agent-1").and("cookie", TA.as_bytes()),
    ] {
        assert_eq!(request.send(house.addr).await.status, 401);
    }
    assert_eq!(house.ran(), 0);
    assert_eq!(
        call().with("authorization", &format!("bEARER {TA}")).send(house.addr).await.status,
        200
    );
}

#[tokio::test]
async fn a_byte_that_no_header_may_hold_ends_the_connection() {
    let house = House::new().open().await;
    let with_nul = |request: Request, name: &str| request.without(name).and(name, b"localhost\0");
    for (request, statuses) in [
        (with_nul(call(), "host"), [403, 403]),
        (with_nul(call(), "content-length"), [400, 400]),
        (with_nul(call(), "transfer-encoding"), [400, 400]),
        (with_nul(call(), "x-a\0"), [400, 400]),
    ] {
        let answers = fire(house.addr, &request.bytes()).await;
        assert!(answers.iter().all(|answer| statuses.contains(&answer.status)), "{answers:?}");
    }
    assert_eq!(house.ran(), 0);
}

#[tokio::test]
async fn who_is_not_for_this_endpoint_is_told_so() {
    let house = House::new().open().await;
    let owner = call().with("authorization", &format!("Bearer {OWN}")).send(house.addr).await;
    assert_eq!((owner.status, owner.word().as_str()), (401, "agent_required"));
    assert_eq!(owner.header("www-authenticate"), Some("Bearer"));
    let nowhere = call().with("authorization", &format!("Bearer {NOWHERE}"));
    let nowhere = nowhere.send(house.addr).await;
    assert_eq!((nowhere.status, nowhere.word().as_str()), (403, "no_space_scope"));
    assert_eq!(house.ran(), 0);
}

#[tokio::test]
async fn the_body_of_a_stranger_is_not_waited_for() {
    let house = House::new().open().await;
    let head = call().without("authorization").with("content-length", "1000000").head();
    let started = Instant::now();
    assert_eq!(fire(house.addr, &head).await[0].status, 401);
    assert!(started.elapsed() < house.edge.body_deadline / 2);
}

#[tokio::test]
async fn too_fast_is_429_with_a_time_to_come_back() {
    let house = House::with(|gate| {
        gate.requests_per_minute = 3;
        gate.failures_per_minute = 3;
    });
    let house = house.open().await;
    let mut last = call().send(house.addr).await;
    for _ in 0..5 {
        last = call().send(house.addr).await;
    }
    assert_eq!((last.status, last.word().as_str()), (429, "rate_limited"));
    let wait: u64 = last.header("retry-after").expect("a time").parse().expect("whole seconds");
    assert!((1..=60).contains(&wait));
    for _ in 0..5 {
        last = call().with("authorization", "Bearer wrong").send(house.addr).await;
    }
    assert_eq!(last.status, 429);
    assert_eq!(house.ran(), 3);
}

#[tokio::test]
async fn revoking_a_token_cuts_what_is_under_way() {
    let house =
        House::new().edge(|edge| edge.early_headers_after = Duration::from_millis(50)).open().await;
    let params = json!({"name": "slow", "arguments": {"millis": 15_000}});
    let mut stream = TcpStream::connect(house.addr).await.expect("a connection");
    let request = Request::modern(TA, "tools/call", &params);
    stream.write_all(&request.bytes()).await.expect("sent");
    assert!(read_head(&mut stream).await.starts_with("HTTP/1.1 200"));
    house.tokens.revoke(TA);
    let revoked = Instant::now();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    assert!(revoked.elapsed() < Duration::from_secs(8), "long before the call would have ended");
    let rest = String::from_utf8_lossy(&rest);
    assert!(!rest.contains("slept") && !rest.ends_with("0\r\n\r\n"), "cut, not ended: {rest:?}");
    assert_eq!(request.send(house.addr).await.status, 401);
}
