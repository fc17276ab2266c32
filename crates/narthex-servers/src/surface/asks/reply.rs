//! What a client answers, before the server sees it: what the protocol has a place for, of what was
//! asked, and not too much of it.

use narthex_gate::AskKind;
use serde_json::{Map, Value, json};

/// The answer as the server gets it; none if it is none.
pub(super) fn taken(kind: AskKind, names: &[String], said: &Value) -> Option<Value> {
    let said = said.as_object()?;
    match kind {
        AskKind::Url => action(said).map(|action| json!({"action": action})),
        AskKind::Form => form(names, said),
        AskKind::Sampling => sampled(said),
        AskKind::Roots => roots(said),
    }
}

fn action(said: &Map<String, Value>) -> Option<&str> {
    let action = said.get("action")?.as_str()?;
    ["accept", "decline", "cancel"].contains(&action).then_some(action)
}

fn form(names: &[String], said: &Map<String, Value>) -> Option<Value> {
    let action = action(said)?;
    if action != "accept" {
        return Some(json!({"action": action}));
    }
    let empty = Map::new();
    let content = match said.get("content") {
        Some(Value::Object(content)) => content,
        None => &empty,
        Some(_) => return None,
    };
    let flat = |value: &Value| match value {
        Value::String(_) | Value::Number(_) | Value::Bool(_) => true,
        Value::Array(items) => items.iter().all(Value::is_string),
        Value::Null | Value::Object(_) => false,
    };
    let fits = content.iter().all(|(name, value)| names.contains(name) && flat(value));
    let answer = json!({"action": "accept", "content": content});
    (fits && answer.to_string().len() <= MAX_FORM).then_some(answer)
}

fn sampled(said: &Map<String, Value>) -> Option<Value> {
    let known = ["role", "content", "model", "stopReason"];
    let mut answer = Map::new();
    for name in known {
        if let Some(value) = said.get(name) {
            answer.insert(name.to_owned(), value.clone());
        }
    }
    let whole = answer.contains_key("content") && answer.get("role").is_some_and(Value::is_string);
    let answer = Value::from(answer);
    (whole && answer.to_string().len() <= MAX_SAMPLED).then_some(answer)
}

/// Folders, and what they are called.
fn roots(said: &Map<String, Value>) -> Option<Value> {
    let Some(Value::Array(roots)) = said.get("roots") else { return None };
    let one = |root: &Value| {
        let uri = root.get("uri")?.as_str().filter(|uri| uri.starts_with("file://"))?;
        Some(match root.get("name").and_then(Value::as_str) {
            Some(name) => json!({"uri": uri, "name": name}),
            None => json!({"uri": uri}),
        })
    };
    let roots: Vec<Value> = roots.iter().map(one).collect::<Option<_>>()?;
    let answer = json!({"roots": roots});
    (answer.to_string().len() <= MAX_FORM).then_some(answer)
}

const MAX_FORM: usize = 64 * 1024;
const MAX_SAMPLED: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use narthex_gate::AskKind::{Form, Roots, Sampling, Url};
    use serde_json::{Value, json};

    use super::taken;

    #[test]
    fn an_answer_holds_what_was_asked_and_nothing_else() {
        let names = ["name".to_owned()];
        let long = "x".repeat(300_000);
        for (kind, said, answer) in [
            (
                Form,
                json!({"action": "accept", "content": {"name": "a"}, "x": 1, "_meta": {}}),
                Some(json!({"action": "accept", "content": {"name": "a"}})),
            ),
            (
                Form,
                json!({"action": "decline", "content": {"name": "a"}}),
                Some(json!({"action": "decline"})),
            ),
            (Form, json!({"action": "accept", "content": {"other": "a"}}), None),
            (Form, json!({"action": "accept", "content": {"name": {"a": 1}}}), None),
            (Form, json!({"action": "accept", "content": {"name": long}}), None),
            (Form, json!({"action": "run"}), None),
            (Form, json!("accept"), None),
            (
                Url,
                json!({"action": "accept", "content": {"name": "a"}}),
                Some(json!({"action": "accept"})),
            ),
            (
                Sampling,
                json!({"role": "assistant", "content": {"type": "text", "text": "a"}, "model": "m", "tools": []}),
                Some(
                    json!({"role": "assistant", "content": {"type": "text", "text": "a"}, "model": "m"}),
                ),
            ),
            (Sampling, json!({"role": "assistant", "content": long}), None),
            (
                Roots,
                json!({"roots": [{"uri": "file:///a", "name": "a", "_meta": {}}, {"uri": "file:///b"}], "x": 1}),
                Some(json!({"roots": [{"uri": "file:///a", "name": "a"}, {"uri": "file:///b"}]})),
            ),
            (Roots, json!({"roots": [{"uri": "https://a.example"}]}), None),
            (Roots, json!({"roots": [{"uri": format!("file:///{long}")}]}), None),
            (Roots, json!({"roots": "file:///a"}), None),
            (Roots, json!({}), None),
            (Sampling, json!({"action": "accept"}), None),
        ] {
            let got: Option<Value> = taken(kind, &names, &said);
            assert_eq!(got, answer, "{kind:?} {:.80}", said.to_string());
        }
    }
}
