//! The greeting: what is said first in each era, what the answer must say, and when a server that
//! does not know the one is greeted in the other.

use narthex_gate::upstream::{Greeting, UpstreamFault};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::incoming::garbled;
use super::outgoing::{MODERN, client_info};
use crate::strict;

/// The parameters of `initialize`.
pub(super) fn initialize(declared: &Map<String, Value>) -> Map<String, Value> {
    let mut params = Map::new();
    params.insert("protocolVersion".to_owned(), NEWEST_LEGACY.into());
    params.insert("capabilities".to_owned(), declared.clone().into());
    params.insert("clientInfo".to_owned(), client_info());
    params
}

/// What `server/discover` was answered with.
#[derive(Debug)]
pub(super) enum Discovered {
    Modern(Greeting),
    /// It answered, and speaks only older revisions.
    OlderOnly,
}

pub(super) fn discovered(raw: &RawValue) -> Result<Discovered, UpstreamFault> {
    let mut said = object(raw)?;
    let Some(Value::Array(versions)) = said.get("supportedVersions") else {
        return Err(garbled("server/discover names no revisions"));
    };
    if !versions.iter().any(|version| version == MODERN) {
        let known = versions.iter().filter_map(Value::as_str).any(is_legacy);
        return if known { Ok(Discovered::OlderOnly) } else { Err(no_revision()) };
    }
    let info = said.get("_meta").and_then(|meta| meta.get(SERVER_META_KEY)).cloned();
    let server_info = info.or_else(|| said.remove("serverInfo")).unwrap_or_else(|| json!({}));
    Ok(Discovered::Modern(greeting(true, MODERN.to_owned(), server_info, said)))
}

pub(super) fn initialized(raw: &RawValue) -> Result<Greeting, UpstreamFault> {
    let mut said = object(raw)?;
    let Some(Value::String(revision)) = said.remove("protocolVersion") else {
        return Err(garbled("initialize names no revision"));
    };
    if !is_legacy(&revision) {
        return Err(no_revision());
    }
    let server_info = said.remove("serverInfo").unwrap_or_else(|| json!({}));
    Ok(greeting(false, revision, server_info, said))
}

/// Whether an answer to `server/discover` means that the server knows only `initialize`. What a
/// modern server says when it means no is not a reason to try another way.
pub(super) fn means_legacy(fault: &UpstreamFault) -> bool {
    match fault {
        UpstreamFault::Refused { code: HEADER_MISMATCH | LACKS_CAPABILITY, .. } => false,
        UpstreamFault::Refused { code: OTHER_REVISION, data, .. } => {
            let supported = data.as_ref().and_then(|data| data.get("supported"));
            let mut supported = supported.and_then(Value::as_array).into_iter().flatten();
            supported.any(|version| version.as_str().is_some_and(is_legacy))
        }
        UpstreamFault::Refused { .. } => true,
        _ => false,
    }
}

fn greeting(
    modern: bool,
    revision: String,
    server_info: Value,
    mut said: Map<String, Value>,
) -> Greeting {
    let capabilities = match said.remove("capabilities") {
        Some(Value::Object(capabilities)) => capabilities,
        _ => Map::new(),
    };
    let instructions = match said.remove("instructions") {
        Some(Value::String(instructions)) => Some(instructions),
        _ => None,
    };
    Greeting { modern, revision, server_info, capabilities, instructions }
}

fn object(raw: &RawValue) -> Result<Map<String, Value>, UpstreamFault> {
    match strict::parse(raw.get().as_bytes()) {
        Ok(Value::Object(said)) => Ok(said),
        Ok(_) => Err(garbled("a greeting is no object")),
        Err(fault) => Err(UpstreamFault::Garbled(format!("a greeting is {fault}"))),
    }
}

fn is_legacy(version: &str) -> bool {
    LEGACY.contains(&version)
}

fn no_revision() -> UpstreamFault {
    garbled("it speaks no revision that is spoken here")
}

/// Which lists the server says it announces changes of: what to listen for.
pub(super) fn announces(greeting: &Greeting) -> Map<String, Value> {
    let says = |list: &str| {
        let list = greeting.capabilities.get(list).and_then(|list| list.get("listChanged"));
        list == Some(&Value::Bool(true))
    };
    ["tools", "prompts", "resources"]
        .into_iter()
        .filter(|list| says(list))
        .map(|list| (format!("{list}ListChanged"), Value::Bool(true)))
        .collect()
}

/// Whether a server with a handshake may say something else by itself: to the log, or of a resource.
pub(super) fn speaks_up(greeting: &Greeting) -> bool {
    let resources = greeting.capabilities.get("resources");
    let watches = resources.and_then(|resources| resources.get("subscribe"));
    greeting.capabilities.contains_key("logging") || watches == Some(&Value::Bool(true))
}

/// The revisions with a handshake, newest first.
const LEGACY: &[&str] = &[NEWEST_LEGACY, "2025-06-18", "2025-03-26", "2024-11-05"];
const NEWEST_LEGACY: &str = "2025-11-25";
const SERVER_META_KEY: &str = "io.modelcontextprotocol/serverInfo";
const HEADER_MISMATCH: i64 = -32020;
const LACKS_CAPABILITY: i64 = -32021;
const OTHER_REVISION: i64 = -32022;

#[cfg(test)]
mod tests {
    use narthex_gate::upstream::UpstreamFault;
    use serde_json::value::RawValue;
    use serde_json::{Value, json};

    use super::{Discovered, discovered, initialized, means_legacy};

    fn raw(value: &Value) -> Box<RawValue> {
        RawValue::from_string(value.to_string()).expect("JSON")
    }

    #[test]
    fn only_revisions_that_are_spoken_here_are_agreed_on() {
        for (version, good) in [
            ("2025-11-25", true),
            ("2025-06-18", true),
            ("2025-03-26", true),
            ("2024-11-05", true),
            ("2026-07-28", false),
            ("2024-10-07", false),
            ("DRAFT", false),
        ] {
            let said = json!({"protocolVersion": version, "capabilities": {}, "serverInfo": {}});
            assert_eq!(initialized(&raw(&said)).is_ok(), good, "{version}");
        }
        for (versions, modern) in [
            (json!(["2026-07-28", "2025-11-25"]), Some(true)),
            (json!(["2025-11-25"]), Some(false)),
            (json!(["2027-01-01"]), None),
            (json!([]), None),
            (json!("2026-07-28"), None),
        ] {
            let said =
                discovered(&raw(&json!({"supportedVersions": versions, "capabilities": {}})));
            let said = said.ok().map(|said| matches!(said, Discovered::Modern(_)));
            assert_eq!(said, modern, "{versions}");
        }
        let doubled = RawValue::from_string(
            r#"{"protocolVersion":"2025-11-25","protocolVersion":"2024-11-05"}"#.to_owned(),
        );
        assert!(initialized(&doubled.expect("JSON")).is_err());
    }

    #[test]
    fn a_modern_no_is_not_a_reason_for_an_older_revision() {
        let refused = |code, data: Value| UpstreamFault::Refused {
            code,
            message: String::new(),
            data: Some(Box::new(data)),
        };
        for (fault, legacy) in [
            (refused(-32601, json!({})), true),
            (refused(-32602, json!({})), true),
            (refused(-32600, json!({})), true),
            (refused(-32000, json!({})), true),
            (refused(-32020, json!({})), false),
            (refused(-32021, json!({})), false),
            (refused(-32022, json!({"supported": ["2025-06-18"]})), true),
            (refused(-32022, json!({"supported": ["2027-01-01"]})), false),
            (UpstreamFault::Unauthorized { challenge: None }, false),
            (UpstreamFault::Ended("x".into()), false),
        ] {
            assert_eq!(means_legacy(&fault), legacy, "{fault:?}");
        }
    }
}
