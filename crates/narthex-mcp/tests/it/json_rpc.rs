//! Threat family B: what is no message runs nothing and gets a JSON-RPC error.

use serde_json::{Value, json};

use crate::house::{House, TA, TB};
use crate::raw::Request;

fn named(name: &str) -> Value {
    json!({"name": name, "arguments": {"text": "hi"}})
}

#[tokio::test]
async fn bytes_that_are_no_message_run_nothing() {
    let house = House::new().open().await;
    let call = r#""params":{"name":"echo","arguments":{"text":"x"}}"#;
    let long = "x".repeat(10 * 1024 * 1024);
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}1{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let wide = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{"text":[{}1]}}}}}}"#,
        "1,".repeat(1_000_000)
    );
    let keys: Vec<String> = (0..100_000).map(|n| format!(r#""k{n}":1,"#)).collect();
    let keys = keys.concat();
    let keys =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{keys}"z":1}}}}"#);
    for (body, code) in [
        (String::new(), -32700),
        ("[]".into(), -32600),
        ("\"x\"".into(), -32600),
        ("null".into(), -32600),
        (format!(r#"[{{"jsonrpc":"2.0","id":1,"method":"tools/call",{call}}}]"#), -32600),
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call",{call}}}"#
            ),
            -32700,
        ),
        (format!(r#"{{"jsonrpc":"2.0","id":1,"Method":"tools/call",{call}}}"#), -32600),
        (format!(r#"{{"jsonrpc":"2.0","id":1,"method\u0000":"tools/call",{call}}}"#), -32600),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","PARAMS":{"name":"echo"}}"#.into(),
            -32600,
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"param\u{17f}\":{}}".into(),
            -32600,
        ),
        (
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":1,\"to\u{212a}en\":1,\"method\":\"tools/call\",{call}}}"
            ),
            -32600,
        ),
        (format!(r#"{{"jsonrpc":"2.0","id":null,"method":"tools/call",{call}}}"#), -32600),
        (format!(r#"{{"jsonrpc":"2.0","id":{{}},"method":"tools/call",{call}}}"#), -32600),
        (format!(r#"{{"jsonrpc":"2.0","id":1e400,"method":"tools/call",{call}}}"#), -32700),
        (format!(r#"{{"jsonrpc":"2.0","id":"{long}","method":"tools/call",{call}}}"#), -32600),
        (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call",{call}}} x"#), -32700),
        (
            format!("\u{feff}{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",{call}}}"),
            -32700,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.into(), -32600),
        (deep, -32700),
        (wide, -32700),
        (keys, -32700),
    ] {
        let answer = Request::post(TA, body.clone()).send(house.addr).await;
        assert_eq!((answer.status, answer.code()), (400, code), "{body:.100}");
        assert_eq!(answer.header("content-type"), Some("application/json"), "{body:.100}");
        assert_eq!(answer.json()["jsonrpc"], "2.0", "{body:.100}");
    }
    let binary = Request::post(TA, b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\"}".to_vec());
    assert_eq!(binary.send(house.addr).await.code(), -32700);
    assert_eq!(house.ran(), 0);
    let ids = house.records().into_iter().filter_map(|record| record.request);
    assert!(ids.into_iter().all(|id| id.as_str().chars().count() <= 128));
}

#[tokio::test]
async fn without_an_id_nothing_runs() {
    let house = House::new().open().await;
    for body in [
        json!({"jsonrpc": "2.0", "method": "tools/call", "params": named("echo")}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/anything", "params": {}}),
    ] {
        let answer = Request::post(TA, body.to_string()).send(house.addr).await;
        assert_eq!((answer.status, answer.body.len()), (202, 0), "{body}");
    }
    assert_eq!((house.ran(), house.records().len()), (0, 0));
}

#[tokio::test]
async fn numbers_are_exact_or_refused() {
    let house = House::new().open().await;
    for (number, kept) in [
        ("9007199254740993", Some("9007199254740993")),
        ("18446744073709551615", Some("18446744073709551615")),
        ("1", Some("1")),
        ("1.0", Some("1.0")),
        ("-0", Some("-0.0")),
        ("0.1", Some("0.1")),
        ("18446744073709551616", None),
        ("9007199254740993.0", None),
        ("0.1000000000000000055511151231257827", None),
        ("1e999", None),
        ("NaN", None),
    ] {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"repeat","arguments":{{"n":{number}}}}}}}"#
        );
        let answer = Request::post(TA, body).send(house.addr).await;
        let Some(kept) = kept else {
            assert_eq!((answer.status, answer.code()), (400, -32700), "{number}");
            continue;
        };
        let body = String::from_utf8(answer.body).expect("text");
        assert!(body.contains(&format!(r#""structuredContent":{{"n":{kept}}}"#)), "{body}");
    }
    // What was decided on is what is recorded: two neighbours have two digests.
    let digest = |n: &str| {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"repeat","arguments":{{"n":{n}}}}}}}"#
        );
        let house = &house;
        async move {
            Request::post(TA, body).send(house.addr).await;
            house.records().last().and_then(|record| record.arguments)
        }
    };
    assert_ne!(digest("9007199254740992").await, digest("9007199254740993").await);
}

#[tokio::test]
async fn unknown_and_denied_tools_are_the_same_to_the_byte() {
    let house = House::new().open().await;
    for name in [
        "nosuch",
        "suggest",
        "publish",
        "ECHO",
        "echo ",
        "ech\u{43e}",
        "echo\u{200b}",
        "",
        "\u{2028}\n\u{1b}[31m",
    ] {
        for (request, version) in [
            (Request::legacy(TB, "tools/call", &named(name)), "legacy"),
            (
                Request::modern(TB, "tools/call", &named(name))
                    .without("mcp-name")
                    .with("mcp-name", &narrow(name)),
                "modern",
            ),
        ] {
            let answer = request.send(house.addr).await;
            let expected = json!({
                "jsonrpc": "2.0", "id": 1,
                "error": {"code": -32602, "message": format!("unknown tool: {name}")},
            });
            assert_eq!((answer.status, answer.json()), (200, expected), "{version} {name:?}");
        }
    }
    let long = "y".repeat(10_000);
    let answer = Request::legacy(TB, "tools/call", &named(&long)).send(house.addr).await;
    let expected = format!("unknown tool: {}", "y".repeat(128));
    assert_eq!(answer.json()["error"]["message"], expected);
    assert_eq!(house.ran(), 0);
}

/// A name as a header carries it.
fn narrow(name: &str) -> String {
    use base64::Engine as _;
    format!("=?base64?{}?=", base64::prelude::BASE64_STANDARD.encode(name))
}

#[tokio::test]
async fn odd_text_in_arguments_is_text() {
    let house = House::new().open().await;
    let odd = "\u{2028}\u{2029}\u{85}\r\n\u{1b}[31m\u{0}\"}";
    let params = json!({"name": "echo", "arguments": {"text": odd}});
    let before = house.records().len();
    let answer = Request::modern(TA, "tools/call", &params).send(house.addr).await.result();
    assert_eq!(answer["structuredContent"]["text"], odd);
    assert_eq!(house.records().len() - before, 1);
}

#[tokio::test]
async fn an_unknown_argument_is_named_and_an_ignored_one_is_ignored() {
    let house = House::new().open().await;
    let params = json!({"name": "echo", "arguments": {"text": "x", "nosuch": 1}});
    let answer = Request::modern(TA, "tools/call", &params).send(house.addr).await.result();
    assert_eq!(answer["isError"], true);
    assert!(answer["content"][0]["text"].as_str().expect("text").contains("nosuch"));
    let params = json!({"name": "echo", "arguments": {"text": "x", "space": "another"}});
    let answer = Request::modern(TA, "tools/call", &params).send(house.addr).await.result();
    assert_eq!(answer["structuredContent"], json!({"text": "x"}));
    for arguments in [json!([]), json!(null), json!("x")] {
        let params = json!({"name": "echo", "arguments": arguments});
        let answer = Request::modern(TA, "tools/call", &params).send(house.addr).await.result();
        assert_eq!(answer["isError"], true, "{arguments}");
    }
    for name in [json!(null), json!(5), json!({})] {
        let answer =
            Request::legacy(TA, "tools/call", &json!({"name": name})).send(house.addr).await;
        assert_eq!((answer.status, answer.code()), (200, -32602), "{name}");
    }
}

#[tokio::test]
async fn reserved_meta_keys_are_ignored() {
    let house = House::new().open().await;
    let mut params = named("echo");
    params["_meta"] = json!({
        "io.modelcontextprotocol/subscriptionId": "spoofed",
        "io.modelcontextprotocol/serverInfo": {"name": "spoofed"},
        "baggage": "x".repeat(1_000_000),
        "progressToken": 7,
    });
    let answer = Request::modern(TA, "tools/call", &params).send(house.addr).await;
    assert_eq!(answer.status, 200);
    assert!(!String::from_utf8_lossy(&answer.body).contains("spoofed"));
}
