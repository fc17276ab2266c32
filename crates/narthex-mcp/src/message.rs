//! The JSON-RPC envelope: exactly four keys, each of one shape.
//!
//! A request without an `id` is a notification and runs nothing, whatever its method says.
//! Batches are refused (revision 2025-03-26 allowed them, no later one does), and so are
//! responses: this server never asks a client anything by itself, so nothing can be answered.

use narthex_core::{Bound, Consent, RequestId};
use serde::Serialize;
use serde_json::{Map, Number, Value};

use crate::fault::Fault;
use crate::strict;

/// A request or a notification, strictly read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Message {
    /// None on a notification.
    pub(crate) id: Option<Id>,
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
}

/// What a client calls its request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub(crate) enum Id {
    Number(Number),
    Text(String),
}

/// Bytes that are no message, with the id if it could be read.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) id: Option<Id>,
    pub(crate) fault: Fault,
}

impl Message {
    /// Reads one message.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        let value = strict::parse(bytes)
            .map_err(|fault| Unreadable { id: None, fault: Fault::unparsable(fault) })?;
        let Value::Object(map) = value else {
            return Err(refused(None, "a message is one JSON object; batches are not served"));
        };
        Self::from_map(map)
    }

    fn from_map(mut map: Map<String, Value>) -> Result<Self, Unreadable> {
        let id = match map.swap_remove("id") {
            None => None,
            Some(value) => Some(Id::read(value).ok_or_else(|| {
                refused(None, "id must be an integer or a string of at most 128 characters")
            })?),
        };
        let no = |why| refused(id.clone(), why);
        if map.swap_remove("jsonrpc") != Some(Value::String("2.0".to_owned())) {
            return Err(no("jsonrpc must be \"2.0\""));
        }
        let method = match map.swap_remove("method") {
            Some(Value::String(method)) if fits(&method) => method,
            _ => return Err(no("method must be a string of at most 128 characters")),
        };
        let params = match map.swap_remove("params") {
            None => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return Err(no("params must be an object")),
        };
        if !map.is_empty() {
            return Err(no("a message has the keys jsonrpc, id, method and params, and no other"));
        }
        Ok(Self { id, method, params })
    }

    /// `params._meta`, if it is there and an object.
    pub(crate) fn meta(&self) -> Option<&Map<String, Value>> {
        self.params.get("_meta").and_then(Value::as_object)
    }

    /// What the client consents to with this message.
    pub(crate) fn consent(&self) -> Consent {
        Consent::parse(self.meta().and_then(|meta| meta.get(CONSENT_META_KEY)))
    }

    /// The id as the ledger keeps it.
    pub(crate) fn request_id(&self) -> Option<RequestId> {
        self.id.as_ref().map(|id| match id {
            Id::Number(number) => RequestId::new(&number.to_string()),
            Id::Text(text) => RequestId::new(text),
        })
    }
}

impl Id {
    fn read(value: Value) -> Option<Self> {
        match value {
            Value::Number(number) if !number.is_f64() => Some(Self::Number(number)),
            Value::String(text) if text.chars().nth(Bound::REQUEST_ID_CHARS).is_none() => {
                Some(Self::Text(text))
            }
            _ => None,
        }
    }
}

fn refused(id: Option<Id>, why: &'static str) -> Unreadable {
    Unreadable { id, fault: Fault::invalid_request(why) }
}

fn fits(method: &str) -> bool {
    !method.is_empty() && method.chars().nth(MAX_METHOD_CHARS).is_none()
}

/// Where a client says, request by request, how far it consents to go.
pub(crate) const CONSENT_META_KEY: &str = "narthex/consentCeiling";
const MAX_METHOD_CHARS: usize = 128;

#[cfg(test)]
mod tests {
    use super::{Id, Message};

    #[test]
    fn an_envelope_has_four_keys_of_one_shape() {
        let long = "x".repeat(129);
        for (text, code) in [
            ("", -32700),
            ("[]", -32600),
            ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600),
            ("\"x\"", -32600),
            ("null", -32600),
            ("{}", -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#, -32700),
            (r#"{"jsonrpc":"2.0","id":1,"Method":"a"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","PARAMS":{}}"#, -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"param\u{17f}\":{}}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"to\u{212a}en\":1}", -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method\u0000":"a"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":""}"#, -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, -32600),
            (r#"{"id":1,"method":"a"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1.0,"method":"a"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":-0,"method":"a"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1e400,"method":"a"}"#, -32700),
            (r#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"a"}"#, -32700),
            (&format!(r#"{{"jsonrpc":"2.0","id":"{long}","method":"a"}}"#), -32600),
            (&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{long}"}}"#), -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[]}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":null}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a"} x"#, -32700),
        ] {
            let got = Message::read(text.as_bytes()).map_err(|bad| bad.fault.error.code.0);
            assert_eq!(got, Err(code), "{text:.120}");
        }
    }

    #[test]
    fn a_readable_id_is_told_even_with_an_unreadable_message() {
        let read = |text: &str| Message::read(text.as_bytes()).map_err(|bad| bad.id);
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","id":"a","x":1,"method":"m"}"#),
            Err(Some(Id::Text("a".into())))
        );
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":[],"method":"m"}"#), Err(None));
    }
}
