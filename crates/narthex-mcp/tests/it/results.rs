//! The exact shape of what comes back, in both eras.

use serde_json::{Value, json};

use crate::house::{House, TA, TB};
use crate::raw::Request;

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

fn server_info() -> Value {
    json!({"name": "narthex", "version": env!("CARGO_PKG_VERSION")})
}

#[tokio::test]
async fn discovery_and_handshake_say_who_is_here() {
    let house = House::new().open().await;
    let discover = Request::modern(TA, "server/discover", &json!({})).send(house.addr).await;
    let titled = json!({
        "name": "narthex", "title": "A trivial surface", "version": env!("CARGO_PKG_VERSION"),
    });
    assert_eq!(
        discover.result(),
        json!({
            "resultType": "complete",
            "supportedVersions": ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"],
            "capabilities": {"tools": {}},
            "instructions": "Call echo.",
            "ttlMs": 60_000,
            "cacheScope": "private",
            "_meta": {SERVER_INFO: titled},
        })
    );
    let params = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    });
    let initialize = Request::legacy(TA, "initialize", &params).send(house.addr).await;
    assert_eq!(
        initialize.result(),
        json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": titled,
            "instructions": "Call echo.",
        })
    );
}

#[tokio::test]
async fn lists_are_private_whole_and_depend_on_who_asks() {
    let house = House::new().open().await;
    let names = |list: &Value| -> Vec<String> {
        let tools = list["tools"].as_array().expect("tools");
        tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
    };
    let modern = Request::modern(TA, "tools/list", &json!({})).send(house.addr).await.result();
    assert_eq!(modern["resultType"], "complete");
    assert_eq!((&modern["ttlMs"], &modern["cacheScope"]), (&json!(60_000), &json!("private")));
    assert_eq!(modern["_meta"][SERVER_INFO], server_info());
    assert!(modern.get("nextCursor").is_none());
    assert!(names(&modern).contains(&"suggest".to_owned()));
    // Above the agent's ceiling in every case: not there.
    assert!(!names(&modern).contains(&"publish".to_owned()));
    assert_eq!(
        modern["tools"][0],
        json!({
            "name": "echo", "title": "The echo tool", "description": "Does echo.",
            "inputSchema": {
                "type": "object", "properties": {"text": {"type": "string"}},
                "additionalProperties": false,
            },
            "outputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
            "annotations": {
                "title": "The echo tool", "readOnlyHint": true, "destructiveHint": false,
                "idempotentHint": true, "openWorldHint": false,
            },
        })
    );
    let legacy = Request::legacy(TA, "tools/list", &json!({})).send(house.addr).await.result();
    for absent in ["resultType", "ttlMs", "cacheScope"] {
        assert!(legacy.get(absent).is_none(), "{absent}");
    }
    assert_eq!(legacy["tools"], modern["tools"]);
    let reader = Request::modern(TB, "tools/list", &json!({})).send(house.addr).await.result();
    assert!(!names(&reader).contains(&"suggest".to_owned()));
    let cursor = json!({"cursor": "x"});
    let cursor = Request::modern(TA, "tools/list", &cursor).send(house.addr).await;
    assert_eq!((cursor.status, cursor.code()), (200, -32602));
}

#[tokio::test]
async fn answers_are_structured_mirrored_and_stamped() {
    let house = House::new().open().await;
    let params = json!({"name": "echo", "arguments": {"text": "hi"}});
    let expected = json!({
        "resultType": "complete",
        "content": [{"type": "text", "text": "{\"text\":\"hi\"}"}],
        "structuredContent": {"text": "hi"},
        "isError": false,
        "_meta": {SERVER_INFO: server_info()},
    });
    let modern = Request::modern(TA, "tools/call", &params).send(house.addr).await;
    assert_eq!(modern.result(), expected);
    let mut without = expected;
    without.as_object_mut().expect("an object").remove("resultType");
    let legacy = Request::legacy(TA, "tools/call", &params).send(house.addr).await;
    assert_eq!(legacy.result(), without);
    let nothing = Request::modern(TA, "tools/call", &json!({"name": "nothing"}));
    assert!(nothing.send(house.addr).await.result().get("structuredContent").is_none());
}

#[tokio::test]
async fn refusals_are_results_a_model_can_read() {
    let house = House::new().open().await;
    for (name, code, message) in [
        ("missing", "not_found", "not found"),
        ("suggest", "conflict", "it changed"),
        ("publish", "over_ceiling", ""),
    ] {
        let params = json!({"name": name, "arguments": {}});
        let modern = Request::modern(TA, "tools/call", &params).send(house.addr).await.result();
        assert_eq!((&modern["isError"], &modern["resultType"]), (&json!(true), &json!("complete")));
        assert!(modern.get("structuredContent").is_none(), "{name}");
        let error = &modern["_meta"]["narthex/error"];
        assert_eq!(error["code"], code, "{name}");
        assert!(error["message"].as_str().expect("a message").contains(message), "{name}");
        let text: Value =
            serde_json::from_str(modern["content"][0]["text"].as_str().expect("text"))
                .expect("JSON in the text");
        assert_eq!(text, json!({"error": error}));
        assert_eq!(modern["_meta"][SERVER_INFO], server_info());
        let legacy = Request::legacy(TA, "tools/call", &params).send(house.addr).await.result();
        assert!(legacy.get("resultType").is_none(), "{name}");
    }
}

/// The gate charges for what the edge sends, so the two must agree.
#[tokio::test]
async fn both_forms_of_an_answer_are_charged() {
    let house = House::new().open().await;
    for (tool, arguments) in [
        ("echo", json!({"text": "x".repeat(1_000)})),
        ("echo", json!({"text": "\"quoted\" \u{fc}"})),
        ("nothing", json!({})),
        ("missing", json!({})),
    ] {
        let params = json!({"name": tool, "arguments": arguments});
        let result = Request::modern(TA, "tools/call", &params).send(house.addr).await.result();
        let text = result["content"][0]["text"].as_str().expect("a text");
        let sent = match (result.get("structuredContent"), &result["_meta"]["narthex/error"]) {
            (Some(structured), _) => text.len() + structured.to_string().len(),
            (None, Value::Null) => text.len(),
            // Once in the text, once beside it.
            (None, error) => 2 * error["message"].as_str().expect("a message").len(),
        };
        let record = house.records().pop().expect("a record");
        assert_eq!(record.bytes, Some(sent as u64), "{result}");
    }
}
