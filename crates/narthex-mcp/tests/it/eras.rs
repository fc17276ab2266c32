//! Both eras on one path: which is which, what each refuses and how.

use serde_json::{Value, json};

use crate::house::{House, TA};
use crate::raw::{Request, message};

const UNKNOWN: [&str; 14] = [
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "resources/subscribe",
    "resources/unsubscribe",
    "completion/complete",
    "logging/setLevel",
    "subscriptions/listen",
    "tasks/get",
    "tasks/list",
    "Tools/List",
    "unknown/method",
];

#[tokio::test]
async fn what_is_not_advertised_does_not_exist() {
    let house = House::new().open().await;
    for method in UNKNOWN {
        let modern = Request::modern(TA, method, &json!({})).send(house.addr).await;
        assert_eq!((modern.status, modern.code()), (404, -32601), "{method}");
        assert_eq!(modern.json()["id"], 1);
        let legacy = Request::legacy(TA, method, &json!({})).send(house.addr).await;
        assert_eq!((legacy.status, legacy.code()), (200, -32601), "{method}");
    }
    for method in ["initialize", "ping"] {
        let modern = Request::modern(TA, method, &json!({})).send(house.addr).await;
        assert_eq!((modern.status, modern.code()), (404, -32601), "{method}");
    }
    let legacy = Request::legacy(TA, "server/discover", &json!({})).send(house.addr).await;
    assert_eq!((legacy.status, legacy.code()), (200, -32601));
    let ping = Request::legacy(TA, "ping", &json!({})).send(house.addr).await;
    assert_eq!((ping.status, ping.result()), (200, json!({})));
}

#[tokio::test]
async fn a_modern_request_carries_what_it_needs() {
    let house = House::new().open().await;
    let version = ("io.modelcontextprotocol/protocolVersion", json!("2026-07-28"));
    let capabilities = ("io.modelcontextprotocol/clientCapabilities", json!({}));
    let meta = |pairs: &[&(&str, Value)]| -> Value {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
    };
    for (params, status, code) in [
        (json!({}), 400, -32602),
        (json!({"_meta": {}}), 400, -32602),
        (json!({"_meta": 5}), 400, -32602),
        (json!({"_meta": meta(&[&capabilities])}), 400, -32602),
        (json!({"_meta": meta(&[&version])}), 400, -32602),
        (json!({"_meta": {version.0: 20_260_728, capabilities.0: {}}}), 400, -32602),
        (json!({"_meta": {version.0: version.1, capabilities.0: null}}), 400, -32602),
        (json!({"_meta": meta(&[&version, &capabilities])}), 200, 0),
    ] {
        let request = Request::post(TA, message(7, "server/discover", &params))
            .with("mcp-protocol-version", "2026-07-28")
            .with("mcp-method", "server/discover");
        let answer = request.send(house.addr).await;
        assert_eq!((answer.status, answer.code()), (status, code), "{params}");
        assert_eq!(answer.json()["id"], 7);
    }
}

#[tokio::test]
async fn a_revision_that_is_not_served_is_refused_with_those_that_are() {
    let house = House::new().open().await;
    let served = json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"]);
    for version in ["2024-11-05", "v999.0.0", "2026-07-29", "2026-7-28", ""] {
        let params = json!({"_meta": {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }});
        let modern = Request::post(TA, message(1, "server/discover", &params))
            .with("mcp-protocol-version", version)
            .with("mcp-method", "server/discover");
        let legacy = Request::legacy(TA, "tools/list", &json!({}));
        for request in [modern, legacy.with("mcp-protocol-version", version)] {
            let answer = request.send(house.addr).await;
            assert_eq!((answer.status, answer.code()), (400, -32022), "{version}");
            let data = &answer.json()["error"]["data"];
            assert_eq!(data, &json!({"supported": served, "requested": version}));
        }
    }
    let discover = Request::modern(TA, "server/discover", &json!({})).send(house.addr).await;
    assert_eq!(discover.result()["supportedVersions"], served);
}

#[tokio::test]
async fn the_handshake_agrees_on_a_revision_with_a_handshake() {
    let house = House::new().open().await;
    for (asked, agreed) in [
        (json!("2025-11-25"), "2025-11-25"),
        (json!("2025-06-18"), "2025-06-18"),
        (json!("2025-03-26"), "2025-03-26"),
        (json!("2024-11-05"), "2025-11-25"),
        (json!("2026-07-28"), "2025-11-25"),
        (json!("1999-01-01"), "2025-11-25"),
        (json!(null), "2025-11-25"),
    ] {
        let params = json!({
            "protocolVersion": asked, "capabilities": {},
            "clientInfo": {"name": "a client", "version": "1"},
        });
        // Whatever the header says: the handshake is where it is agreed on.
        for header in [None, Some("2025-11-25"), Some("2024-11-05"), Some("2026-07-28")] {
            let request = Request::post(TA, message(1, "initialize", &params));
            let request = match header {
                Some(header) => request.with("mcp-protocol-version", header),
                None => request,
            };
            let result = request.send(house.addr).await.result();
            assert_eq!(result["protocolVersion"], agreed, "{asked} {header:?}");
        }
    }
}

#[tokio::test]
async fn a_legacy_revision_said_in_meta_is_legacy_and_must_match_its_header() {
    let house = House::new().open().await;
    let params = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2025-11-25"}});
    let said = Request::legacy(TA, "tools/list", &params);
    let result = said.send(house.addr).await.result();
    assert!(result.get("resultType").is_none());
    let other = said.with("mcp-protocol-version", "2025-06-18").send(house.addr).await;
    assert_eq!((other.status, other.code()), (400, -32020));
}

#[tokio::test]
async fn modern_notifications_are_accepted() {
    let house = House::new().open().await;
    let body =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let request = Request::post(TA, body.to_string()).with("mcp-protocol-version", "2026-07-28");
    assert_eq!(request.send(house.addr).await.status, 202);
    let wrong = request.with("mcp-method", "tools/call").send(house.addr).await;
    assert_eq!((wrong.status, wrong.code()), (400, -32020));
}
