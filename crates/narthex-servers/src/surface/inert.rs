//! What would run where it is shown is handed on as text, and what lies about what it is as bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Goes through the contents of a result. Says how many were made inert.
pub(super) fn make_inert(value: &mut Value) -> usize {
    let mut made = 0;
    for list in ["content", "contents"] {
        for item in value.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            made += usize::from(one(item));
            if let Some(resource) = item.get_mut("resource") {
                made += usize::from(one(resource));
            }
        }
    }
    for message in value.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(content) = message.get_mut("content") {
            made += usize::from(one(content));
            if let Some(resource) = content.get_mut("resource") {
                made += usize::from(one(resource));
            }
        }
    }
    made
}

fn one(item: &mut Value) -> bool {
    let Some(map) = item.as_object_mut() else { return false };
    let Some(mime) = map.get("mimeType").and_then(Value::as_str) else { return false };
    let essence = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let bytes = map.get("data").or_else(|| map.get("blob")).and_then(Value::as_str);
    let inert =
        match bytes {
            _ if ACTIVE.contains(&essence.as_str()) || essence.ends_with("+xml") => {
                if bytes.is_some() { BYTES } else { TEXT }
            }
            Some(data) if lies(&essence, data) || is_more(&essence, data) => BYTES,
            // A picture is bytes; what comes as text is none.
            None if is_shown(&essence) => TEXT,
            _ => return false,
        };
    map.insert("mimeType".to_owned(), inert.into());
    true
}

/// Whether something is shown or played where it is opened.
fn is_shown(mime: &str) -> bool {
    ["image/", "audio/", "video/"].iter().any(|kind| mime.starts_with(kind))
}

/// Whether what is a picture, a sound or a document is a page or a script as well: a reader that does
/// not believe what it is called would run it.
fn is_more(mime: &str, data: &str) -> bool {
    if !is_shown(mime) && mime != "application/pdf" {
        return false;
    }
    let Ok(mut bytes) = STANDARD.decode(data) else { return false };
    bytes.make_ascii_lowercase();
    RUNS.iter().any(|mark| bytes.windows(mark.len()).any(|piece| piece == *mark))
}

/// Whether a picture or a sound is none.
fn lies(mime: &str, data: &str) -> bool {
    // The first few bytes are enough, and base64 goes by fours.
    let head = data.get(..data.len().min(64) & !3).unwrap_or_default();
    let Ok(bytes) = STANDARD.decode(head) else { return false };
    let starts: &[&[u8]] = match mime {
        "image/png" => &[b"\x89PNG"],
        "image/jpeg" | "image/jpg" => &[b"\xff\xd8\xff"],
        "image/gif" => &[b"GIF87a", b"GIF89a"],
        "image/webp" | "audio/wav" | "audio/x-wav" => &[b"RIFF"],
        "application/pdf" => &[b"%PDF"],
        _ => return false,
    };
    !starts.iter().any(|start| bytes.starts_with(start))
}

/// What begins something that runs. Long enough not to be in a picture by chance.
const RUNS: &[&[u8]] =
    &[b"<script", b"<iframe", b"<html", b"<!doctype", b"<?php", b"<svg ", b"<svg>", b"javascript:"];
const TEXT: &str = "text/plain";
const BYTES: &str = "application/octet-stream";
const ACTIVE: &[&str] = &[
    "text/html",
    "application/xhtml+xml",
    "text/javascript",
    "application/javascript",
    "application/ecmascript",
    "text/ecmascript",
    "application/x-javascript",
    "application/wasm",
    "text/xml",
    "application/xml",
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::make_inert;

    #[test]
    fn f30_what_would_run_does_not() {
        let png = "iVBORw0KGgoAAAANSUhEUg==";
        let html = "PGh0bWw+PHNjcmlwdD4=";
        for (item, mime) in [
            (json!({"uri": "ui://x", "mimeType": "text/html", "text": "<b>"}), "text/plain"),
            (json!({"mimeType": "TEXT/HTML;profile=mcp-app", "text": "<b>"}), "text/plain"),
            (json!({"mimeType": "image/svg+xml", "text": "<svg>"}), "text/plain"),
            (json!({"mimeType": "text/html", "blob": html}), "application/octet-stream"),
            (json!({"mimeType": "image/png", "data": html}), "application/octet-stream"),
            (json!({"mimeType": "image/png", "data": png}), "image/png"),
            (
                json!({"mimeType": "image/gif", "data": "R0lGODlhLyo8c2NyaXB0PmFsZXJ0KDEpPC9zY3JpcHQ+Ki8="}),
                "application/octet-stream",
            ),
            (json!({"mimeType": "image/gif", "data": "R0lGODlhAQABAAAAACw="}), "image/gif"),
            (json!({"mimeType": "image/png", "text": "<svg onload=alert(1)>"}), "text/plain"),
            (json!({"mimeType": "text/plain", "text": "<script>"}), "text/plain"),
            (json!({"mimeType": "application/json", "text": "{}"}), "application/json"),
        ] {
            let mut results = [
                json!({"content": [item]}),
                json!({"contents": [item]}),
                json!({"content": [{"type": "resource", "resource": item}]}),
                json!({"messages": [{"role": "user", "content": item}]}),
            ];
            for result in &mut results {
                let changed = make_inert(result);
                let shown = result.to_string();
                assert!(shown.contains(&format!("\"mimeType\":\"{mime}\"")), "{shown}");
                assert_eq!(changed, usize::from(item["mimeType"] != mime), "{shown}");
            }
        }
    }
}
