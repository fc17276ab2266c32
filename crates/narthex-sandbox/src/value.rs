//! What a call answered, as a program sees it.

use narthex_core::{Binary, Reason, RunAnswer, Thrown};
use narthex_gate::{CallError, ToolOutput};
use serde_json::{Map, Value};

/// The answer of a call that was made.
pub(crate) fn answered(output: ToolOutput) -> RunAnswer {
    match output.raw {
        None => value(output.structured),
        Some(raw) => match serde_json::from_str(raw.json.get()) {
            Ok(Value::Object(result)) => foreign(result),
            _ => value(Value::Null),
        },
    }
}

/// A call that was not answered as it should, as a program can catch it; none where the run cannot go
/// on.
pub(crate) fn thrown(error: &CallError, parameters: impl FnOnce() -> String) -> Option<Thrown> {
    let thrown = |code: &str, message: String| Thrown {
        code: code.to_owned(),
        message,
        parameters: None,
        retryable: false,
    };
    Some(match error {
        CallError::UnknownTool { .. } => {
            thrown(Reason::UnknownTool.code(), "there is no such function any more".to_owned())
        }
        CallError::Refused { reason, message } => {
            let parameters = (*reason == Reason::InvalidArguments).then(parameters);
            let code = match reason {
                Reason::ApprovalDenied => "denied",
                other => other.code(),
            };
            let retryable = matches!(reason, Reason::Conflict | Reason::UpstreamFailed);
            Thrown { parameters, retryable, ..thrown(code, message.clone()) }
        }
        CallError::Upstream { code, message, .. } => {
            thrown("upstream_error", format!("the server answered with error {code}: {message}"))
        }
        CallError::Input(_) => thrown(
            Reason::InputNeeded.code(),
            "the server wants to ask something first, which it cannot while a program runs; call it directly"
                .to_owned(),
        ),
        CallError::Overloaded => {
            Thrown { retryable: true, ..thrown("overloaded", "too many calls are under way".to_owned()) }
        }
        CallError::Internal => thrown(Reason::Internal.code(), Reason::Internal.message().to_owned()),
        CallError::Waiting(_) | CallError::Unavailable | CallError::Unauthorized => return None,
    })
}

/// A result of somebody else's: its structured content, else what its parts say.
fn foreign(mut result: Map<String, Value>) -> RunAnswer {
    let parts = match result.swap_remove("content") {
        Some(Value::Array(parts)) => parts,
        _ => Vec::new(),
    };
    if result.get("isError") == Some(&Value::Bool(true)) {
        let text: Vec<&str> = parts.iter().filter_map(text).collect();
        return RunAnswer::Thrown(Thrown {
            code: "tool_error".to_owned(),
            message: text.join("\n"),
            parameters: None,
            retryable: false,
        });
    }
    if let Some(structured) = result.swap_remove("structuredContent")
        && !structured.is_null()
    {
        return value(structured);
    }
    if !parts.is_empty() && parts.iter().all(|part| text(part).is_some()) {
        let text = parts.iter().filter_map(text).collect::<Vec<_>>().join("\n");
        return value(serde_json::from_str(&text).unwrap_or(Value::String(text)));
    }
    let mut binaries = Vec::new();
    let single = parts.len() == 1;
    let told = parts.into_iter().enumerate().map(|(place, part)| {
        let at = if single { String::new() } else { format!("/{place}") };
        told(part, &at, &mut binaries)
    });
    let mut told: Vec<Value> = told.collect();
    let value = if single { told.pop().unwrap_or(Value::Null) } else { Value::Array(told) };
    RunAnswer::Value { value, binaries }
}

/// One part of a result. Bytes leave a null behind.
fn told(mut part: Value, at: &str, binaries: &mut Vec<Binary>) -> Value {
    if let Some(text) = text(&part) {
        return Value::String(text.to_owned());
    }
    let mut holds_bytes = |holder: &mut Value, key: &str| {
        let mime = holder.get("mimeType").and_then(Value::as_str);
        let mime = mime.unwrap_or("application/octet-stream").to_owned();
        let Some(Value::String(base64)) = holder.get_mut(key).map(Value::take) else {
            return false;
        };
        binaries.push(Binary { at: at.to_owned(), mime, base64 });
        true
    };
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let bytes = match kind.as_str() {
        "image" | "audio" => holds_bytes(&mut part, "data"),
        "resource" => match part.get_mut("resource") {
            Some(resource) if resource.get("blob").is_some() => holds_bytes(resource, "blob"),
            Some(resource) if resource.get("text").is_some() => {
                return resource.get_mut("text").map(Value::take).unwrap_or_default();
            }
            _ => false,
        },
        _ => false,
    };
    if bytes { Value::Null } else { part }
}

fn text(part: &Value) -> Option<&str> {
    if part.get("type")?.as_str()? == "text" { part.get("text")?.as_str() } else { None }
}

const fn value(value: Value) -> RunAnswer {
    RunAnswer::Value { value, binaries: Vec::new() }
}

#[cfg(test)]
mod tests {
    use narthex_core::{Binary, RunAnswer};
    use serde_json::{Value, json};

    use super::foreign;

    #[test]
    fn results_become_what_a_program_wants_of_them() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let image = json!({"type": "image", "data": "aGk=", "mimeType": "image/png"});
        let binary = |at: &str| Binary {
            at: at.to_owned(),
            mime: "image/png".to_owned(),
            base64: "aGk=".to_owned(),
        };
        let cases: Vec<(Value, Value, Vec<Binary>)> = vec![
            (
                json!({"structuredContent": {"a": 1}, "content": [text("x")]}),
                json!({"a": 1}),
                vec![],
            ),
            (json!({"content": [text("plain")]}), json!("plain"), vec![]),
            (json!({"content": [text("{\"n\":[1]}")]}), json!({"n": [1]}), vec![]),
            (json!({"content": [text("a"), text("b")]}), json!("a\nb"), vec![]),
            (json!({"content": [image]}), Value::Null, vec![binary("")]),
            (json!({"content": [text("a"), image]}), json!(["a", null]), vec![binary("/1")]),
            (
                json!({"content": [{"type": "resource", "resource": {"uri": "x:y", "text": "t"}}]}),
                json!("t"),
                vec![],
            ),
            (
                json!({"content": [{"type": "resource_link", "uri": "x:y", "name": "n"}]}),
                json!({"type": "resource_link", "uri": "x:y", "name": "n"}),
                vec![],
            ),
            (json!({"content": []}), json!([]), vec![]),
            (json!({}), json!([]), vec![]),
        ];
        for (result, expected, bytes) in cases {
            let Value::Object(map) = result.clone() else { unreachable!() };
            let expected = RunAnswer::Value { value: expected, binaries: bytes };
            assert_eq!(foreign(map), expected, "{result}");
        }
        let Value::Object(failed) = json!({"isError": true, "content": [text("no")]}) else {
            unreachable!()
        };
        assert!(matches!(foreign(failed), RunAnswer::Thrown(t) if t.message == "no"));
    }
}
