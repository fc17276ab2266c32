//! Values as messages show them.

use crate::value::{Value, date_text, moment_text};

/// A value as a message shows it.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(yes) => yes.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Text(text) => {
            let short: String = text.chars().take(SHOWN).collect();
            let more = if short.len() < text.len() { "…" } else { "" };
            format!("\"{short}{more}\"")
        }
        Value::Date(day) => date_text(*day),
        Value::DateTime(moment) => moment_text(*moment),
        Value::List(_) => "a list".to_owned(),
        Value::Vector(_) => "a vector".to_owned(),
    }
}

/// How much of a text is shown.
const SHOWN: usize = 40;
