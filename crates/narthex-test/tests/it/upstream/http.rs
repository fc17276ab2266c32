//! The same over HTTP, in the test's own process and as a program.

use std::time::Duration;

use narthex_test::upstream::{HttpServer, Id, Offer, Script, Speaks, Step, When, definition};
use narthex_test::{Client, Era};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::peer::Peer;

async fn start(script: Script) -> (HttpServer, Client) {
    let server = HttpServer::start(script).await.unwrap();
    let client = Client::new(server.url(), None);
    (server, client)
}

async fn session(client: &Client) -> String {
    let client = client.speaking(Era::Legacy);
    let params = json!({"protocolVersion": "2025-11-25"});
    let greeted = client.request("initialize", params).await.unwrap();
    assert_eq!(greeted.result()["protocolVersion"], "2025-11-25");
    greeted.header("mcp-session-id").unwrap().to_owned()
}

async fn call_in(client: &Client, session: &str, tool: &str) -> Value {
    let message = client.speaking(Era::Legacy).message("tools/call", json!({"name": tool}));
    let more = [("mcp-session-id", session)];
    client.speaking(Era::Legacy).send(&more, &message).await.unwrap().structured()
}

/// A connection that is written and read by hand.
async fn open(server: &HttpServer, request: &str) -> BufReader<TcpStream> {
    let address = server.url().strip_prefix("http://").unwrap().trim_end_matches("/mcp");
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    BufReader::new(stream)
}

fn post(session: &str, body: &Value) -> String {
    let body = body.to_string();
    let length = body.len();
    format!(
        "POST /mcp HTTP/1.1\r\nmcp-session-id: {session}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// The next event's data.
async fn event(stream: &mut BufReader<TcpStream>) -> Value {
    let mut line = String::new();
    loop {
        line.clear();
        let reading = stream.read_line(&mut line);
        let read = tokio::time::timeout(Duration::from_secs(10), reading).await.unwrap().unwrap();
        assert!(read > 0, "closed");
        if let Some(data) = line.strip_prefix("data: ") {
            return serde_json::from_str(data).unwrap();
        }
    }
}

#[tokio::test]
async fn each_era_is_spoken_or_not() {
    for (era, modern, legacy) in
        [(Speaks::Both, 200, 200), (Speaks::Modern, 200, 400), (Speaks::Legacy, 400, 200)]
    {
        let (_server, client) = start(Script::new().speaking(era).tool("a", [Step::Echo])).await;
        let discovered = client.request("server/discover", json!({})).await.unwrap();
        assert_eq!(discovered.status, modern);
        let client = client.speaking(Era::Legacy);
        let params = json!({"protocolVersion": "2025-11-25"});
        assert_eq!(client.request("initialize", params).await.unwrap().status, legacy);
    }
}

#[tokio::test]
async fn every_session_has_its_own_state() {
    let script = Script::new().tool("count", [Step::Count]).tool("headers", [Step::Headers]);
    let (server, client) = start(script).await;
    let (one, two) = (session(&client).await, session(&client).await);
    assert_ne!(one, two);
    for n in 1..3 {
        assert_eq!(call_in(&client, &one, "count").await, json!({"count": [n]}));
    }
    assert_eq!(call_in(&client, &two, "count").await, json!({"count": [1]}));
    let legacy = client.speaking(Era::Legacy);
    assert_eq!(legacy.call("count", json!({})).await.unwrap().status, 400);
    let stale = [("mcp-session-id", "session-99")];
    let message = legacy.message("tools/call", json!({"name": "count"}));
    assert_eq!(legacy.send(&stale, &message).await.unwrap().status, 404);
    let token = Client::new(server.url(), Some("agents-own".to_owned()));
    let told = token.call("headers", json!({})).await.unwrap().structured();
    assert_eq!(told["headers"][0]["authorization"], "Bearer agents-own");
    assert_eq!(told["headers"][0]["mcp-name"], "headers");
    let came = server.came();
    let last = came.last().unwrap();
    assert_eq!((last.rpc(), last.header("mcp-method")), ("tools/call", Some("tools/call")));
}

#[tokio::test]
async fn a_token_is_wanted_and_statuses_are_sent() {
    let mut script = Script::new()
        .tool("away", [Step::redirect(302, "http://127.0.0.1:1/")])
        .tool("broken", [Step::Status { code: 200, headers: json_type(), body: "{oops".into() }]);
    script.bearer = Some("right".to_owned());
    let (server, client) = start(script).await;
    let refused = client.call("away", json!({})).await.unwrap();
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some("Bearer")));
    let client = Client::new(server.url(), Some("right".to_owned()));
    assert_eq!(client.call("broken", json!({})).await.unwrap().text, "{oops");
    // This client follows, and finds nobody there.
    assert!(client.call("away", json!({})).await.is_err());
}

#[tokio::test]
async fn streams_carry_whatever_is_said() {
    let other = json!({"content": []});
    let script = Script::new()
        .tool("stray", [Step::AnswerTo(Id::Off(1), other), Step::text("right"), Step::Again])
        .tool("garbage", [Step::Line("oops".into()), Step::Hex("ff".into()), Step::text("ok")])
        .tool("endless", [Step::Endless(1 << 20)])
        .tool("drip", [Step::Drip(1)]);
    let (_server, client) = start(script).await;
    let stray = client.call("stray", json!({})).await.unwrap();
    let data: Vec<Value> = stray
        .text
        .lines()
        .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
        .collect();
    assert_eq!(data.iter().map(|said| said["id"].clone()).collect::<Vec<_>>(), [2, 1, 1]);
    let garbage = client.call("garbage", json!({})).await.unwrap();
    assert!(garbage.text.starts_with("event: message\ndata: oops\n\n"));
    let endless = client.call("endless", json!({})).await.unwrap().text;
    assert!(endless.lines().any(|line| line.len() > 1 << 20));
    assert!(client.call("drip", json!({})).await.unwrap().is_ok());
}

#[tokio::test]
async fn the_client_is_asked_in_mid_call() {
    let (server, client) = start(Script::new().tool("ask", [Step::roots()])).await;
    let session = session(&client).await;
    let call = client.speaking(Era::Legacy).message("tools/call", json!({"name": "ask"}));
    let mut stream = open(&server, &post(&session, &call)).await;
    let asked = event(&mut stream).await;
    assert_eq!(asked["method"], "roots/list");
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}});
    let said = client.send(&[("mcp-session-id", &session)], &answer).await.unwrap();
    assert_eq!(said.status, 202);
    let told = event(&mut stream).await;
    assert_eq!(told["result"]["structuredContent"]["ask"][0]["result"], json!({"roots": []}));
}

#[tokio::test]
async fn closing_is_told_and_the_call_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("late");
    let late = [Step::AwaitCancel(5000), Step::Write(file.display().to_string())];
    let script = Script::new().tool("late", late).tool("heard", [Step::Heard]);
    let (server, client) = start(script).await;
    let call = client.message("tools/call", json!({"name": "late"}));
    let stream = open(&server, &post("", &call)).await;
    while server.came().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(stream);
    while !file.exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let heard = client.call("heard", json!({})).await.unwrap().structured();
    assert_eq!(heard["heard"][0][0], json!({"closed": 1}));
}

#[tokio::test]
async fn changes_are_announced_on_both_kinds_of_stream() {
    let script = Script::new()
        .tool("flip", [Step::Flip])
        .turning(When::Flipped, Offer::tools([definition("b")]));
    let (server, client) = start(script.clone()).await;
    let session = session(&client).await;
    let get = format!("GET /mcp HTTP/1.1\r\nmcp-session-id: {session}\r\n\r\n");
    let mut legacy = open(&server, &get).await;
    let listen = client.message("subscriptions/listen", json!({"notifications": {"a": true}}));
    let mut modern = open(&server, &post("", &listen)).await;
    let acknowledged = event(&mut modern).await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    let mut head = String::new();
    legacy.read_line(&mut head).await.unwrap();
    client.call("flip", json!({})).await.unwrap();
    let subscription = "/params/_meta/io.modelcontextprotocol~1subscriptionId";
    for (stream, id) in [(&mut legacy, None), (&mut modern, Some(&json!(1)))] {
        let said = event(stream).await;
        assert_eq!(said["method"], "notifications/tools/list_changed");
        assert_eq!(said.pointer(subscription), id);
    }
    assert_eq!(client.tools().await.unwrap(), ["b"]);
}

#[tokio::test]
async fn it_ends_in_mid_call() {
    let script = Script::new().tool("exit", [Step::Exit(1)]).tool("silent", [Step::Silence]);
    let (server, client) = start(script.clone()).await;
    let (silent, exit) =
        tokio::join!(client.call("silent", json!({})), client.call("exit", json!({})));
    assert!(silent.is_err() && exit.is_err() && server.has_ended());
    assert!(client.tools().await.is_err());
    let mut peer = Peer::start_with(&["http", &script.json()]);
    let client = Client::new(String::from_utf8(peer.line()).unwrap().trim(), None);
    assert_eq!(client.tools().await.unwrap(), ["exit", "silent"]);
    assert!(client.call("exit", json!({})).await.is_err());
    assert_eq!(peer.ended().and_then(|status| status.code()), Some(1));
}

fn json_type() -> Vec<(String, String)> {
    vec![("content-type".to_owned(), "application/json".to_owned())]
}
