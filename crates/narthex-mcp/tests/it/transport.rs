//! Threat family A: Host, Origin, methods, media types, framing, headers against the body.

use serde_json::json;

use crate::house::{House, TA};
use crate::raw::{Request, fire};

fn call() -> Request {
    Request::modern(TA, "tools/call", &json!({"name": "echo", "arguments": {"text": "hi"}}))
}

#[tokio::test]
async fn hosts_and_origins_are_closed_on_every_route() {
    let house = House::new().open().await;
    for (name, value, status, word) in [
        ("host", "localhost", 200, ""),
        ("host", "127.0.0.1:1", 200, ""),
        ("origin", "https://app.ok.com", 200, ""),
        ("host", "evil.example", 403, "forbidden_host"),
        ("host", "localhost.", 403, "forbidden_host"),
        ("origin", "https://evil.example", 403, "forbidden_origin"),
        ("origin", "null", 403, "forbidden_origin"),
        ("origin", "http://localhost", 403, "forbidden_origin"),
        ("origin", "https://app.ok.com.evil", 403, "forbidden_origin"),
        ("origin", "http://app.ok.com", 403, "forbidden_origin"),
        ("origin", "https://app.ok.com:8443", 403, "forbidden_origin"),
        ("origin", "https://APP.ok.com.", 403, "forbidden_origin"),
    ] {
        let before = house.ran();
        let answer = call().with(name, value).send(house.addr).await;
        assert_eq!(answer.status, status, "{name}: {value}");
        assert_eq!(house.ran() - before, usize::from(status == 200), "{name}: {value}");
        let health = Request::post(TA, "").line("GET /healthz HTTP/1.1").with(name, value);
        let health = health.send(house.addr).await;
        assert_eq!(health.status, status, "/healthz {name}: {value}");
        if status == 403 {
            assert_eq!(answer.word(), word, "{value}");
            assert_eq!(health.word(), word, "{value}");
            assert_eq!(answer.header("connection"), Some("close"));
        }
    }
    let none = call().without("host").send(house.addr).await;
    let two = call().and("host", b"localhost").send(house.addr).await;
    let absolute = call().line("POST http://evil.example/mcp HTTP/1.1").send(house.addr).await;
    let old = call().without("host").line("POST /mcp HTTP/1.0").send(house.addr).await;
    for refused in [none, two, absolute, old] {
        assert_eq!((refused.status, refused.word().as_str()), (403, "forbidden_host"));
    }
    let same = call().line("POST http://localhost/mcp HTTP/1.1").send(house.addr).await;
    assert_eq!(same.status, 200);
}

#[tokio::test]
async fn only_post_is_served_and_nothing_is_shared_across_origins() {
    let house = House::new().open().await;
    for method in ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "TRACE", "BREW"] {
        let line = format!("{method} /mcp HTTP/1.1");
        let answer = call()
            .line(&line)
            .with("origin", "https://app.ok.com")
            .and("access-control-request-method", b"POST")
            .and("mcp-session-id", b"forged")
            .and("last-event-id", b"7")
            .send(house.addr)
            .await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{method}");
        assert!(!answer.head.to_lowercase().contains("access-control"), "{method}");
    }
    assert_eq!(house.ran(), 0);
    let forged = call().and("mcp-session-id", b"forged").and("last-event-id", b"7");
    let forged = forged.send(house.addr).await;
    assert_eq!((forged.status, forged.header("mcp-session-id")), (200, None));
}

#[tokio::test]
async fn media_types_are_json_or_refused() {
    let house = House::new().open().await;
    for (name, value, status, word) in [
        ("content-type", "text/plain", 415, "unsupported_media_type"),
        ("content-type", "application/x-www-form-urlencoded", 415, "unsupported_media_type"),
        ("content-type", "multipart/form-data; boundary=x", 415, "unsupported_media_type"),
        ("content-encoding", "gzip", 415, "unsupported_media_type"),
        ("accept", "text/html", 406, "not_acceptable"),
        ("accept", "text/event-stream", 406, "not_acceptable"),
        ("content-type", "application/json; charset=utf-8", 200, ""),
        ("content-encoding", "identity", 200, ""),
        ("accept", "*/*", 200, ""),
        ("accept", "application/*", 200, ""),
        ("accept", "application/json", 200, ""),
    ] {
        let before = house.ran();
        let answer = call().with(name, value).send(house.addr).await;
        assert_eq!(answer.status, status, "{name}: {value}");
        assert_eq!(house.ran() - before, usize::from(status == 200), "{name}: {value}");
        if status != 200 {
            assert_eq!(answer.word(), word);
        }
    }
    assert_eq!(call().without("content-type").send(house.addr).await.status, 415);
    let answer = call().without("accept").send(house.addr).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
}

#[tokio::test]
async fn headers_that_contradict_the_body_run_nothing() {
    let house = House::new().open().await;
    for (name, value) in [
        ("mcp-name", "read"),
        ("mcp-name", "ECHO"),
        ("mcp-name", "=?base64?cHVyZ2U=?="),
        ("mcp-name", "=?base64?ZWNobw?="),
        ("mcp-name", "=?base64?!!!!?="),
        ("mcp-name", "=?base64?/w==?="),
        ("mcp-name", ""),
        ("mcp-method", "tools/list"),
        ("mcp-method", "TOOLS/CALL"),
        ("mcp-protocol-version", "2025-11-25"),
        ("mcp-protocol-version", "v999"),
    ] {
        let answer = call().with(name, value).send(house.addr).await;
        assert_eq!((answer.status, answer.code()), (400, -32020), "{name}: {value}");
        assert_eq!(answer.json()["id"], 1);
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
    for name in ["mcp-name", "mcp-method", "mcp-protocol-version"] {
        let missing = call().without(name).send(house.addr).await;
        assert_eq!((missing.status, missing.code()), (400, -32020), "{name} missing");
        let doubled = call().and(name, b"echo").send(house.addr).await;
        assert_eq!((doubled.status, doubled.code()), (400, -32020), "{name} doubled");
        let garbled = call().without(name).and(name, b"\xff").send(house.addr).await;
        assert_eq!((garbled.status, garbled.code()), (400, -32020), "{name} garbled");
    }
    assert_eq!(house.ran(), 0);
    for value in ["=?base64?ZWNobw==?=", "  echo  "] {
        assert_eq!(call().with("mcp-name", value).send(house.addr).await.status, 200, "{value}");
    }
}

#[tokio::test]
async fn no_version_opens_what_another_refuses() {
    let house = House::new().open().await;
    let forbidden = json!({"name": "publish", "arguments": {}});
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "x"] {
        let legacy = Request::legacy(TA, "tools/call", &forbidden);
        let answer = legacy.with("mcp-protocol-version", version).send(house.addr).await;
        let modern = Request::modern(TA, "tools/call", &forbidden).send(house.addr).await;
        assert_eq!(modern.result()["isError"], true);
        if answer.status == 200 {
            assert_eq!(answer.result()["isError"], true, "{version}");
        } else {
            assert_eq!(answer.status, 400, "{version}");
        }
    }
    let absent = Request::legacy(TA, "tools/call", &forbidden).without("mcp-protocol-version");
    assert_eq!(absent.send(house.addr).await.result()["isError"], true);
    assert_eq!(house.ran(), 0);
}

#[tokio::test]
async fn a_refused_request_ends_its_connection_and_what_follows_is_not_served() {
    let house = House::new().open().await;
    let good = call().bytes();
    for bad in [
        call().without("authorization").without("connection"),
        call().with("authorization", "Bearer wrong").without("connection"),
        call().with("content-type", "text/plain").without("connection"),
        call().with("accept", "text/html").without("connection"),
        call().with("host", "evil.example").without("connection"),
        call().line("GET /mcp HTTP/1.1").without("connection"),
    ] {
        let both = [bad.bytes(), good.clone()].concat();
        let answers = fire(house.addr, &both).await;
        assert_eq!(answers.len(), 1, "{answers:?}");
        assert_eq!(answers[0].header("connection"), Some("close"));
    }
    assert_eq!(house.ran(), 0);
    // After an answer that was read to its end, the connection goes on.
    let two = [call().without("connection").bytes(), good].concat();
    assert_eq!(fire(house.addr, &two).await.len(), 2);
}

#[tokio::test]
async fn what_is_no_http_is_closed() {
    let house = House::new().open().await;
    for bytes in [
        &b"GET /mcp\r\n"[..],
        b"POST /mcp HTTP/0.9\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99999999999999999999999\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: gzip\r\n\r\n",
    ] {
        let answers = fire(house.addr, bytes).await;
        assert!(answers.iter().all(|answer| (400..500).contains(&answer.status)), "{answers:?}");
    }
    // Two framings: one is used, and nothing is read after it.
    let both = Request::post(TA, "").with("transfer-encoding", "chunked").without("connection");
    let body = call().bytes();
    let smuggled = [both.with("content-length", "4").head(), b"0\r\n\r\n".to_vec(), body].concat();
    assert_eq!(fire(house.addr, &smuggled).await.len(), 1);
    assert_eq!(house.ran(), 0);
}
