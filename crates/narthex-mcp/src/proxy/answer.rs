//! An answer from the server, passed on as it is: unknown fields and key order survive.

pub(super) mod explain;

use bytes::Bytes;
use http::HeaderValue;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::message::Id;

/// A JSON-RPC message, looked at only as far as needed.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    raw: &'a [u8],
    parts: Parts<'a>,
}

#[derive(Debug, Deserialize)]
struct Parts<'a> {
    #[serde(borrow)]
    jsonrpc: &'a RawValue,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl<'a> Answer<'a> {
    /// None if the bytes are no JSON-RPC message.
    pub(super) fn read(raw: &'a [u8]) -> Option<Self> {
        let raw = raw.trim_ascii();
        let parts: Parts<'a> = serde_json::from_slice(raw).ok()?;
        (parts.jsonrpc.get() == "\"2.0\"").then_some(Self { raw, parts })
    }

    pub(super) fn is_response(&self) -> bool {
        self.parts.result.is_some() || self.parts.error.is_some()
    }

    /// One line; an error that could not say whose it is gets the request's id.
    pub(super) fn for_request(&self, id: &Id) -> Bytes {
        match (self.parts.id, self.parts.error) {
            (None, Some(error)) => {
                let id = serde_json::to_string(id).unwrap_or_default();
                let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, error.get());
                one_line(text.as_bytes())
            }
            _ => one_line(self.raw),
        }
    }
}

/// The revision an answer to `initialize` names.
pub(super) fn agreed_version(answer: &Answer<'_>) -> Option<HeaderValue> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Agreed {
        protocol_version: String,
    }
    let agreed: Agreed = serde_json::from_str(answer.parts.result?.get()).ok()?;
    HeaderValue::from_str(&agreed.protocol_version).ok()
}

/// JSON on one line: a line break in JSON is only ever space between two tokens.
pub(super) fn one_line(json: &[u8]) -> Bytes {
    json.trim_ascii()
        .iter()
        .map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte })
        .collect::<Vec<u8>>()
        .into()
}

#[cfg(test)]
mod tests {
    use super::Answer;
    use crate::message::Id;

    #[test]
    fn answers_pass_unchanged_and_stray_errors_find_their_request() {
        let id = Id::Text("a".into());
        for (raw, line) in [
            (r#"  {"jsonrpc":"2.0","id":"a","result":{"z":1,"a":1.50}}"#, None),
            ("{\"jsonrpc\":\"2.0\",\n\"id\":\"a\",\r\n\"result\":{}}", None),
            (
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
                Some(r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32700,"message":"x"}}"#),
            ),
        ] {
            let answer = Answer::read(raw.as_bytes()).expect("an answer");
            let expected =
                line.map_or_else(|| raw.trim().replace(['\n', '\r'], " "), str::to_owned);
            assert_eq!(answer.for_request(&id), expected.as_bytes());
        }
        for raw in ["", "{}", "[]", "x", r#"{"error":{"code":"unauthorized"}}"#] {
            assert!(Answer::read(raw.as_bytes()).is_none(), "{raw}");
        }
    }
}
