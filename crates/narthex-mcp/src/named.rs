//! Headers that repeat the body, so that a hop can route without reading it: they must agree.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, HeaderName};
use serde_json::{Map, Value};

use crate::era::only;
use crate::fault::Fault;
use crate::message::Message;

/// Checks `Mcp-Method` and `Mcp-Name` of a modern message.
pub(crate) fn check_names(message: &Message, headers: &HeaderMap) -> Result<(), Fault> {
    match decoded(headers, &METHOD_HEADER)? {
        Some(method) if method == message.method => {}
        Some(_) => {
            return Err(Fault::header_mismatch("the Mcp-Method header and the body disagree"));
        }
        // A notification runs nothing, so nothing was routed by it.
        None if message.id.is_none() => {}
        None => return Err(Fault::header_mismatch("the Mcp-Method header is missing")),
    }
    match (decoded(headers, &NAME_HEADER)?, name_of(message)) {
        (Some(header), Some(name)) if header != name => {
            Err(Fault::header_mismatch("the Mcp-Name header and the body disagree"))
        }
        (None, Some(_)) if message.id.is_some() => {
            Err(Fault::header_mismatch("the Mcp-Name header is missing"))
        }
        (Some(_), None) if names_something(&message.method) => {
            Err(Fault::header_mismatch("the Mcp-Name header names what the body does not"))
        }
        _ => Ok(()),
    }
}

/// What a message names, where its method names something.
pub(crate) fn name_of(message: &Message) -> Option<&str> {
    name_in(&message.method, &message.params)
}

/// What these parameters name, where this method names something.
pub(crate) fn name_in<'a>(method: &str, params: &'a Map<String, Value>) -> Option<&'a str> {
    params.get(name_key(method)?).and_then(Value::as_str)
}

/// A value as a header can carry it: as it is, or in base64.
pub(crate) fn encoded(value: &str) -> String {
    let plain = !value.is_empty()
        && value.bytes().all(|b| (b' '..=b'~').contains(&b))
        && value.trim() == value
        && !value.starts_with(OPEN);
    if plain { value.to_owned() } else { format!("{OPEN}{}{CLOSE}", BASE64_STANDARD.encode(value)) }
}

fn decoded(headers: &HeaderMap, name: &HeaderName) -> Result<Option<String>, Fault> {
    let Some(value) = only(headers, name)? else { return Ok(None) };
    let Some(inner) = value.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE)) else {
        return Ok(Some(value.to_owned()));
    };
    BASE64_STANDARD
        .decode(inner)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .map(Some)
        .ok_or_else(|| Fault::header_mismatch("an MCP header is not valid base64"))
}

fn names_something(method: &str) -> bool {
    name_key(method).is_some()
}

fn name_key(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

pub(crate) const METHOD_HEADER: HeaderName = HeaderName::from_static("mcp-method");
pub(crate) const NAME_HEADER: HeaderName = HeaderName::from_static("mcp-name");
const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";

#[cfg(test)]
mod tests {
    use super::{NAME_HEADER, decoded, encoded};
    use http::{HeaderMap, HeaderValue};

    #[test]
    fn any_name_survives_the_way_through_a_header() {
        for name in ["read", "a b", " padded ", "", "r\u{e9}ad", "a\r\nX: y", "=?base64?eA==?="] {
            let mut headers = HeaderMap::new();
            headers.insert(NAME_HEADER, HeaderValue::from_str(&encoded(name)).expect("a header"));
            assert_eq!(decoded(&headers, &NAME_HEADER), Ok(Some(name.to_owned())), "{name:?}");
        }
    }
}
