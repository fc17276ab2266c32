//! F16, F18: what a server may not ask, and how what it may is shown.

use narthex_gate::ClientCan;
use serde_json::{Value, json};

use super::vet;
use crate::sanitise::Scrubber;

const ALL: ClientCan = ClientCan { forms: true, urls: true, samples: true, roots: true };

fn look(method: &str, params: Value, can: ClientCan) -> Result<(Value, Vec<String>), i64> {
    let server = "up".parse().expect("a slug");
    let scrubber = Scrubber::new([], []);
    let looked = vet(&server, method, params, can, &scrubber);
    looked.map(|(ask, names)| (ask.params, names)).map_err(|(code, _)| code)
}

fn form(name: &str, field: Value) -> Value {
    let properties = serde_json::Map::from_iter([(name.to_owned(), field)]);
    json!({"message": "Please.", "requestedSchema": {"type": "object", "properties": properties}})
}

#[test]
fn f18_a_form_asks_for_no_secret() {
    let text = json!({"type": "string"});
    for (what, params, good) in [
        ("plain", form("city", text.clone()), true),
        (
            "author",
            form("author", json!({"type": "string", "title": "Author of the key note"})),
            true,
        ),
        ("format", form("x", json!({"type": "string", "format": "password"})), false),
        ("name", form("password", text.clone()), false),
        ("name", form("api_key", text.clone()), false),
        ("name", form("apiKey", text.clone()), false),
        ("name", form("githubToken", text.clone()), false),
        ("name", form("card_number", text.clone()), false),
        ("title", form("x", json!({"type": "string", "title": "Pass word"})), false),
        ("title", form("x", json!({"type": "string", "title": "API-Key"})), false),
        ("description", form("x", json!({"type": "string", "description": "Your PIN."})), false),
        ("nested", form("x", json!({"type": "object"})), false),
        ("unknown", form("x", json!({"type": "string", "$ref": "file:///etc/passwd"})), false),
        (
            "message",
            json!({"message": "Type your password below.", "requestedSchema":
            {"type": "object", "properties": {"a": {"type": "string"}}}}),
            false,
        ),
        ("no message", json!({"requestedSchema": {"type": "object", "properties": {}}}), false),
        (
            "long",
            json!({"message": "x".repeat(3000), "requestedSchema":
            {"type": "object", "properties": {}}}),
            false,
        ),
        ("no form", json!({"message": "x"}), false),
        (
            "mode",
            json!({"mode": "iframe", "message": "x", "requestedSchema":
            {"type": "object", "properties": {}}}),
            false,
        ),
    ] {
        let got = look("elicitation/create", params, ALL);
        assert_eq!(got.is_ok(), good, "{what}: {got:?}");
    }
}

#[test]
fn what_is_shown_says_whose_it_is_and_hides_nothing() {
    let params = json!({"message": "Ci\u{200b}ty\u{1b}[31m?", "requestedSchema": {"type": "object",
        "properties": {"city": {"type": "string", "title": "C\u{202e}ity"}}, "required": ["city"]}});
    let (shown, names) = look("elicitation/create", params, ALL).expect("it may be asked");
    assert_eq!(names, ["city"]);
    assert_eq!(shown["message"], "[asked by the server \u{201c}up\u{201d}, not by Narthex] City?");
    assert_eq!(shown["requestedSchema"]["properties"]["city"]["title"], "City");
    assert_eq!(shown["requestedSchema"]["required"], json!(["city"]));
}

#[test]
fn f16_what_is_not_offered_is_not_asked() {
    let message = json!({"role": "user", "content": {"type": "text", "text": "a"}});
    let sample = json!({"messages": [message], "maxTokens": 1_000_000, "includeContext": "allServers",
        "tools": [{"name": "x"}]});
    let visit =
        json!({"mode": "url", "message": "m", "url": "https://example.com/", "elicitationId": "e"});
    let none = ClientCan::default();
    for (method, params) in [
        ("elicitation/create", form("city", json!({"type": "string"}))),
        ("elicitation/create", visit.clone()),
        ("sampling/createMessage", sample.clone()),
        ("roots/list", json!({})),
    ] {
        assert_eq!(look(method, params, none).unwrap_err(), -32601, "{method}");
    }
    assert_eq!(look("tools/list", json!({}), ALL).unwrap_err(), -32601);
    let (shown, _) =
        look("roots/list", json!({"cursor": "say hello"}), ALL).expect("it may be asked");
    assert_eq!(shown, json!({"_meta": {"narthex/provenance": {"server": "up"}}}));
    assert!(look("elicitation/create", visit.clone(), ClientCan { urls: false, ..ALL }).is_err());
    assert!(look("elicitation/create", visit, ALL).is_ok());
    let (shown, _) = look("sampling/createMessage", sample, ALL).expect("it may be asked");
    assert!(shown.get("includeContext").is_none() && shown.get("tools").is_none(), "{shown}");
    assert_eq!(shown["maxTokens"], 4096);
    assert!(shown["systemPrompt"].as_str().unwrap().contains("\u{201c}up\u{201d}"), "{shown}");
    let many: Vec<Value> = (0..33).map(|_| message.clone()).collect();
    let long = json!({"role": "user", "content": {"type": "text", "text": "x".repeat(200_000)}});
    for messages in [json!(many), json!([]), json!([long]), json!([{"role": "system"}])] {
        let params = json!({"messages": messages});
        assert_eq!(look("sampling/createMessage", params, ALL).unwrap_err(), -32602);
    }
}
