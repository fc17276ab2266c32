//! The bridge, against the real edge and against servers that misbehave.

use std::time::Duration;

use narthex_mcp::{ProxyConfig, ProxyError, run_proxy};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::house::{House, TA};
use crate::raw::{message, with_meta};
use crate::stdio::Client;

fn bridge(url: &str, token: &str) -> (Client, JoinHandle<Result<(), ProxyError>>) {
    let mut config = ProxyConfig::new(url, token.to_owned().into());
    config.connect_deadline = Duration::from_secs(5);
    bridge_with(config)
}

pub(crate) fn bridge_with(config: ProxyConfig) -> (Client, JoinHandle<Result<(), ProxyError>>) {
    let (ours, theirs) = tokio::io::duplex(1024 * 1024);
    let (input, output) = tokio::io::split(theirs);
    #[expect(clippy::disallowed_methods, reason = "joined by the test")]
    let running = tokio::spawn(run_proxy(config, input, output, CancellationToken::new()));
    (Client::new(ours), running)
}

#[tokio::test]
async fn both_eras_cross_the_bridge() {
    let house = House::new().open().await;
    let (mut client, running) = bridge(&format!("http://localhost:{}/mcp", house.addr.port()), TA);
    let hello =
        client.ask(&message(1, "initialize", &json!({"protocolVersion": "2025-06-18"}))).await;
    assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
    client.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    let echo = json!({"name": "echo", "arguments": {"text": "caf\u{e9} \u{2028}"}});
    let legacy = client.ask(&message(2, "tools/call", &echo)).await;
    assert_eq!(legacy["result"]["structuredContent"], echo["arguments"]);
    assert!(legacy["result"].get("resultType").is_none());
    let modern = client.ask(&message(3, "tools/call", &with_meta(&echo))).await;
    assert_eq!(modern["result"]["resultType"], "complete");
    let odd = json!({"name": "n\u{f6} such", "arguments": {}});
    let unknown = client.ask(&message(4, "tools/call", &with_meta(&odd))).await;
    assert_eq!(unknown["error"]["message"], "unknown tool: n\u{f6} such");
    let missing = client.ask(&message(5, "prompts/list", &with_meta(&json!({})))).await;
    assert_eq!(missing["error"]["code"], -32601);
    assert_eq!(client.ask("{").await["error"]["code"], -32700);
    client.end().await;
    running.await.expect("joined").expect("a clean end");
}

#[tokio::test]
async fn a_session_is_kept_across_the_bridge_and_ended_with_it() {
    let house = House::with_sessions().open().await;
    let (mut client, running) = bridge(&format!("http://{}/mcp", house.addr), TA);
    let echo = json!({"name": "echo", "arguments": {"text": "x"}});
    let early = client.ask(&message(1, "tools/call", &echo)).await;
    assert_eq!(early["error"]["data"]["code"], "unknown_session");
    let hello = json!({"protocolVersion": "2025-06-18", "consentCeiling": "T0"});
    client.ask(&message(2, "initialize", &hello)).await;
    client.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    let legacy = client.ask(&message(3, "tools/call", &echo)).await;
    assert_eq!(legacy["result"]["structuredContent"], echo["arguments"]);
    let suggest = json!({"name": "suggest", "arguments": {}});
    let refused = client.ask(&message(4, "tools/call", &suggest)).await;
    assert_eq!(refused["result"]["_meta"]["narthex/error"]["code"], "over_ceiling");
    let modern = client.ask(&message(5, "tools/call", &with_meta(&echo))).await;
    assert_eq!(modern["result"]["resultType"], "complete");
    assert_eq!(house.gate.sessions().len(), 1);
    client.end().await;
    running.await.expect("joined").expect("a clean end");
    assert!(house.gate.sessions().is_empty());
}

#[tokio::test]
async fn streams_become_lines_and_slow_calls_hold_nobody_up() {
    let house =
        House::new().edge(|edge| edge.early_headers_after = Duration::from_millis(50)).open().await;
    let (mut client, running) = bridge(&format!("http://{}/mcp", house.addr), TA);
    let slow = json!({"name": "slow", "arguments": {"millis": 700}});
    client.say(&message(1, "tools/call", &with_meta(&slow))).await;
    let echo = json!({"name": "echo", "arguments": {"text": "x"}});
    assert_eq!(client.ask(&message(2, "tools/call", &echo)).await["id"], 2);
    let rest = client.end().await;
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0]["result"]["structuredContent"]["slept"], 700);
    running.await.expect("joined").expect("a clean end");
}

#[tokio::test]
async fn a_call_taken_back_is_let_go() {
    let house =
        House::new().edge(|edge| edge.early_headers_after = Duration::from_millis(50)).open().await;
    let (mut client, running) = bridge(&format!("http://{}/mcp", house.addr), TA);
    let slow = json!({"name": "slow", "arguments": {"millis": 10_000}});
    client.say(&message(1, "tools/call", &slow)).await;
    while house.ran() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    client
        .say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        .await;
    assert!(client.end().await.is_empty());
    running.await.expect("joined").expect("a clean end");
}

#[tokio::test]
async fn trouble_is_explained_under_the_requests_id_and_without_the_token() {
    let house = House::with(|gate| gate.requests_per_minute = 1).open().await;
    let url = format!("http://{}/mcp", house.addr);
    let wrong = "nx_wrong_secret";
    let explained = |answer: &Value, code: &str, word: &str| {
        assert_eq!((&answer["id"], &answer["error"]["data"]["code"]), (&json!(7), &json!(code)));
        let text = answer.to_string();
        assert!(text.contains(word), "{text}");
        assert!(!text.contains(wrong) && !text.contains(TA), "{text}");
    };
    let ask = message(7, "tools/list", &json!({}));
    let (mut client, _running) = bridge(&url, wrong);
    explained(&client.ask(&ask).await, "unauthorized", "check the token");
    let (mut client, _running) = bridge(&url, TA);
    client.ask(&ask).await;
    explained(&client.ask(&ask).await, "rate_limited", "wait ");
    let (mut client, _running) = bridge("http://127.0.0.1:1/mcp", TA);
    explained(&client.ask(&ask).await, "unreachable", "check that it runs");
}

#[tokio::test]
async fn a_server_that_misbehaves_cannot_confuse_the_client() {
    for (response, word) in [
        (
            "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/steal\r\ncontent-length: 0\r\n\r\n",
            "does not follow",
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>",
            "not an answer",
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9\r\n\r\ndata: x\n\n",
            "without one",
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{",
            "broke",
        ),
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "check the path"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let addr = listener.local_addr().expect("an address");
        #[expect(clippy::disallowed_methods, reason = "ends with the test")]
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let mut seen = vec![0; 4096];
            let read = stream.read(&mut seen).await.expect("a request");
            stream.write_all(response.as_bytes()).await.expect("sent");
            stream.shutdown().await.expect("closed");
            String::from_utf8_lossy(&seen[..read]).into_owned()
        });
        let (mut client, _running) = bridge(&format!("http://{addr}/mcp"), TA);
        let answer = client.ask(&message(7, "tools/list", &json!({}))).await;
        assert_eq!(answer["id"], 7, "{response}");
        assert!(answer["error"]["message"].as_str().expect("text").contains(word), "{answer}");
        assert!(server.await.expect("joined").contains(&format!("authorization: Bearer {TA}")));
    }
}

#[tokio::test]
async fn a_token_goes_nowhere_unsafe() {
    for url in ["http://door.example/mcp", "ftp://127.0.0.1/", "x"] {
        let (_client, running) = bridge(url, TA);
        assert!(matches!(running.await.expect("joined"), Err(ProxyError::Url(_))), "{url}");
    }
    let (_client, running) = bridge("https://door.example/mcp", "two\nlines");
    assert!(matches!(running.await.expect("joined"), Err(ProxyError::Token)));
}
