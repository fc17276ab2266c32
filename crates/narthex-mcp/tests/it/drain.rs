//! Stopping: what is under way finishes, nothing new begins, and there is an end to waiting.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::house::{House, TA};
use crate::raw::{Request, answers, read_head};

fn slow(millis: u64) -> Request {
    Request::modern(TA, "tools/call", &json!({"name": "slow", "arguments": {"millis": millis}}))
}

#[tokio::test]
async fn nothing_under_way_is_lost() {
    let house = House::new().open().await;
    let mut calls = JoinSet::new();
    for n in 0..40 {
        let addr = house.addr;
        calls.spawn(async move { slow(200 + n * 20).without("connection").send(addr).await });
    }
    // Some connections are open and idle.
    let mut idle = TcpStream::connect(house.addr).await.expect("a connection");
    while house.ran() < 40 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    house.stop.cancel();
    while let Some(answer) = calls.join_next().await {
        assert_eq!(answer.expect("an answer").status, 200);
    }
    house.serving.await.expect("joined").expect("a clean end");
    assert_eq!(idle.read(&mut [0]).await.expect("closed"), 0);
    assert!(TcpStream::connect(house.addr).await.is_err(), "nobody is let in any more");
}

#[tokio::test]
async fn a_stream_under_way_is_finished_too() {
    let house =
        House::new().edge(|edge| edge.early_headers_after = Duration::from_millis(50)).open().await;
    let mut stream = TcpStream::connect(house.addr).await.expect("a connection");
    stream.write_all(&slow(600).without("connection").bytes()).await.expect("sent");
    let head = read_head(&mut stream).await;
    house.stop.cancel();
    // The door is closed only when the last answer is out.
    house.serving.await.expect("joined").expect("a clean end");
    assert_eq!(house.house.trivial.finished.load(Ordering::SeqCst), 1);
    let mut rest = head.into_bytes();
    stream.read_to_end(&mut rest).await.expect("a whole answer");
    let body = answers(&rest).remove(0).body;
    assert!(String::from_utf8_lossy(&body).contains("slept"));
}

#[tokio::test]
async fn waiting_has_an_end() {
    let house =
        House::new().edge(|edge| edge.drain_deadline = Duration::from_millis(200)).open().await;
    let mut stream = TcpStream::connect(house.addr).await.expect("a connection");
    stream.write_all(&slow(25_000).bytes()).await.expect("sent");
    while house.ran() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let stopped = Instant::now();
    house.stop.cancel();
    house.serving.await.expect("joined").expect("a clean end");
    assert!(stopped.elapsed() < Duration::from_secs(15));
}
