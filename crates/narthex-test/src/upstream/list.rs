//! What a server says of itself: greetings and lists.

use serde_json::{Map, Value, json};

use super::Offer;

/// The answer to `server/discover`.
pub(super) fn discovered(offer: &Offer, versions: &[&str]) -> Value {
    let mut said = json!({
        "supportedVersions": versions,
        "capabilities": capabilities(offer),
        "ttlMs": 0, "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": info(offer)},
    });
    instruct(&mut said, offer);
    said
}

/// The answer to `initialize`.
pub(super) fn initialized(offer: &Offer, asked: &Value) -> Value {
    let wanted = asked.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let version = if LEGACY.contains(&wanted) { wanted } else { "2025-11-25" };
    let mut said = json!({"protocolVersion": version, "capabilities": capabilities(offer),
        "serverInfo": info(offer)});
    instruct(&mut said, offer);
    said
}

/// A page of a list; none if the method is no list.
pub(super) fn listed(
    offer: &Offer,
    method: &str,
    params: &Value,
    page: Option<usize>,
) -> Option<Value> {
    let (key, all) = match method {
        "tools/list" => ("tools", &offer.tools),
        "resources/list" => ("resources", &offer.resources),
        "resources/templates/list" => ("resourceTemplates", &offer.templates),
        "prompts/list" => ("prompts", &offer.prompts),
        _ => return None,
    };
    let all = all.as_deref().unwrap_or_default();
    let cursor = params.get("cursor").and_then(Value::as_str);
    let from: usize = cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
    let size = page.unwrap_or(usize::MAX);
    let entries: Vec<_> = all.iter().skip(from).take(size).cloned().collect();
    let mut said = Map::new();
    let next = from.saturating_add(entries.len());
    said.insert(key.to_owned(), entries.into());
    if next < all.len() {
        said.insert("nextCursor".to_owned(), next.to_string().into());
    }
    Some(said.into())
}

/// What a modern result has besides.
pub(super) fn dress(result: &mut Value, method: &str, offer: &Offer) {
    let Some(result) = result.as_object_mut() else { return };
    let mut add = |key: &str, value: Value| {
        if !result.contains_key(key) {
            result.insert(key.to_owned(), value);
        }
    };
    add("resultType", "complete".into());
    if method.ends_with("/list") || method == "resources/read" {
        add("ttlMs", 0.into());
        add("cacheScope", "private".into());
    }
    add("_meta", json!({"io.modelcontextprotocol/serverInfo": info(offer)}));
}

/// Whether something of this name is listed.
pub(super) fn has(entries: Option<&[Value]>, key: &str, name: &str) -> bool {
    let mut entries = entries.unwrap_or_default().iter();
    entries.any(|entry| entry.get(key).and_then(Value::as_str) == Some(name))
}

fn info(offer: &Offer) -> Value {
    let info = || json!({"name": "hostile", "version": "1.0.0"});
    offer.server_info.clone().unwrap_or_else(info)
}

fn capabilities(offer: &Offer) -> Value {
    if let Some(said) = &offer.capabilities {
        return said.clone();
    }
    let mut said = Map::new();
    for list in super::announce::changed(offer) {
        said.insert(list.to_owned(), json!({"listChanged": true}));
    }
    said.into()
}

fn instruct(said: &mut Value, offer: &Offer) {
    if let (Some(text), Some(said)) = (&offer.instructions, said.as_object_mut()) {
        said.insert("instructions".to_owned(), text.clone().into());
    }
}

/// The newer revision.
pub(super) const MODERN: &str = "2026-07-28";
/// The older ones.
pub(super) const LEGACY: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
