//! Messages to a server, and what each era wants inside them.

use bytes::Bytes;
use narthex_gate::upstream::LogLevel;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::era::{CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY, VERSION_META_KEY};

/// A request under an id of ours.
pub(super) fn request(id: u64, method: &str, params: &Map<String, Value>) -> Bytes {
    written(&Outgoing { jsonrpc: "2.0", id: Some(id), method, params })
}

/// A notification.
pub(super) fn notification(method: &str, params: &Map<String, Value>) -> Bytes {
    written(&Outgoing { jsonrpc: "2.0", id: None, method, params })
}

/// That nobody waits for a question any more.
pub(super) fn cancelled(id: u64) -> Bytes {
    let mut params = Map::new();
    params.insert("requestId".to_owned(), id.into());
    notification("notifications/cancelled", &params)
}

/// An answer to a request of the server's, under its id as it came.
pub(super) fn answer(id: &RawValue, answer: &Result<Value, (i64, String)>) -> Bytes {
    #[derive(Serialize)]
    struct Answer<'a> {
        jsonrpc: &'static str,
        id: &'a RawValue,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Value>,
    }
    let (result, error) = match answer {
        Ok(result) => (Some(result), None),
        Err((code, message)) => (None, Some(json!({"code": code, "message": message}))),
    };
    written(&Answer { jsonrpc: "2.0", id, result, error })
}

/// Puts the envelope's part into the parameters: ours replaces whatever a caller wrote under a key
/// that is the protocol's.
pub(super) fn dress(
    params: &mut Map<String, Value>,
    modern: Option<&Map<String, Value>>,
    token: Option<u64>,
    least: Option<LogLevel>,
) {
    let mut meta = match params.remove("_meta") {
        Some(Value::Object(meta)) => meta,
        _ => Map::new(),
    };
    meta.retain(|key, _| key != "progressToken" && !key.starts_with("io.modelcontextprotocol/"));
    if let Some(capabilities) = modern {
        meta.insert(VERSION_META_KEY.to_owned(), MODERN.into());
        meta.insert(CLIENT_META_KEY.to_owned(), client_info());
        meta.insert(CAPABILITIES_META_KEY.to_owned(), capabilities.clone().into());
        if let Some(least) = least {
            meta.insert(LOG_LEVEL_META_KEY.to_owned(), least.as_str().into());
        }
    }
    if let Some(token) = token {
        meta.insert("progressToken".to_owned(), token.into());
    }
    if !meta.is_empty() {
        params.insert("_meta".to_owned(), meta.into());
    }
}

/// Who we say we are.
pub(super) fn client_info() -> Value {
    json!({"name": "narthex", "version": env!("CARGO_PKG_VERSION")})
}

#[derive(Serialize)]
struct Outgoing<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    #[serde(skip_serializing_if = "Map::is_empty")]
    params: &'a Map<String, Value>,
}

fn written(message: &impl Serialize) -> Bytes {
    // Strings, numbers and maps with string keys: this cannot fail.
    serde_json::to_vec(message).unwrap_or_default().into()
}

/// The revision without a handshake.
pub(super) const MODERN: &str = "2026-07-28";
const CLIENT_META_KEY: &str = "io.modelcontextprotocol/clientInfo";

#[cfg(test)]
mod tests {
    use narthex_gate::upstream::LogLevel;
    use serde_json::{Map, Value, json};

    use super::dress;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    #[test]
    fn b19_the_protocols_keys_are_ours() {
        let said = json!({"a": 1, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "1999-01-01",
            "io.modelcontextprotocol/subscriptionId": "spoofed",
            "progressToken": "theirs", "com.example/kept": true,
        }});
        let mut legacy = object(said.clone());
        dress(&mut legacy, None, None, Some(LogLevel::Info));
        assert_eq!(Value::from(legacy), json!({"a": 1, "_meta": {"com.example/kept": true}}));
        let mut modern = object(said);
        dress(&mut modern, Some(&object(json!({"roots": {}}))), Some(9), Some(LogLevel::Info));
        let meta = &modern["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({"roots": {}}));
        assert_eq!(meta["progressToken"], 9);
        assert_eq!(meta["io.modelcontextprotocol/logLevel"], "info");
        assert!(meta.get("io.modelcontextprotocol/subscriptionId").is_none());
        let mut nothing = object(json!({"_meta": "x"}));
        dress(&mut nothing, None, None, None);
        assert!(nothing.is_empty());
    }
}
