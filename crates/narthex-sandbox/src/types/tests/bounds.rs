//! Whatever a schema says, it is read to its end, and soon.

use std::time::Instant;

use serde_json::{Value, json};

use super::{declared, function, property};
use crate::types::{FUNCTION_BYTES, SIGNATURE_CHARS, declare, prelude, signature};

#[test]
fn a_signature_is_one_short_line() {
    let nested =
        json!({ "type": "object", "properties": { "x": { "$ref": "#" } }, "required": ["x"] });
    assert_eq!(signature(&nested), "{ x: { x: { x: any } } }");
    assert_eq!(signature(&json!({ "type": "object", "properties": {} })), "{}");
    for many in [1, 50, 150, 500] {
        let properties: serde_json::Map<_, _> =
            (0..many).map(|n| (format!("property_{n}"), json!({ "type": "string" }))).collect();
        let line = signature(&json!({ "properties": properties }));
        assert!(line.chars().count() <= SIGNATURE_CHARS, "{many}");
        let end = if many > 60 { "?: string; \u{2026} }" } else { "?: string }" };
        assert!(line.ends_with(end), "{many}: {line}");
    }
    let long = json!({ "properties": { "a": { "enum": ["x".repeat(900), "y".repeat(900), "z".repeat(900)] }, "b": {} } });
    let line = signature(&long);
    assert!(
        line.chars().count() <= SIGNATURE_CHARS && line.ends_with(" | \u{2026}; b?: any }"),
        "{line}"
    );
}

#[test]
fn bounds_hold() {
    let many: Vec<String> = (0..201).map(|n| format!("v{n}")).collect();
    let mut mixed: Vec<Value> = many.iter().map(|v| json!(v)).collect();
    mixed.push(json!(1));
    assert_eq!(property(&json!({ "enum": many })), "string");
    assert_eq!(property(&json!({ "enum": mixed })), "string | number");
    assert_eq!(property(&json!({ "enum": mixed, "type": "string" })), "string");
    assert_eq!(property(&json!({ "enum": many.get(..200) })).matches(" | ").count(), 199);
    assert_eq!(property(&json!({ "const": "x".repeat(1_001) })), "string");

    let deep = (0..100).fold(json!({ "type": "string" }), |inner, _| json!({ "items": inner }));
    assert!(declared(&deep).contains(&format!("FInput = any{};", "[]".repeat(24))));

    let wide: serde_json::Map<_, _> = (0..300).map(|n| (format!("p{n}"), json!({}))).collect();
    let text = declared(&json!({ "properties": wide }));
    assert!(
        text.contains("p199?: any;\n    [key: string]: any;") && !text.contains("p200"),
        "{text}"
    );
    assert!(text.contains("too large to be shown whole"));

    let heavy: serde_json::Map<_, _> = (0..150)
        .map(|n| (format!("p{n}"), json!({ "description": "\u{202e}".repeat(5_000) })))
        .collect();
    let text = declared(&json!({ "properties": heavy }));
    assert!(text.len() < FUNCTION_BYTES + 1_000 && text.contains("[key: string]: any;"));
}

/// Texts that are too long to be looked at again and again.
#[test]
fn long_names_are_left_out() {
    let long = "n".repeat(100_000);
    let schema = json!({
        "$id": long,
        "properties": { "a": { "type": "string" }, &long: { "type": "string" }, "r": { "$ref": &long } },
        "required": ["a", &long],
    });
    assert_eq!(signature(&schema), "{ a: string; r?: any; [key: string]: any }");
    assert_eq!(property(&json!({ "const": { &long: 1 } })), "{ [key: string]: any }");
}

/// Much to look at, many times over.
#[test]
fn work_comes_to_an_end() {
    let many: Vec<String> = (0..20_000).map(|n| format!("v{n}")).collect();
    let properties: serde_json::Map<_, _> =
        (0..100).map(|n| (format!("p{n}"), json!({ "$ref": "#/$defs/e" }))).collect();
    let line = signature(&json!({ "properties": properties, "$defs": { "e": { "enum": many } } }));
    assert!(line.starts_with("{ p0?: string; p1?: string; p2?: any; "), "{line}");
}

/// Schemas that say twice as much at every level.
#[test]
fn what_doubles_ends_soon() {
    let both = |key: &str, n: usize| {
        let next = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
        json!({ key: [next, { "allOf": [next, { "properties": { "x": {} } }] }] })
    };
    let mut schemas = Vec::new();
    for key in ["anyOf", "allOf", "oneOf"] {
        let defs: serde_json::Map<_, _> =
            (0..2_000).map(|n| (format!("d{n}"), both(key, n))).collect();
        schemas.push(json!({ "$ref": "#/$defs/d0", "$defs": defs }));
        let inline = (0..8).fold(
            json!({ "required": ["x"] }),
            |inner, n| json!({ key: [inner, inner, { "properties": { format!("p{n}"): inner } }] }),
        );
        schemas.push(inline);
    }
    let started = Instant::now();
    for schema in &schemas {
        let text = declare("m", "", &[function("f", schema, Some(schema))]);
        assert!(text.len() < FUNCTION_BYTES + 1_000, "{}", text.len());
        assert!(signature(schema).chars().count() <= SIGNATURE_CHARS);
    }
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}

#[test]
fn the_prelude_has_what_modules_lean_on() {
    for name in
        ["HostError", "Tried", "HostFunction", "HostFunctionOptional", "HostFunctionWithoutInput"]
    {
        assert!(prelude().contains(name), "{name}");
    }
}
