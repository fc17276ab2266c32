//! `{parent}`, `{env:HOME}` and the like in a step's text.

use serde_json::Value;

/// The text with everything filled in that is known; what is not stays as it is written.
pub(super) fn fill(text: &str, arguments: &Value) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let known = after.split_once('}');
        let known = known.and_then(|(key, end)| Some((value(key, arguments)?, end)));
        let (value, end) = known.unwrap_or_else(|| ("{".to_owned(), after));
        filled.push_str(&value);
        rest = end;
    }
    filled + rest
}

fn value(key: &str, arguments: &Value) -> Option<String> {
    match key.split_once(':') {
        Some(("env", name)) => {
            let mut all = std::env::vars_os();
            let (_, value) = all.find(|(known, _)| known == name)?;
            Some(value.to_string_lossy().into_owned())
        }
        Some(("arg", name)) => Some(match arguments.get(name)? {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }),
        _ => match key {
            "pid" => Some(std::process::id().to_string()),
            "parent" => Some(std::os::unix::process::parent_id().to_string()),
            "grandparent" => grandparent().map(|pid| pid.to_string()),
            _ => None,
        },
    }
}

/// Who started whoever started this.
pub(super) fn grandparent() -> Option<u32> {
    let parent = std::os::unix::process::parent_id();
    let stat = std::fs::read_to_string(format!("/proc/{parent}/stat")).ok()?;
    // The name may hold anything, so what comes after its end is read.
    let (_, after) = stat.rsplit_once(')')?;
    after.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::fill;

    #[test]
    fn what_is_known_is_filled_in_and_the_rest_stays() {
        let parent = std::os::unix::process::parent_id();
        let said = fill("/proc/{parent}/{arg:a}/{arg:n}{nothing}{", &json!({"a": "x", "n": 5}));
        assert_eq!(said, format!("/proc/{parent}/x/5{{nothing}}{{"));
    }
}
