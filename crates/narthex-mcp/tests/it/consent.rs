//! A client may lower what it can reach, request by request; never raise it, never be forgotten.

use serde_json::{Value, json};

use crate::house::{House, TA};
use crate::raw::Request;

fn call(name: &str, consent: Option<Value>) -> Request {
    let mut params = json!({"name": name, "arguments": {}});
    if let Some(consent) = consent {
        params["_meta"]["narthex/consentCeiling"] = consent;
    }
    Request::modern(TA, "tools/call", &params)
}

#[tokio::test]
async fn consent_lowers_and_never_raises() {
    let house = House::new().open().await;
    for (name, consent, code) in [
        ("suggest", None, "conflict"),
        ("suggest", Some(json!("T1")), "conflict"),
        ("suggest", Some(json!("T3")), "conflict"),
        ("suggest", Some(json!("T0")), "over_ceiling"),
        ("suggest", Some(json!("t1")), "over_ceiling"),
        ("suggest", Some(json!(3)), "over_ceiling"),
        ("suggest", Some(json!(null)), "over_ceiling"),
        ("publish", Some(json!("T3")), "over_ceiling"),
    ] {
        let result = call(name, consent.clone()).send(house.addr).await.result();
        assert_eq!(result["_meta"]["narthex/error"]["code"], code, "{name} {consent:?}");
    }
    let echo = call("echo", Some(json!("T0"))).send(house.addr).await.result();
    assert_eq!(echo["isError"], false);
}

#[tokio::test]
async fn a_list_shows_what_consent_leaves() {
    let house = House::new().open().await;
    let params = json!({"_meta": {"narthex/consentCeiling": "T0"}});
    for request in
        [Request::modern(TA, "tools/list", &params), Request::legacy(TA, "tools/list", &params)]
    {
        let list = request.send(house.addr).await.result();
        let tools = list["tools"].as_array().expect("tools");
        assert!(tools.iter().all(|tool| tool["name"] != "suggest"));
    }
}

#[tokio::test]
async fn a_ceiling_that_could_not_hold_is_not_taken() {
    let house = House::new().open().await;
    for ceiling in [json!("T0"), json!("T3"), json!(null)] {
        let params = json!({"protocolVersion": "2025-11-25", "consentCeiling": ceiling});
        let answer = Request::legacy(TA, "initialize", &params).send(house.addr).await;
        assert_eq!((answer.status, answer.code()), (200, -32602), "{ceiling}");
        let message = answer.json()["error"]["message"].as_str().expect("text").to_owned();
        assert!(message.contains("narthex/consentCeiling"), "{message}");
    }
}
