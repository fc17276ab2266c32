//! Servers over HTTP that misbehave.

use std::time::{Duration, Instant};

use narthex_gate::upstream::{UpstreamFault, UpstreamQuestion};
use serde_json::json;

use super::site::{Came, EVENTS, Said, Site, answer_text, events, json_with, status};
use crate::upstream::{call, connect, terms};

type Says = Box<dyn Fn(&Came) -> Said + Send + Sync>;
type Check = fn(&UpstreamFault) -> bool;

fn garbled(fault: &UpstreamFault) -> bool {
    matches!(fault, UpstreamFault::Garbled(_))
}

fn ended(fault: &UpstreamFault) -> bool {
    matches!(fault, UpstreamFault::Ended(_) | UpstreamFault::Unreachable(_))
}

fn too_large(fault: &UpstreamFault) -> bool {
    matches!(fault, UpstreamFault::TooLarge { .. })
}

fn late(fault: &UpstreamFault) -> bool {
    matches!(fault, UpstreamFault::Late(_))
}

fn refused(fault: &UpstreamFault) -> bool {
    matches!(fault, UpstreamFault::Refused { .. })
}

fn boxed(says: impl Fn(&Came) -> Said + Send + Sync + 'static) -> Says {
    Box::new(says)
}

fn with_id(came: &Came, id: &str) -> String {
    let text = answer_text(came, &json!({"evil": true}));
    text.replace(&format!("\"id\":{}", came.body["id"]), &format!("\"id\":{id}"))
}

fn chunked(head: &str, chunk: &str, times: usize) -> Said {
    let chunk = format!("{:x}\r\n{chunk}\r\n", chunk.len()).repeat(times);
    let head = format!("HTTP/1.1 200 OK\r\n{head}transfer-encoding: chunked\r\n\r\n");
    Said::Last(format!("{head}{chunk}0\r\n\r\n").into())
}

#[tokio::test]
async fn f15_f19_every_answer_that_is_none() {
    let json = "content-type: application/json\r\n";
    let rows: Vec<(&str, Says, Check)> = vec![
        ("another id", boxed(|c| json_with("", &with_id(c, "1"))), garbled),
        (
            "an id as text",
            boxed(|c| json_with("", &with_id(c, &format!("\"{}\"", c.body["id"])))),
            garbled,
        ),
        ("a null id", boxed(|c| json_with("", &with_id(c, "null"))), garbled),
        (
            "a batch",
            boxed(|c| json_with("", &format!("[{}]", answer_text(c, &json!({}))))),
            garbled,
        ),
        (
            "a doubled id",
            boxed(|c| json_with("", &answer_text(c, &json!({})).replacen('{', "{\"id\":1,", 1))),
            garbled,
        ),
        (
            "a notification",
            boxed(|_| json_with("", r#"{"jsonrpc":"2.0","method":"notifications/x"}"#)),
            garbled,
        ),
        ("nothing", boxed(|_| json_with("", "")), garbled),
        ("no object", boxed(|c| json_with("", &answer_text(c, &json!([])))), garbled),
        (
            "text",
            boxed(|_| {
                Said::Bytes(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>".to_vec())
            }),
            garbled,
        ),
        (
            "no type",
            boxed(|_| Said::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}".to_vec())),
            garbled,
        ),
        ("accepted", boxed(|_| status(202, "")), garbled),
        (
            "an error",
            boxed(|c| {
                json_with("", &json!({"jsonrpc": "2.0", "id": c.body["id"], "error": {"code": -1, "message": "m"}}).to_string())
            }),
            refused,
        ),
        (
            "an error for nobody",
            boxed(|_| {
                json_with("", r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}"#)
            }),
            refused,
        ),
        ("no stream", boxed(|_| events(&[])), ended),
        (
            "a stream of others",
            boxed(|c| events(&[with_id(c, "1"), with_id(c, "\"x\""), "garbage".to_owned()])),
            ended,
        ),
        ("not HTTP", boxed(|_| Said::Last(b"SSH-2.0-x\r\n".to_vec())), ended),
        ("the end", boxed(|_| Said::Last(Vec::new())), ended),
        (
            "half",
            boxed(|_| {
                Said::Last(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{".to_vec())
            }),
            ended,
        ),
        (
            "packed",
            boxed(|_| {
                Said::Last(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}".to_vec())
            }),
            ended,
        ),
        (
            "long headers",
            boxed(|_| {
                Said::Last(format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "x".repeat(40 << 10)).into())
            }),
            ended,
        ),
        (
            "a large result",
            boxed(|c| json_with("", &answer_text(c, &json!({"a": "x".repeat(20 << 10)})))),
            too_large,
        ),
        (
            "a large body",
            boxed(|c| json_with("", &answer_text(c, &json!({"a": "x".repeat(70 << 10)})))),
            too_large,
        ),
        (
            "a large body, unsaid",
            boxed(move |_| chunked(json, &"x".repeat(8 << 10), 20)),
            too_large,
        ),
        ("a large event", boxed(|_| events(&["x".repeat(70 << 10)])), too_large),
        (
            "a large stream",
            boxed(|_| {
                chunked(
                    "content-type: text/event-stream\r\n",
                    &format!(": {}\n\n", "x".repeat(8 << 10)),
                    60,
                )
            }),
            too_large,
        ),
        ("silence", boxed(|_| Said::Nothing), late),
        (
            "1 byte at a time",
            boxed(|_| {
                Said::Drip(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n".to_vec(), b" ".to_vec())
            }),
            late,
        ),
        ("1 byte of an event at a time", boxed(|_| Said::Drip(EVENTS.into(), b":".to_vec())), late),
        (
            "headers without end",
            boxed(|_| Said::Drip(b"HTTP/1.1 200 OK\r\nx: ".to_vec(), b"x".to_vec())),
            late,
        ),
    ];
    for (name, says, expected) in rows {
        let site = Site::modern(says).await;
        let connection = connect(site.line(), terms()).await.expect("a connection");
        let deadline = Duration::from_millis(500);
        let begun = Instant::now();
        let fault = connection.ask(UpstreamQuestion { deadline, ..call("t") }).await;
        let fault = fault.expect_err(name);
        assert!(expected(&fault), "{name}: {fault:?}");
        assert!(begun.elapsed() < Duration::from_secs(3), "{name}: {:?}", begun.elapsed());
        assert_eq!(site.of("tools/call").len(), 1, "{name}: nothing is repeated");
        assert!(connection.ended().is_none(), "{name}: the connection stands");
    }
}

#[tokio::test]
async fn one_that_hangs_holds_up_nobody_else_and_its_place_is_free_again() {
    let site = Site::modern(|came| match came.header("mcp-name") {
        Some("slow") => Said::Nothing,
        _ => super::result(came, &json!({})),
    })
    .await;
    let connection = connect(site.line(), terms()).await.expect("a connection");
    for _ in 0..3 {
        let deadline = Duration::from_millis(200);
        let slow = (0..7).map(|_| connection.ask(UpstreamQuestion { deadline, ..call("slow") }));
        let (slow, quick) =
            tokio::join!(futures::future::join_all(slow), connection.ask(call("quick")));
        assert!(slow.iter().all(|slow| matches!(slow, Err(UpstreamFault::Late(_)))), "{slow:?}");
        quick.expect("a result");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_says_so_without_the_path() {
    let line = narthex_gate::upstream::Line::Http {
        url: "http://127.0.0.1:1/mcp?key=s3cret".to_owned(),
        headers: Vec::new(),
        credentials: None,
    };
    let fault = connect(line, terms()).await.expect_err("nobody");
    assert!(matches!(fault, UpstreamFault::Unreachable(_)), "{fault:?}");
    assert!(!fault.to_string().contains("s3cret"), "{fault}");
}
