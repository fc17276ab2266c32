//! A call that takes long has its head sent early, and signs of life until it is done.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::house::{House, Open, TA};
use crate::raw::{Request, read_head, unchunk};

async fn open() -> Open {
    House::new()
        .edge(|edge| {
            edge.early_headers_after = Duration::from_millis(100);
            edge.keep_alive_every = Duration::from_millis(50);
        })
        .open()
        .await
}

fn slow(millis: u64) -> Request {
    Request::modern(TA, "tools/call", &json!({"name": "slow", "arguments": {"millis": millis}}))
}

async fn head_then_body(house: &Open, request: &Request) -> (String, usize, String) {
    let mut stream = TcpStream::connect(house.addr).await.expect("a connection");
    stream.write_all(&request.bytes()).await.expect("sent");
    let head = read_head(&mut stream).await;
    let unfinished = house.trivial.finished.load(Ordering::SeqCst);
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.expect("a whole answer");
    (head, unfinished, String::from_utf8(unchunk(&rest).0).expect("text"))
}

#[tokio::test]
async fn the_head_leaves_before_the_answer_is_there() {
    let house = open().await;
    let (head, finished, body) = head_then_body(&house, &slow(1_500)).await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(head.contains("content-type: text/event-stream\r\n"), "{head}");
    assert!(head.contains("cache-control: no-store\r\n"), "{head}");
    assert_eq!(finished, 0, "the head came first");
    let events: Vec<&str> = body.split("\n\n").filter(|event| !event.is_empty()).collect();
    let (last, comments) = events.split_last().expect("events");
    assert!(comments.len() > 2 && comments.iter().all(|event| event.starts_with(':')), "{body}");
    let data = last.lines().find_map(|line| line.strip_prefix("data: ")).expect("data");
    let message: Value = serde_json::from_str(data).expect("a message");
    assert_eq!(message["result"]["structuredContent"]["slept"], 1_500);
    assert_eq!(message["id"], 1);
}

#[tokio::test]
async fn who_takes_no_events_gets_json_after_white_space() {
    let house = open().await;
    for accept in ["application/json", "*/*", "application/json, text/event-stream;q=0"] {
        let before = house.trivial.finished.load(Ordering::SeqCst);
        let request = slow(1_000).with("accept", accept);
        let (head, finished, body) = head_then_body(&house, &request).await;
        assert!(head.contains("content-type: application/json\r\n"), "{accept} {head}");
        assert_eq!(finished, before, "the head came first");
        assert!(body.starts_with("  "), "{body:?}");
        let message: Value = serde_json::from_str(&body).expect("white space and a message");
        assert_eq!(message["result"]["structuredContent"]["slept"], 1_000);
    }
}

#[tokio::test]
async fn fast_answers_are_plain_json() {
    let house = House::new().open().await;
    let answer = slow(0).send(house.addr).await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert!(answer.header("content-length").is_some());
}

#[tokio::test]
async fn one_record_whatever_the_client_does() {
    let house = open().await;
    let mut stream = TcpStream::connect(house.addr).await.expect("a connection");
    stream.write_all(&slow(400).bytes()).await.expect("sent");
    read_head(&mut stream).await;
    drop(stream);
    for _ in 0..100 {
        if !house.records().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(house.records().len(), 1, "a client that hung up leaves its record all the same");
}
