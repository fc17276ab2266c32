//! `x-mcp-header`: an argument that is copied into an HTTP header. What a header must not be, an
//! argument must not become.

use std::collections::HashSet;

use serde_json::Value;

use super::finding::{Code, Finding, Findings};
use super::walk::{Step, pointer};

/// Looks at the annotations of a tool's input.
pub(super) fn look(schema: &Value, found: &mut Findings) {
    let mut headers = Headers { seen: HashSet::new(), found };
    let mut path = vec![Step::Key("inputSchema")];
    headers.walk(schema, &mut path, Reached::Statically);
}

struct Headers<'f> {
    seen: HashSet<String>,
    found: &'f mut Findings,
}

/// Whether a client can tell from the schema alone which argument is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// From one `properties` to the next.
    Statically,
    /// By way of `properties` itself: its keys are names.
    AsNames,
    /// By way of items, alternatives, conditions.
    Otherwise,
}

impl Headers<'_> {
    fn walk<'a>(&mut self, value: &'a Value, path: &mut Vec<Step<'a>>, reached: Reached) {
        match value {
            Value::Object(map) => {
                if let (Some(name), true) = (map.get(ANNOTATION), reached != Reached::AsNames)
                    && let Some(why) = self.fault(name, value, path.len(), reached)
                {
                    let text = format!("{why}: {name}");
                    let place = format!("{}/{ANNOTATION}", pointer(path));
                    self.found.add(Finding::new(Code::ParamHeader, place, &text));
                }
                for (key, inner) in map {
                    let next = match (reached, key.as_str()) {
                        (Reached::AsNames, _) => Reached::Statically,
                        (Reached::Statically, "properties") => Reached::AsNames,
                        _ => Reached::Otherwise,
                    };
                    path.push(Step::Key(key));
                    self.walk(inner, path, next);
                    path.pop();
                }
            }
            Value::Array(items) => {
                for (n, item) in items.iter().enumerate() {
                    path.push(Step::Item(n));
                    self.walk(item, path, Reached::Otherwise);
                    path.pop();
                }
            }
            _ => {}
        }
    }

    fn fault(
        &mut self,
        name: &Value,
        schema: &Value,
        depth: usize,
        reached: Reached,
    ) -> Option<&'static str> {
        let Some(name) = name.as_str() else { return Some("it is not text") };
        let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(token) {
            return Some("it is no name of a header");
        }
        let small = name.to_ascii_lowercase();
        if RESERVED.contains(&small.as_str())
            || RESERVED_STARTS.iter().any(|s| small.starts_with(s))
        {
            return Some("it names a header that means something else");
        }
        if !self.seen.insert(small) {
            return Some("two arguments have it");
        }
        if reached != Reached::Statically || depth < 2 {
            return Some("it is not on a plain property");
        }
        let kind = schema.get("type").and_then(Value::as_str);
        if !matches!(kind, Some("string" | "integer" | "boolean")) {
            return Some("it is on something that is not text, a whole number or true and false");
        }
        None
    }
}

const ANNOTATION: &str = "x-mcp-header";
const MAX_NAME: usize = 64;

/// Headers that say who asks, frame a message, or lead it elsewhere.
const RESERVED: &[&str] = &[
    "accept",
    "authorization",
    "connection",
    "cookie",
    "date",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "last-event-id",
    "origin",
    "referer",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
    "www-authenticate",
    "x-api-key",
    "x-real-ip",
];

const RESERVED_STARTS: &[&str] = &[
    "content-",
    "mcp-",
    "proxy-",
    "sec-",
    "x-forwarded-",
    "x-original-",
    "cf-",
    "access-control-",
];

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::finding::{Code, Findings};
    use super::look;

    fn found(schema: &Value) -> Vec<(Code, String)> {
        let mut findings = Findings::default();
        look(schema, &mut findings);
        findings.done().into_iter().map(|f| (f.code, f.place)).collect()
    }

    #[test]
    fn what_must_not_become_a_header_is_found() {
        let on = |property: Value| json!({"type": "object", "properties": {"a": property}});
        for (schema, good) in [
            (on(json!({"type": "string", "x-mcp-header": "Region"})), true),
            (on(json!({"type": "integer", "x-mcp-header": "Shard"})), true),
            (on(json!({"type": "boolean", "x-mcp-header": "Dry-Run"})), true),
            (
                on(
                    json!({"type": "object", "properties": {"b": {"type": "string", "x-mcp-header": "B"}}}),
                ),
                true,
            ),
            // A property that is only called so.
            (json!({"properties": {"x-mcp-header": {"type": "string"}}}), true),
            (on(json!({"type": "number", "x-mcp-header": "Amount"})), false),
            (on(json!({"type": ["string"], "x-mcp-header": "A"})), false),
            (on(json!({"x-mcp-header": "A"})), false),
            (on(json!({"type": "string", "x-mcp-header": "A\r\nX-Evil: 1"})), false),
            (on(json!({"type": "string", "x-mcp-header": "A B"})), false),
            (on(json!({"type": "string", "x-mcp-header": ""})), false),
            (on(json!({"type": "string", "x-mcp-header": 1})), false),
            (on(json!({"type": "string", "x-mcp-header": "Authorization"})), false),
            (on(json!({"type": "string", "x-mcp-header": "COOKIE"})), false),
            (on(json!({"type": "string", "x-mcp-header": "Mcp-Method"})), false),
            (on(json!({"type": "string", "x-mcp-header": "Content-Length"})), false),
            (on(json!({"type": "array", "items": {"type": "string", "x-mcp-header": "A"}})), false),
            (
                json!({"allOf": [{"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}]}),
                false,
            ),
            (json!({"$defs": {"a": {"type": "string", "x-mcp-header": "A"}}}), false),
            (json!({"type": "string", "x-mcp-header": "A"}), false),
            (
                json!({"properties": {
                    "a": {"type": "string", "x-mcp-header": "Region"},
                    "b": {"type": "string", "x-mcp-header": "region"}}}),
                false,
            ),
        ] {
            assert_eq!(found(&schema).is_empty(), good, "{schema}");
        }
        let schema = on(json!({"type": "number", "x-mcp-header": "A"}));
        let place = "/inputSchema/properties/a/x-mcp-header".to_owned();
        assert_eq!(found(&schema), [(Code::ParamHeader, place)]);
    }
}
