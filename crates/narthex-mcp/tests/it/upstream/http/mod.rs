//! Servers over HTTP: those that behave here, the others in the files beside it.

mod credentials;
mod hostile;
mod sessions;
mod site;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use narthex_gate::upstream::{UpstreamFault, UpstreamProgress, UpstreamQuestion};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use self::site::{EVENTS, Said, Site, answer_text, events, result, status, status_with};
use super::peer::modern_greeting;
use super::{ask, call, connect, terms, until};

#[tokio::test]
async fn a_modern_message_is_repeated_in_its_headers() {
    let site = Site::modern(|came| result(came, &json!({"resultType": "complete"}))).await;
    let connection = connect(site.line(), terms()).await.expect("a connection");
    assert!(connection.greeting().modern);
    let params =
        json!({"name": "t\u{f6}ol", "arguments": {"region": "eu west", "n": 7, "x": "\n"}});
    let schema = json!({"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "n": {"type": "integer", "x-mcp-header": "N"},
        "x": {"type": "string", "x-mcp-header": "X"},
    }});
    let input_schema = Some(Arc::new(schema));
    let question = UpstreamQuestion { input_schema, ..ask("tools/call", &params) };
    let answer = connection.ask(question).await.expect("a result");
    assert_eq!(answer.get(), r#"{"resultType":"complete"}"#);
    let came = site.came();
    for (came, method) in came.iter().zip(["server/discover", "tools/call"]) {
        assert_eq!(came.header("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!(came.header("mcp-method"), Some(method));
        assert_eq!(came.header("content-type"), Some("application/json"));
        assert_eq!(came.header("accept"), Some("application/json, text/event-stream"));
        assert_eq!(came.header("accept-encoding"), Some("identity"));
        let meta = &came.body["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "narthex");
    }
    assert_eq!(came[1].header("mcp-name"), Some("=?base64?dMO2b2w=?="));
    assert_eq!(came[1].header("mcp-param-region"), Some("eu west"));
    assert_eq!(came[1].header("mcp-param-n"), Some("7"));
    assert_eq!(came[1].header("mcp-param-x"), Some("=?base64?Cg==?="));
    assert_eq!(came[1].body["params"]["arguments"], params["arguments"]);
}

#[tokio::test]
async fn many_questions_take_few_connections() {
    let streams = |came: &site::Came| {
        let text = answer_text(came, &json!({}));
        let body = format!("data: {text}\n\n");
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
        Said::Bytes(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into())
    };
    for site in [Site::modern(|came| result(came, &json!({}))).await, Site::modern(streams).await] {
        let connection = connect(site.line(), terms()).await.expect("a connection");
        for _ in 0..20 {
            connection.ask(call("t")).await.expect("a result");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let opened = site.connections.load(Ordering::SeqCst);
        assert!(opened <= 2, "{opened} connections for 21 messages");
    }
}

#[tokio::test]
async fn a_stream_has_the_answer_and_what_is_said_on_the_way() {
    let site = Site::modern(|came| {
        let token = came.body["params"]["_meta"]["progressToken"].clone();
        let progress = |token: &Value, n: u8| {
            json!({"jsonrpc": "2.0", "method": "notifications/progress",
                "params": {"progressToken": token, "progress": n}})
            .to_string()
        };
        let stray = json!({"jsonrpc": "2.0", "id": 1, "result": {"evil": true}}).to_string();
        events(&[
            String::new(),
            progress(&json!(1), 1),
            progress(&token, 2),
            stray,
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.to_owned(),
            answer_text(came, &json!({"right": true})),
            answer_text(came, &json!({"evil": true})),
        ])
    })
    .await;
    let connection = connect(site.line(), terms()).await.expect("a connection");
    let (to, mut heard) = mpsc::channel(8);
    let answer = connection.ask(UpstreamQuestion { progress: Some(to), ..call("t") }).await;
    assert_eq!(answer.expect("a result").get(), r#"{"right":true}"#);
    let far = UpstreamProgress { progress: 2.0, total: None, message: None };
    assert_eq!(heard.recv().await, Some(far));
    assert!(heard.recv().await.is_none());
    assert_eq!(*connection.lists_changed().borrow(), 1);
    assert_eq!(connection.passed_over(), 2);
}

#[tokio::test]
async fn an_older_server_is_greeted_with_a_handshake_where_the_specification_says_so() {
    let rpc = |code: i64| {
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": "m"}}).to_string()
    };
    let supported = json!({"jsonrpc": "2.0", "id": "server-error",
        "error": {"code": -32022, "message": "m", "data": {"supported": ["2025-11-25"]}}});
    for (code, body, falls_back) in [
        (400, "Bad Request: no session".to_owned(), true),
        (404, String::new(), true),
        (405, String::new(), true),
        (400, rpc(-32600), true),
        (400, rpc(-32000), true),
        (404, rpc(-32601), true),
        (422, rpc(-32602), true),
        (400, supported.to_string(), true),
        (200, rpc(-32601), true),
        (400, rpc(-32020), false),
        (400, rpc(-32021), false),
        (400, rpc(-32022), false),
        (403, String::new(), false),
        (429, String::new(), false),
        (500, String::new(), false),
        (500, rpc(-32603), false),
        (200, "<html>".to_owned(), false),
    ] {
        let said = body.clone();
        let site = Site::new(move |came| match came.rpc() {
            "server/discover" => status_with(code, "content-type: application/json\r\n", &said),
            "initialize" => result(came, &super::peer::legacy_greeting("2025-06-18")),
            _ => status(202, ""),
        })
        .await;
        let connection = connect(site.line(), terms()).await;
        assert_eq!(connection.is_ok(), falls_back, "{code} {body}: {connection:?}");
        assert_eq!(site.of("initialize").len(), usize::from(falls_back), "{code} {body}");
        if let Ok(connection) = connection {
            assert_eq!(connection.greeting().revision, "2025-06-18");
            let ready = site.of("notifications/initialized");
            assert_eq!(ready[0].header("mcp-protocol-version"), Some("2025-06-18"));
            assert_eq!(site.of("initialize")[0].header("mcp-protocol-version"), None);
        }
    }
}

#[tokio::test]
async fn announcements_are_listened_to_in_both_eras() {
    let change = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n";
    let stream = move || Said::Drip(EVENTS.into(), change.into());
    let modern = Site::new(move |came| match came.rpc() {
        "server/discover" => {
            let mut greeting = modern_greeting();
            greeting["capabilities"] = json!({"tools": {"listChanged": true}});
            result(came, &greeting)
        }
        _ => stream(),
    })
    .await;
    let legacy = Site::new(move |came| match (came.method.as_str(), came.rpc()) {
        (_, "server/discover") => status(400, ""),
        (_, "initialize") => {
            let mut greeting = super::peer::legacy_greeting("2025-11-25");
            greeting["capabilities"] = json!({"prompts": {"listChanged": true}});
            result(came, &greeting)
        }
        ("GET", _) => stream(),
        _ => status(202, ""),
    })
    .await;
    for site in [&modern, &legacy] {
        let connection = connect(site.line(), terms()).await.expect("a connection");
        let mut changed = connection.lists_changed();
        changed.wait_for(|count| *count > 2).await.expect("changes");
        drop(connection);
        until(|| site.left.load(Ordering::SeqCst) >= 1).await;
    }
    let listen = &modern.of("subscriptions/listen")[0];
    assert_eq!(listen.body["params"]["notifications"], json!({"toolsListChanged": true}));
    assert_eq!(listen.header("mcp-method"), Some("subscriptions/listen"));
    let get = legacy.came().into_iter().find(|came| came.method == "GET").expect("a stream");
    assert_eq!(get.header("accept"), Some("text/event-stream"));
}

#[tokio::test]
async fn f19_a_question_nobody_waits_for_is_taken_back() {
    // Modern: the answer is closed. Legacy: it is said.
    let modern = Site::modern(|_| Said::Nothing).await;
    let connection = connect(modern.line(), terms()).await.expect("a connection");
    let deadline = Duration::from_millis(150);
    let late = connection.ask(UpstreamQuestion { deadline, ..call("t") }).await;
    assert!(matches!(late, Err(UpstreamFault::Late(_))), "{late:?}");
    until(|| modern.left.load(Ordering::SeqCst) == 1).await;
    assert!(modern.of("notifications/cancelled").is_empty());
    let legacy = Site::legacy(|came| match came.rpc() {
        "notifications/cancelled" => status(202, ""),
        _ => Said::Nothing,
    })
    .await;
    let connection = connect(legacy.line(), terms()).await.expect("a connection");
    let late = connection.ask(UpstreamQuestion { deadline, ..call("t") }).await;
    assert!(matches!(late, Err(UpstreamFault::Late(_))), "{late:?}");
    until(|| legacy.of("notifications/cancelled").len() == 1).await;
    let cancelled = &legacy.of("notifications/cancelled")[0];
    assert_eq!(cancelled.body["params"]["requestId"], legacy.of("tools/call")[0].body["id"]);
    assert_eq!(cancelled.header("mcp-session-id"), Some("sess-1"));
    let mut dropped = Box::pin(connection.ask(call("t")));
    while legacy.of("tools/call").len() < 2 {
        assert!(futures::poll!(&mut dropped).is_pending());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(dropped);
    until(|| legacy.of("notifications/cancelled").len() == 2).await;
}
