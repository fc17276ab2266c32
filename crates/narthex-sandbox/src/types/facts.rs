//! What a schema says about a value that a type does not.

use std::io::{self, Write};

use serde_json::{Map, Value};

use super::bounds::{DESCRIPTION_CHARS, FACT_BYTES};
use super::comment;

/// The lines of a comment on whatever has this schema.
pub(super) fn doc(schema: &Value) -> Vec<String> {
    let Some(map) = schema.as_object() else { return Vec::new() };
    let text = |key: &str| map.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let told = text("description").or_else(|| text("title")).unwrap_or_default();
    let mut lines = comment::lines(told, DESCRIPTION_CHARS);
    let mut facts = facts(map);
    // Items have no comment of their own.
    if let Some(items) = map.get("items").and_then(Value::as_object) {
        let of_items = self::facts(items);
        if !of_items.is_empty() {
            facts.push(format!("each item: {}", of_items.join(", ")));
        }
    }
    if !facts.is_empty() {
        lines.push(facts.join("; "));
    }
    lines
}

fn facts(map: &Map<String, Value>) -> Vec<String> {
    let mut facts = Vec::new();
    let integer = |kind: &Value| kind.as_str() == Some("integer");
    if map.get("type").is_some_and(|t| {
        integer(t) || t.as_array().is_some_and(|t| t.iter().take(KINDS).any(integer))
    }) {
        facts.push("integer".to_owned());
    }
    for (key, told) in TOLD {
        if let Some(value) = map.get(*key).filter(|value| is_worth_telling(key, value)) {
            let text = value.as_str().filter(|_| *key != "default");
            let value = text.map_or_else(|| brief(value), |t| comment::line(t, FACT_BYTES));
            facts.push(format!("{told}: {value}"));
        }
    }
    for key in ["deprecated", "readOnly", "uniqueItems"] {
        if map.get(key) == Some(&Value::Bool(true)) {
            facts.push(key.to_owned());
        }
    }
    facts
}

fn is_worth_telling(key: &str, value: &Value) -> bool {
    key == "default" || value.is_string() || value.is_number()
}

/// A value in a few words of JSON, where `"1"` is not `1`.
fn brief(value: &Value) -> String {
    let mut short = Short::default();
    // It fails where it is cut.
    let cut = serde_json::to_writer(&mut short, value).is_err();
    let text = String::from_utf8_lossy(&short.0);
    let text = text.trim_end_matches(char::REPLACEMENT_CHARACTER);
    let mut told = comment::line(text, FACT_BYTES);
    if cut {
        told.push('\u{2026}');
    }
    told
}

/// As much as there is room for; no large value is written out to be thrown away.
#[derive(Default)]
struct Short(Vec<u8>);

impl Write for Short {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = FACT_BYTES.saturating_sub(self.0.len());
        match bytes.get(..room.min(bytes.len())) {
            Some(some) if !some.is_empty() || bytes.is_empty() => {
                self.0.extend_from_slice(some);
                Ok(some.len())
            }
            _ => Err(io::ErrorKind::StorageFull.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Kinds of a schema that are looked at.
const KINDS: usize = 8;

const TOLD: &[(&str, &str)] = &[
    ("format", "format"),
    ("contentMediaType", "media type"),
    ("contentEncoding", "encoding"),
    ("pattern", "pattern"),
    ("minLength", "minimum length"),
    ("maxLength", "maximum length"),
    ("minimum", "minimum"),
    ("exclusiveMinimum", "more than"),
    ("maximum", "maximum"),
    ("exclusiveMaximum", "less than"),
    ("multipleOf", "multiple of"),
    ("minItems", "minimum items"),
    ("maxItems", "maximum items"),
    ("default", "default"),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::doc;

    #[test]
    fn a_person_is_told_what_the_type_does_not_say() {
        for (schema, expected) in [
            (json!(true), vec![]),
            (json!({ "type": "string" }), vec![]),
            (json!({ "title": "T", "description": "D" }), vec!["D"]),
            (json!({ "title": "T" }), vec!["T"]),
            (
                json!({ "type": "integer", "minimum": 1, "maximum": 14, "default": 3 }),
                vec!["integer; minimum: 1; maximum: 14; default: 3"],
            ),
            (
                json!({ "type": "string", "format": "date", "pattern": "^*/\n$", "default": "1" }),
                vec![r#"format: date; pattern: ^*\/ $; default: "1""#],
            ),
            (
                json!({ "type": "array", "items": { "type": "string", "format": "email" } }),
                vec!["each item: format: email"],
            ),
            (json!({ "minimum": { "a": 1 }, "deprecated": true }), vec!["deprecated"]),
        ] {
            assert_eq!(doc(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn a_large_default_is_cut() {
        let told = doc(&json!({ "default": ["\u{e9}".repeat(100_000)] })).concat();
        assert!(told.len() < 300 && told.ends_with("\u{e9}\u{2026}"), "{told}");
    }
}
