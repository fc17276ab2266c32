//! The stream a legacy client may keep open, and everything that ends it.

use std::time::{Duration, Instant};

use narthex_core::Reason;
use narthex_gate::SessionConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{echo, opened};
use crate::house::{House, Open, TA, TA_TOO, TB};
use crate::raw::{PATIENCE, Request, read_head};

fn get(token: &str, id: &str) -> Request {
    Request::post(token, "")
        .line("GET /mcp HTTP/1.1")
        .without("content-type")
        .without("connection")
        .with("accept", "text/event-stream")
        .with("mcp-session-id", id)
}

/// A stream whose head came.
async fn listen(house: &Open, token: &str, id: &str) -> TcpStream {
    let mut stream = TcpStream::connect(house.addr).await.expect("a connection");
    stream.write_all(&get(token, id).head()).await.expect("sent");
    let head = read_head(&mut stream).await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(head.contains("content-type: text/event-stream\r\n"), "{head}");
    assert!(head.contains("cache-control: no-store\r\n"), "{head}");
    stream
}

/// What is left of a stream until it is closed, and how long that took.
async fn rest(mut stream: TcpStream) -> (String, Duration) {
    let (started, mut rest) = (Instant::now(), Vec::new());
    let reading = stream.read_to_end(&mut rest);
    // Cut or ended, it is over.
    let _ = tokio::time::timeout(PATIENCE, reading).await.expect("an end");
    (String::from_utf8_lossy(&rest).into_owned(), started.elapsed())
}

fn ended(rest: &str) -> bool {
    rest.ends_with("0\r\n\r\n")
}

#[tokio::test]
async fn what_is_no_stream_in_a_session_of_ones_own_is_refused() {
    let house = House::with_sessions().open().await;
    let id = opened(&house, TA).await;
    for (request, status) in [
        (get(TA, &id).without("mcp-session-id"), 400),
        (get(TA, &id).and("mcp-session-id", id.as_bytes()), 400),
        (get(TA, "forged"), 404),
        (get(TB, &id), 404),
        (get("wrong", &id), 401),
        (get(TA, &id).with("accept", "application/json"), 406),
        (get(TA, &id).with("accept", "*/*"), 406),
        (get(TA, &id).with("accept", "text/event-stream;q=0"), 406),
        (get(TA, &id).without("accept"), 406),
        (get(TA, &id).with("mcp-protocol-version", "2026-07-28"), 405),
        (get(TA, &id).with("mcp-protocol-version", "1999-01-01"), 400),
        (get(TA, &id).line("HEAD /mcp HTTP/1.1"), 405),
        (get(TA, &id).line("PUT /mcp HTTP/1.1"), 405),
    ] {
        let answer = request.clone().with("connection", "close").send(house.addr).await;
        assert_eq!(answer.status, status, "{request:?}");
        if status == 405 {
            assert_eq!(answer.header("allow"), Some("GET, POST, DELETE"));
        }
    }
    assert_eq!(house.ran(), 0);
}

#[tokio::test]
async fn a_stream_stands_and_shows_signs_of_life() {
    let house = House::with_sessions()
        .edge(|edge| edge.keep_alive_every = Duration::from_millis(50))
        .open()
        .await;
    let id = opened(&house, TA).await;
    let before = house.records().len();
    let mut stream = listen(&house, TA, &id).await;
    let mut seen = Vec::new();
    while String::from_utf8_lossy(&seen).matches(": listening\n\n").count() < 4 {
        let mut buffer = [0; 256];
        let read = stream.read(&mut buffer).await.expect("alive");
        assert!(read > 0, "it stands open");
        seen.extend_from_slice(&buffer[..read]);
    }
    assert!(!String::from_utf8_lossy(&seen).contains("data:"), "nothing is announced");
    let records = house.records();
    assert_eq!(records.len(), before + 1);
    assert!(records[before].session.is_some());
    // Messages go on beside it, with any token of the agent.
    assert_eq!(echo(TA_TOO).with("mcp-session-id", &id).send(house.addr).await.status, 200);
    // No replay is kept: an old position is taken for none.
    let mut again = TcpStream::connect(house.addr).await.expect("a connection");
    let resumed = get(TA, &id).with("last-event-id", "7");
    again.write_all(&resumed.head()).await.expect("sent");
    assert!(read_head(&mut again).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn a_session_has_two_streams_and_not_three() {
    let house = House::with_sessions()
        .edge(|edge| edge.keep_alive_every = Duration::from_millis(50))
        .open()
        .await;
    let (id, other) = (opened(&house, TA).await, opened(&house, TA).await);
    let first = listen(&house, TA, &id).await;
    let _second = listen(&house, TA, &id).await;
    let third = get(TA, &id).with("connection", "close").send(house.addr).await;
    assert_eq!((third.status, third.code()), (409, -32600));
    assert_eq!(house.records().last().map(|record| record.reason), Some(Reason::LimitReached));
    let _elsewhere = listen(&house, TA, &other).await;
    drop(first);
    for _ in 0..100 {
        let mut stream = TcpStream::connect(house.addr).await.expect("a connection");
        stream.write_all(&get(TA, &id).head()).await.expect("sent");
        if read_head(&mut stream).await.starts_with("HTTP/1.1 200") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("a stream that was let go still takes up its place");
}

#[tokio::test]
async fn streams_are_connections_like_others() {
    let house = House::with_sessions().edge(|edge| edge.connections = 2).open().await;
    let id = opened(&house, TA).await;
    let streams = [listen(&house, TA, &id).await, listen(&house, TA, &id).await];
    let request = echo(TA).with("mcp-session-id", &id);
    let waiting = tokio::time::timeout(Duration::from_millis(500), request.send(house.addr)).await;
    assert!(waiting.is_err(), "no place, no answer");
    drop(streams);
}

#[tokio::test]
async fn the_end_of_a_session_ends_its_streams_and_no_others() {
    let house = House::with_sessions()
        .edge(|edge| edge.header_deadline = Duration::from_millis(500))
        .open()
        .await;
    let (id, other) = (opened(&house, TA).await, opened(&house, TA).await);
    let streams = [listen(&house, TA, &id).await, listen(&house, TA_TOO, &id).await];
    let mut kept = listen(&house, TA, &other).await;
    let end = Request::post(TA, "").line("DELETE /mcp HTTP/1.1").with("mcp-session-id", &id);
    assert_eq!(end.send(house.addr).await.status, 204);
    for stream in streams {
        // The connection goes on after the stream, and is closed when it is idle.
        let (rest, _) = rest(stream).await;
        assert!(ended(&rest), "{rest:?}");
    }
    let nothing = tokio::time::timeout(Duration::from_millis(300), async {
        let mut seen = [0; 64];
        while kept.read(&mut seen).await.expect("alive") > 0 {}
    });
    assert!(nothing.await.is_err(), "another session's stream stands");
}

#[tokio::test]
async fn a_stream_ends_when_its_session_runs_out_and_nobody_asks() {
    let house = House::with(|gate| {
        let (idle, absolute) = (Duration::from_millis(300), Duration::from_mins(1));
        gate.sessions = Some(SessionConfig { idle, absolute, per_agent: 2 });
    });
    let house = house.edge(|edge| edge.header_deadline = Duration::from_millis(200)).open().await;
    let id = opened(&house, TA).await;
    let stream = listen(&house, TA, &id).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    // What the house does now and then.
    house.gate.expire_sessions().await;
    let (rest, took) = rest(stream).await;
    assert!(ended(&rest) && took < Duration::from_secs(5), "{rest:?} {took:?}");
}

#[tokio::test]
async fn revoking_its_token_cuts_a_stream_and_leaves_the_others() {
    let house = House::with_sessions().open().await;
    let id = opened(&house, TA).await;
    let (revoked, mut kept) = (listen(&house, TA, &id).await, listen(&house, TA_TOO, &id).await);
    house.tokens.revoke(TA);
    let (rest, took) = rest(revoked).await;
    assert!(!ended(&rest), "cut, not ended: {rest:?}");
    assert!(took < Duration::from_secs(8), "{took:?}");
    let nothing = tokio::time::timeout(Duration::from_millis(300), async {
        let mut seen = [0; 64];
        while kept.read(&mut seen).await.expect("alive") > 0 {}
    });
    assert!(nothing.await.is_err(), "the agent's other token is good");
}

#[tokio::test]
async fn a_stream_does_not_hold_the_house_open() {
    let house = House::with_sessions().open().await;
    let id = opened(&house, TA).await;
    let stream = listen(&house, TA, &id).await;
    let stopped = Instant::now();
    house.stop.cancel();
    let (rest, _) = rest(stream).await;
    assert!(ended(&rest), "{rest:?}");
    house.serving.await.expect("joined").expect("a clean end");
    assert!(stopped.elapsed() < Duration::from_secs(10), "{:?}", stopped.elapsed());
}
