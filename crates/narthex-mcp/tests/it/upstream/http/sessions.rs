//! Sessions of older servers: carried, lost, opened anew once, and ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use narthex_gate::upstream::{Connector as _, RefusesAll, UpstreamFault};
use serde_json::json;

use super::site::{Said, Site, json_with, result, status};
use crate::upstream::peer::legacy_greeting;
use crate::upstream::{ask, call, connect, connector, terms, until};

#[tokio::test]
async fn a_session_is_carried_and_ended() {
    let site = Site::legacy(|came| result(came, &json!({}))).await;
    let connection = connect(site.line(), terms()).await.expect("a connection");
    connection.ask(call("t")).await.expect("a result");
    connection.close().await;
    connection.close().await;
    let fault = connection.ask(call("t")).await;
    assert!(matches!(fault, Err(UpstreamFault::Ended(_))), "{fault:?}");
    drop(connection);
    let came = site.came();
    let named: Vec<_> =
        came.iter().map(|c| (c.method.as_str(), c.rpc(), c.header("mcp-session-id"))).collect();
    let session = Some("sess-1");
    assert_eq!(
        named,
        [
            ("POST", "server/discover", None),
            ("POST", "initialize", None),
            ("POST", "notifications/initialized", session),
            ("POST", "tools/call", session),
            ("DELETE", "", session),
        ]
    );
    assert_eq!(came[3].header("mcp-protocol-version"), Some("2025-11-25"));
    assert_eq!(came[3].header("mcp-method"), None, "nothing modern");
    assert!(came[3].body["params"].get("_meta").is_none());
}

#[tokio::test]
async fn a_connection_that_is_dropped_ends_its_session() {
    let site = Site::legacy(|came| result(came, &json!({}))).await;
    let connector = connector();
    let connection = connector.connect(site.line(), terms(), Arc::new(RefusesAll)).await;
    drop(connection.expect("a connection"));
    connector.finish().await;
    assert_eq!(site.came().last().expect("a request").method, "DELETE");
}

/// A server that forgets its sessions: calls are told 404 as often as said, and handshakes counted.
async fn forgetful(forgets: usize, second: serde_json::Value) -> (Site, Arc<AtomicUsize>) {
    let (hellos, left) = (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(forgets));
    let count = Arc::clone(&hellos);
    let site = Site::new(move |came| match came.rpc() {
        "server/discover" => status(400, ""),
        "initialize" => {
            let n = count.fetch_add(1, Ordering::SeqCst);
            let greeting = if n == 0 { legacy_greeting("2025-11-25") } else { second.clone() };
            let body = json!({"jsonrpc": "2.0", "id": came.body["id"], "result": greeting});
            json_with(&format!("mcp-session-id: sess-{n}\r\n"), &body.to_string())
        }
        "tools/call"
            if left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1))
                .is_ok() =>
        {
            status(404, "no such session")
        }
        "tools/call" => result(came, &json!({"done": true})),
        _ => status(202, ""),
    })
    .await;
    (site, hellos)
}

#[tokio::test]
async fn a_session_that_was_forgotten_is_opened_anew_once() {
    let (site, hellos) = forgetful(1, legacy_greeting("2025-11-25")).await;
    let connection = connect(site.line(), terms()).await.expect("a connection");
    assert_eq!(connection.ask(call("t")).await.expect("a result").get(), r#"{"done":true}"#);
    let calls = site.of("tools/call");
    let sessions: Vec<_> = calls.iter().map(|call| call.header("mcp-session-id")).collect();
    assert_eq!(sessions, [Some("sess-0"), Some("sess-1")]);
    assert_ne!(calls[0].body["id"], calls[1].body["id"]);
    assert_eq!(hellos.load(Ordering::SeqCst), 2);
    let (site, hellos) = forgetful(9, legacy_greeting("2025-11-25")).await;
    let connection = connect(site.line(), terms()).await.expect("a connection");
    let fault = connection.ask(call("t")).await.expect_err("forgotten again");
    assert!(matches!(fault, UpstreamFault::Unreachable(_)), "{fault:?}");
    assert_eq!((site.of("tools/call").len(), hellos.load(Ordering::SeqCst)), (2, 2));
}

#[tokio::test]
async fn f31_who_comes_back_as_another_is_not_asked_again() {
    let mut other = legacy_greeting("2025-11-25");
    other["serverInfo"]["version"] = json!("2");
    let mut more = legacy_greeting("2025-11-25");
    more["capabilities"] = json!({"tools": {}, "prompts": {}});
    for second in [other, more, legacy_greeting("2025-06-18")] {
        let (site, _) = forgetful(1, second).await;
        let connection = connect(site.line(), terms()).await.expect("a connection");
        let fault = connection.ask(call("t")).await.expect_err("another server");
        assert!(matches!(fault, UpstreamFault::Ended(_)), "{fault:?}");
        assert!(connection.ended().is_some());
        assert_eq!(site.of("tools/call").len(), 1, "the call was not repeated");
    }
}

type Says = fn() -> Said;

/// Only a 404 says that nothing was done. Everything else may have been, and is not repeated.
#[tokio::test]
async fn what_may_have_been_done_is_not_done_again() {
    let cut = || {
        Said::Last(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"
                .to_vec(),
        )
    };
    let rows: [(Says, &str); 6] = [
        (|| status(500, ""), "500"),
        (|| status(502, ""), "502"),
        (|| status(400, "no session"), "400"),
        (|| Said::Last(Vec::new()), "closed"),
        (cut, "cut"),
        (
            || {
                Said::Last(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: hello\n\n"
                        .to_vec(),
                )
            },
            "a stream without an answer",
        ),
    ];
    for (says, name) in rows {
        let site = Site::legacy(move |_| says()).await;
        let connection = connect(site.line(), terms()).await.expect("a connection");
        connection.ask(call("t")).await.expect_err(name);
        assert_eq!(site.of("tools/call").len(), 1, "{name}");
        assert_eq!(site.of("initialize").len(), 1, "{name}");
    }
    // Without a session a 404 is only a status.
    let site = Site::new(|came| match came.rpc() {
        "server/discover" => status(400, ""),
        "initialize" => result(came, &legacy_greeting("2025-11-25")),
        "tools/call" => status(404, ""),
        _ => status(202, ""),
    })
    .await;
    let connection = connect(site.line(), terms()).await.expect("a connection");
    connection.ask(call("t")).await.expect_err("404");
    assert_eq!((site.of("tools/call").len(), site.of("initialize").len()), (1, 1));
}

#[tokio::test]
async fn many_that_find_the_session_lost_open_one() {
    let (site, hellos) = forgetful(4, legacy_greeting("2025-11-25")).await;
    let connection = connect(site.line(), terms()).await.expect("a connection");
    let all = futures::future::join_all((0..4).map(|_| connection.ask(call("t")))).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert_eq!(hellos.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_session_id_that_cannot_be_sent_is_refused() {
    for id in ["a b".to_owned(), "x".repeat(600), "caf\u{e9}".to_owned()] {
        let site = Site::new(move |came| match came.rpc() {
            "initialize" => {
                let body = json!({"jsonrpc": "2.0", "id": came.body["id"],
                    "result": legacy_greeting("2025-11-25")});
                json_with(&format!("mcp-session-id: {id}\r\n"), &body.to_string())
            }
            _ => status(400, ""),
        })
        .await;
        let fault = connect(site.line(), terms()).await.expect_err("refused");
        assert!(matches!(fault, UpstreamFault::Garbled(_)), "{fault:?}");
    }
}

#[tokio::test]
async fn f16_requests_of_a_server_are_refused_in_a_message_of_our_own() {
    let site = Site::legacy(|came| match came.rpc() {
        "x/asks" => {
            let asks = |id: u8, method: &str| {
                json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}}).to_string()
            };
            super::events(&[
                asks(1, "sampling/createMessage"),
                asks(2, "ping"),
                asks(3, "elicitation/create"),
                super::answer_text(came, &json!({})),
            ])
        }
        _ => status(202, ""),
    })
    .await;
    let connection = connect(site.line(), terms()).await.expect("a connection");
    connection.ask(ask("x/asks", &json!({}))).await.expect("a result");
    let replies = || {
        let came = site.came().into_iter();
        came.filter(|came| came.body.get("method").is_none() && came.method == "POST")
            .collect::<Vec<_>>()
    };
    until(|| replies().len() == 3).await;
    for reply in replies() {
        assert_eq!(reply.header("mcp-session-id"), Some("sess-1"));
        let (id, code) = (&reply.body["id"], &reply.body["error"]["code"]);
        assert_eq!(*code == json!(-32601), *id != json!(2), "{}", reply.body);
    }
}
