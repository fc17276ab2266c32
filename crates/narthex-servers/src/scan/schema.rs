//! Schemas: what they refer to, and what they grow to when they are used.

use serde_json::Value;

use super::finding::{Code, Finding, Findings, Severity};
use super::schema_refs::{Growth, growth};
use super::walk::{Step, pointer};

/// Looks at a schema of a tool, which stands under this key of its definition.
pub(super) fn look(key: &'static str, schema: &Value, found: &mut Findings) {
    let mut path = vec![Step::Key(key)];
    let mut count = 0;
    walk(schema, &mut path, &mut count, found);
    let grave = |text: &str| Finding::new(Code::SchemaBomb, format!("/{key}"), text);
    match growth(schema) {
        Growth::Within => {}
        Growth::Recursive => {
            found.add(Finding::new(Code::Recursive, format!("/{key}"), "it refers to itself"));
        }
        Growth::Endless => found.add(grave("it refers to itself without going any deeper")),
        Growth::Beyond => found.add(grave("its references multiply")),
        Growth::TooMany => found.add(grave("it has too many references")),
    }
    if count > MAX_SCHEMAS {
        found.add(grave("it has too many parts"));
    }
}

/// The depth was bounded when the definition was read.
fn walk<'a>(value: &'a Value, path: &mut Vec<Step<'a>>, count: &mut usize, found: &mut Findings) {
    *count += 1;
    match value {
        Value::Object(map) => {
            if path.len() > MAX_DEPTH {
                found.add(Finding::new(Code::SchemaBomb, pointer(path), "it is nested too deeply"));
                return;
            }
            for (key, inner) in map {
                path.push(Step::Key(key));
                if let Some(text) = inner.as_str() {
                    keyword(key, text, path, found);
                }
                walk(inner, path, count, found);
                path.pop();
            }
        }
        Value::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                path.push(Step::Item(n));
                walk(item, path, count, found);
                path.pop();
            }
        }
        _ => {}
    }
}

fn keyword(key: &str, text: &str, path: &[Step<'_>], found: &mut Findings) {
    match key {
        // `#` alone, or a place in this very schema.
        "$ref" | "$dynamicRef" | "$recursiveRef" if !text.starts_with('#') => {
            found.add(Finding::new(Code::RefOutside, pointer(path), text));
        }
        "$id" | "id" if text.contains("://") && !is_well_known(text) => {
            found.add(Finding::graded(Code::RefOutside, Severity::Warn, pointer(path), text));
        }
        "$schema" if !is_well_known(text) => {
            found.add(Finding::graded(Code::RefOutside, Severity::Warn, pointer(path), text));
        }
        "pattern" if text.len() > MAX_PATTERN || repeats(text) > MAX_REPEATS => {
            found.add(Finding::new(Code::SchemaBomb, pointer(path), text));
        }
        _ => {}
    }
}

fn is_well_known(address: &str) -> bool {
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
    rest.is_some_and(|rest| rest.starts_with("json-schema.org/"))
}

/// How often something in a pattern is repeated at most, counted repetitions multiplied.
fn repeats(pattern: &str) -> u64 {
    let mut product: u64 = 1;
    let mut rest = pattern;
    while let Some(at) = rest.find('{') {
        rest = rest.get(at + 1..).unwrap_or_default();
        let inner = rest.split('}').next().unwrap_or_default();
        let counts = inner.split(',').filter_map(|n| n.trim().parse::<u64>().ok());
        product = product.saturating_mul(counts.max().unwrap_or(1).max(1));
    }
    product
}

/// Levels a schema needs.
const MAX_DEPTH: usize = 32;
/// Values in a schema.
const MAX_SCHEMAS: usize = 5_000;
const MAX_PATTERN: usize = 1_000;
const MAX_REPEATS: u64 = 100_000;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::finding::{Code, Findings};
    use super::look;

    fn found(schema: &Value) -> Vec<Code> {
        let mut findings = Findings::default();
        look("inputSchema", schema, &mut findings);
        findings.done().into_iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn what_a_schema_must_not_do_is_found() {
        let mut deep = json!({"type": "string"});
        for _ in 0..20 {
            deep = json!({"properties": {"a": deep}});
        }
        let wide: Vec<Value> = (0..6_000).map(Value::from).collect();
        for (schema, codes) in [
            (
                json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "string"}}}),
                vec![],
            ),
            (json!({"$schema": "https://json-schema.org/draft/2020-12/schema"}), vec![]),
            (json!({"$schema": "http://json-schema.org/draft-07/schema#"}), vec![]),
            (json!({"$schema": "https://evil.example/schema"}), vec![Code::RefOutside]),
            (json!({"$id": "https://evil.example/schema"}), vec![Code::RefOutside]),
            (json!({"$ref": "https://evil.example/a.json"}), vec![Code::RefOutside]),
            (json!({"$ref": "file:///etc/passwd"}), vec![Code::RefOutside]),
            (json!({"$ref": "http://169.254.169.254/"}), vec![Code::RefOutside]),
            (json!({"$ref": "../../x.json"}), vec![Code::RefOutside]),
            (
                json!({"properties": {"a": {"items": {"$dynamicRef": "other#x"}}}}),
                vec![Code::RefOutside],
            ),
            (json!({"pattern": "^[a-z]{1,64}$"}), vec![]),
            (json!({"pattern": "(a{1000}){1000}"}), vec![Code::SchemaBomb]),
            (json!({"pattern": "a".repeat(2_000)}), vec![Code::SchemaBomb]),
            (deep, vec![Code::SchemaBomb]),
            (json!({"enum": wide}), vec![Code::SchemaBomb]),
            (json!({"$ref": "#"}), vec![Code::SchemaBomb]),
            (json!({"properties": {"child": {"$ref": "#"}}}), vec![Code::Recursive]),
        ] {
            assert_eq!(found(&schema), codes, "{schema}");
        }
    }
}
