//! How much of everything: headers, bodies, time, connections; and a handler that panics.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::house::{House, TA};
use crate::raw::{Request, answers, exchange, fire};

fn call() -> Request {
    Request::legacy(TA, "tools/call", &json!({"name": "echo", "arguments": {"text": "hi"}}))
}

#[tokio::test]
async fn too_many_or_too_large_headers_are_431() {
    let house = House::new().open().await;
    let many = (0..300).fold(call(), |request, n| request.and(&format!("x-{n}"), b"1"));
    let large = call().and("x-large", &vec![b'a'; 64 * 1024]);
    let larger = call().and("x-large", &vec![b'a'; 40 * 1024]);
    for request in [many, large, larger] {
        let answers = fire(house.addr, &request.bytes()).await;
        assert_eq!(answers[0].status, 431);
    }
    let fits = (0..80).fold(call(), |request, n| request.and(&format!("x-{n}"), b"1"));
    assert_eq!(fits.send(house.addr).await.status, 200);
}

#[tokio::test]
async fn a_body_is_counted_while_it_arrives() {
    let house = House::new().edge(|edge| edge.body_bytes = 100_000).open().await;
    // Said to be too large: refused before a byte of it is read.
    let said = call().with("content-length", "100001").head();
    let refused = &fire(house.addr, &said).await[0];
    assert_eq!((refused.status, refused.word().as_str()), (413, "payload_too_large"));
    assert_eq!(refused.header("connection"), Some("close"));
    // Chunks without end.
    let mut endless = call().with("transfer-encoding", "chunked").without("connection").head();
    for _ in 0..200 {
        endless.extend_from_slice(b"400\r\n");
        endless.extend_from_slice(&[b' '; 0x400]);
        endless.extend_from_slice(b"\r\n");
    }
    let answers = fire(house.addr, &endless).await;
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0].status, 413);
    // Just within.
    let body = crate::raw::message(1, "ping", &json!({}));
    let padded = format!("{body}{}", " ".repeat(100_000 - body.len()));
    assert_eq!(call().body(padded).send(house.addr).await.status, 200);
}

#[tokio::test]
async fn a_client_in_the_middle_of_sending_still_reads_why_it_was_refused() {
    let house = House::new().open().await;
    let body = vec![b' '; 8 * 1024 * 1024];
    let answer =
        &fire(house.addr, &call().with("authorization", "Bearer x").body(body).bytes()).await;
    assert_eq!(answer.first().map(|answer| answer.status), Some(401));
}

#[tokio::test]
async fn slow_heads_and_slow_bodies_come_to_an_end() {
    let house = House::new()
        .edge(|edge| {
            edge.header_deadline = Duration::from_millis(300);
            edge.body_deadline = Duration::from_millis(300);
        })
        .open()
        .await;
    let stream = TcpStream::connect(house.addr).await.expect("a connection");
    let said = exchange(stream, b"POST /mcp HTTP/1.1\r\nhost: lo").await;
    assert!(answers(&said).iter().all(|answer| answer.status == 408), "closed, or told so");
    let half = call().without("connection").with("content-length", "50").head();
    let slow = &fire(house.addr, &[half, b"{".to_vec()].concat()).await[0];
    assert_eq!((slow.status, slow.word().as_str()), (408, "request_timeout"));
    // An idle connection is not kept either.
    let stream = TcpStream::connect(house.addr).await.expect("a connection");
    let said = exchange(stream, &call().without("connection").bytes()).await;
    assert_eq!(answers(&said).len(), 1);
}

#[tokio::test]
async fn large_bodies_share_one_memory_and_small_ones_do_not_wait_for_it() {
    let house = House::new().edge(|edge| edge.body_memory = 1024 * 1024).open().await;
    let text = "x".repeat(900 * 1024);
    let arguments = json!({"name": "echo", "arguments": {"text": text}});
    let large = Request::legacy(TA, "tools/call", &arguments);
    let bytes = large.bytes();
    let mut held = None;
    for _ in 0..50 {
        // One that stops short of its end holds what it sent. Which of the two comes first is the
        // scheduler's to say; the one that comes second is turned away.
        let mut holder = TcpStream::connect(house.addr).await.expect("a connection");
        let _ = holder.write_all(&bytes[..bytes.len() - 10]).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        let turned_away = large.send(house.addr).await;
        if turned_away.status == 503 {
            held = Some((holder, turned_away));
            break;
        }
    }
    let (holder, turned_away) = held.expect("a holder that keeps the other out");
    assert_eq!(turned_away.status, 503);
    assert!(turned_away.header("retry-after").is_some());
    assert_eq!(call().send(house.addr).await.status, 200);
    drop(holder);
    let mut again = large.send(house.addr).await.status;
    for _ in 0..50 {
        if again == 200 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        again = large.send(house.addr).await.status;
    }
    assert_eq!(again, 200, "what was held is given back");
}

#[tokio::test]
async fn over_the_cap_connections_wait_and_are_then_served() {
    let house = House::new().edge(|edge| edge.connections = 2).open().await;
    let idle = [
        TcpStream::connect(house.addr).await.expect("a connection"),
        TcpStream::connect(house.addr).await.expect("a connection"),
    ];
    let addr = house.addr;
    let mut waiting = tokio::task::JoinSet::new();
    waiting.spawn(async move { call().send(addr).await });
    let early = tokio::time::timeout(Duration::from_millis(500), waiting.join_next()).await;
    assert!(early.is_err(), "no place, no answer");
    drop(idle);
    let answer = waiting.join_next().await.expect("a task").expect("an answer");
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn a_panic_fails_one_request_and_nothing_else() {
    let house = House::new().open().await;
    let handler = Request::post(TA, "").line("GET /panic HTTP/1.1").send(house.addr).await;
    assert_eq!((handler.status, handler.word().as_str()), (500, "internal"));
    let tool = Request::legacy(TA, "tools/call", &json!({"name": "boom"})).send(house.addr).await;
    assert_eq!((tool.status, tool.code()), (500, -32603));
    assert!(!String::from_utf8_lossy(&tool.body).contains("on purpose"));
    assert_eq!(call().send(house.addr).await.status, 200);
}

#[tokio::test]
async fn a_large_answer_arrives_whole() {
    let house = House::new().open().await;
    let params = json!({"name": "big", "arguments": {"bytes": 3_000_000}});
    let answer = Request::modern(TA, "tools/call", &params).send(house.addr).await.result();
    let text = answer["structuredContent"]["text"].as_str().map(str::len);
    assert_eq!(text, Some(3_000_000));
    let mirror: Value =
        serde_json::from_str(answer["content"][0]["text"].as_str().expect("text")).expect("JSON");
    assert_eq!(mirror, answer["structuredContent"]);
}
