//! Headers of a message: the owner's, the protocol's, and what a tool's schema marks.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use narthex_gate::upstream::{UpstreamFault, marks};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value};

use crate::era::VERSION_HEADER;
use crate::named::{METHOD_HEADER, NAME_HEADER, encoded, name_in};
use crate::upstream::incoming::garbled;
use crate::upstream::outgoing::MODERN;

/// The owner's own headers. Those that say what a message is are not the owner's to set.
pub(super) fn owners(said: &[(String, SecretString)]) -> Result<HeaderMap, UpstreamFault> {
    let mut headers = HeaderMap::new();
    for (name, value) in said {
        let wrong =
            |why: &str| UpstreamFault::Unreachable(format!("the header {}: {why}", shown(name)));
        let parsed = HeaderName::from_bytes(name.as_bytes());
        let parsed = parsed.map_err(|_| wrong("no name of a header"))?;
        if OURS.contains(&parsed.as_str()) || parsed.as_str().starts_with("mcp-") {
            return Err(wrong("it is part of the protocol"));
        }
        let value = HeaderValue::from_str(value.expose_secret());
        let mut value = value.map_err(|_| wrong("its value is not one line of plain text"))?;
        value.set_sensitive(true);
        headers.append(parsed, value);
    }
    Ok(headers)
}

/// What repeats a modern message's body. The name is taken from the body, so that they agree.
pub(super) fn modern(
    method: &str,
    params: &Map<String, Value>,
    name: Option<&str>,
    schema: Option<&Value>,
) -> Result<HeaderMap, UpstreamFault> {
    let mut headers = HeaderMap::new();
    headers.insert(VERSION_HEADER, HeaderValue::from_static(MODERN));
    insert(&mut headers, METHOD_HEADER, method)?;
    if let Some(name) = name_in(method, params).or(name) {
        insert(&mut headers, NAME_HEADER, name)?;
    }
    let Some(schema) = schema.filter(|_| method == "tools/call") else { return Ok(headers) };
    let marks = marks(schema).map_err(|fault| UpstreamFault::Garbled(fault.to_string()))?;
    for mark in marks {
        let root = params.get("arguments");
        let value = mark.path.iter().try_fold(root, |at, key| Some(at?.get(key)));
        let text = match value.flatten() {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Bool(yes)) => yes.to_string(),
            Some(Value::Number(number)) => number.to_string(),
            _ => continue,
        };
        let name = format!("mcp-param-{}", mark.header.to_ascii_lowercase());
        let name = HeaderName::from_bytes(name.as_bytes());
        insert(&mut headers, name.map_err(|_| garbled("x-mcp-header is no name"))?, &text)?;
    }
    Ok(headers)
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) -> Result<(), UpstreamFault> {
    if value.len() > MAX_VALUE {
        return Err(garbled("a name or a marked argument is too long for a header"));
    }
    let value = HeaderValue::from_str(&encoded(value));
    headers.insert(name, value.map_err(|_| garbled("a name is no header"))?);
    Ok(())
}

fn shown(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_graphic() { c } else { '?' };
    name.chars().take(64).map(plain).collect()
}

/// They say what a message is.
const OURS: &[&str] = &["accept", "content-type", "last-event-id"];
const MAX_VALUE: usize = 4096;

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{modern, owners};

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    #[test]
    fn headers_repeat_the_body_and_marked_arguments() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "n": {"type": "integer", "x-mcp-header": "N"},
            "gone": {"type": "string", "x-mcp-header": "Gone"},
            "deep": {"type": "object", "properties": {
                "yes": {"type": "boolean", "x-mcp-header": "Yes"},
            }},
        }});
        let params = object(json!({"name": "t\u{f6}ol", "arguments": {
            "region": "a\r\nX-Evil: 1", "n": 7, "deep": {"yes": true}, "other": "x",
        }}));
        let headers =
            modern("tools/call", &params, Some("another"), Some(&schema)).expect("headers");
        let all: Vec<_> =
            headers.iter().map(|(k, v)| (k.as_str(), v.to_str().expect("text"))).collect();
        assert_eq!(
            all,
            [
                ("mcp-protocol-version", "2026-07-28"),
                ("mcp-method", "tools/call"),
                ("mcp-name", "=?base64?dMO2b2w=?="),
                ("mcp-param-region", "=?base64?YQ0KWC1FdmlsOiAx?="),
                ("mcp-param-n", "7"),
                ("mcp-param-yes", "true"),
            ]
        );
    }

    #[test]
    fn f12_a_tool_that_marks_what_is_not_its_own_is_not_called() {
        for name in ["Authorization", "a\r\nb", "Mcp-Name", ""] {
            let schema = json!({"properties": {"a": {"type": "string", "x-mcp-header": name}}});
            let params = object(json!({"name": "t", "arguments": {"a": "x"}}));
            assert!(modern("tools/call", &params, None, Some(&schema)).is_err(), "{name:?}");
        }
        let schema = json!({"properties": {"a": {"type": "string", "x-mcp-header": "A"}}});
        let params = object(json!({"name": "t", "arguments": {"a": "x".repeat(5000)}}));
        assert!(modern("tools/call", &params, None, Some(&schema)).is_err(), "too long");
    }

    #[test]
    fn the_owners_headers_do_not_speak_the_protocol() {
        let one = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned().into())];
        assert_eq!(owners(&one("x-api-key", "s3cret")).expect("headers").len(), 1);
        for (name, value) in [
            ("Mcp-Session-Id", "s3cret"),
            ("content-type", "s3cret"),
            ("Accept", "s3cret"),
            ("x y", "s3cret"),
            ("x-a", "s3cret\r\nx: y"),
        ] {
            let error = owners(&one(name, value)).expect_err(name).to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
