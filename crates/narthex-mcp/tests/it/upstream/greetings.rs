//! How a process is greeted: the newer way first, and the older one only where that is meant.

use std::time::Duration;

use narthex_gate::upstream::{Terms, UpstreamEra, UpstreamFault};
use serde_json::{Value, json};

use super::peer::{Peer, legacy_greeting, modern_greeting};
use super::{ask, connect, terms};

#[tokio::test]
async fn a_modern_server_is_greeted_without_a_handshake() {
    let (line, mut peer) = Peer::new();
    let (connection, discover) = tokio::join!(connect(line, terms()), async {
        let discover = peer.next().await;
        peer.answer(&discover, &modern_greeting()).await;
        discover
    });
    let meta = &discover["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "narthex");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({}));
    let connection = connection.expect("a connection");
    let greeting = connection.greeting();
    assert!(greeting.modern);
    assert_eq!(greeting.revision, "2026-07-28");
    assert_eq!(greeting.server_info, json!({"name": "peer", "version": "1"}));
    let (answer, asked) = tokio::join!(connection.ask(ask("tools/list", &json!({}))), async {
        let asked = peer.next().await;
        peer.answer(&asked, &json!({"tools": []})).await;
        asked
    });
    assert_eq!(answer.expect("a list").get(), r#"{"tools":[]}"#);
    assert!(asked["params"]["_meta"].get("progressToken").is_none());
    assert_eq!(asked["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
}

#[tokio::test]
async fn an_older_server_is_greeted_with_a_handshake_after_an_error_or_silence() {
    for (code, data) in [
        (Some(-32601), Value::Null),
        (Some(-32602), Value::Null),
        (Some(-32000), Value::Null),
        (Some(-32022), json!({"supported": ["2025-06-18"]})),
        (None, Value::Null),
    ] {
        for revision in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
            let (line, mut peer) = Peer::new();
            let (connection, ()) = tokio::join!(connect(line, terms()), async {
                let discover = peer.next().await;
                if let Some(code) = code {
                    peer.refuse(&discover, code, &data).await;
                }
                peer.shake_hands(revision).await;
            });
            let connection = connection.expect("a connection");
            let greeting = connection.greeting();
            assert_eq!((greeting.modern, greeting.revision.as_str()), (false, revision));
            assert_eq!(greeting.instructions.as_deref(), Some("be kind"));
            let (_, asked) = tokio::join!(connection.ask(ask("tools/list", &json!({}))), async {
                let asked = peer.next().await;
                peer.answer(&asked, &json!({"tools": []})).await;
                asked
            });
            assert!(asked.get("params").is_none(), "nothing modern in it: {asked}");
        }
    }
}

/// A server that starts slowly reads both greetings at once.
#[tokio::test]
async fn a_modern_server_that_starts_slowly_is_taken_at_its_first_word() {
    let (line, mut peer) = Peer::new();
    let (connection, ()) = tokio::join!(connect(line, terms()), async {
        let discover = peer.next().await;
        let hello = peer.next_of("initialize").await;
        peer.answer(&discover, &modern_greeting()).await;
        peer.refuse(&hello, -32601, &Value::Null).await;
    });
    assert!(connection.expect("a connection").greeting().modern);
}

type Check<'a> = &'a dyn Fn(&UpstreamFault) -> bool;

/// What a server does instead of greeting, which greeting is tried, and what comes of it.
#[tokio::test]
async fn greetings_that_lead_nowhere() {
    let late = |fault: &UpstreamFault| matches!(fault, UpstreamFault::Late(_));
    let ended = |fault: &UpstreamFault| matches!(fault, UpstreamFault::Ended(_));
    let garbled = |fault: &UpstreamFault| matches!(fault, UpstreamFault::Garbled(_));
    let refused = |fault: &UpstreamFault| matches!(fault, UpstreamFault::Refused { .. });
    let too_large = |fault: &UpstreamFault| matches!(fault, UpstreamFault::TooLarge { .. });
    let (either, modern, older) = (UpstreamEra::Either, UpstreamEra::Modern, UpstreamEra::Legacy);
    let result =
        |result: &Value| json!({"jsonrpc": "2.0", "id": "ID", "result": result}).to_string();
    let error = |code: i64| {
        json!({"jsonrpc": "2.0", "id": "ID", "error": {"code": code, "message": "no"}}).to_string()
    };
    let rows: Vec<(UpstreamEra, Option<String>, Check<'_>)> = vec![
        (either, None, &late),
        (either, Some("END".into()), &ended),
        (either, Some(error(-32020)), &refused),
        (either, Some(error(-32021)), &refused),
        (either, Some(error(-32022)), &refused),
        (modern, Some(error(-32601)), &refused),
        (modern, Some(result(&json!({"supportedVersions": ["2025-11-25"]}))), &garbled),
        (either, Some(result(&json!({"supportedVersions": ["2031-01-01"]}))), &garbled),
        (either, Some(result(&json!({}))), &garbled),
        (either, Some(result(&json!([]))), &garbled),
        (either, Some(result(&json!({"a": "x".repeat(20 << 10)}))), &too_large),
        (either, Some("x".repeat(100 << 10)), &too_large),
        (older, Some(result(&legacy_greeting("2026-07-28"))), &garbled),
        (older, Some(result(&legacy_greeting("1999-01-01"))), &garbled),
        (older, Some(error(-32603)), &refused),
        (older, Some("garbage".into()), &late),
    ];
    for (era, said, expected) in rows {
        let (line, mut peer) = Peer::new();
        let connect_deadline = Duration::from_millis(600);
        let terms = Terms { era, connect_deadline, ..terms() };
        let (connection, ()) = tokio::join!(connect(line, terms), async {
            let asked = peer.next().await;
            match said.as_deref() {
                None => {}
                Some("END") => peer.end().await,
                Some(said) => peer.say(&said.replace("\"ID\"", &asked["id"].to_string())).await,
            }
        });
        let fault = connection.expect_err("no greeting");
        assert!(expected(&fault), "{era:?} {said:.60?}: {fault:?}");
        while peer.read().await.is_some() {}
    }
}
