//! The numbers of rows: digests of their names.
//!
//! A row has the same number on every line and in every process, so that two branches that add the
//! same thing add the same row, and loading a file twice changes nothing. The graph's salt keeps
//! anybody outside from finding two names with one number.

use narthex_core::canonical_json;
use narthex_store::RowNo;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::schema::Kind;
use crate::value::{GroupKey, Value, date_text, moment_text, parse_date};

/// The number of a node: of its type's slot and its key text.
pub fn node_number(salt: &[u8; 16], type_slot: &str, key: &str) -> RowNo {
    number(salt, "narthex node v1", &[type_slot, key])
}

/// The number of an edge: of its type's slot, the slot and key text of both its ends, and the
/// values of its own key, if it has one.
pub fn edge_number(
    salt: &[u8; 16],
    edge_slot: &str,
    from: (&str, &str),
    to: (&str, &str),
    key_values: &[Value],
) -> RowNo {
    let keys: Vec<_> = key_values.iter().map(|value| key_part(&value.group_key())).collect();
    let mut parts = vec![edge_slot, from.0, from.1, to.0, to.1];
    parts.extend(keys.iter().map(String::as_str));
    number(salt, "narthex edge v1", &parts)
}

/// The text of a node's key: text as it is, numbers in decimal, days as they are written. None if
/// the value is not of the kind, or the kind cannot be a key.
pub fn key_text(kind: &Kind, value: &Value) -> Option<String> {
    match (kind, value) {
        (Kind::String | Kind::Enum(_), Value::Text(text)) => Some(text.clone()),
        (Kind::I32 | Kind::I64 | Kind::U32 | Kind::U64, Value::Int(number)) => {
            Some(number.to_string())
        }
        (Kind::Date, Value::Date(day)) => Some(date_text(*day)),
        _ => None,
    }
}

/// The value that a key text stands for; there is one text for each.
pub fn key_value(kind: &Kind, text: &str) -> Option<Value> {
    let value = match kind {
        Kind::String => Value::Text(text.to_owned()),
        Kind::Enum(words) => Value::Text(words.iter().find(|word| word.as_str() == text)?.clone()),
        Kind::I32 => Value::Int(text.parse::<i32>().ok()?.into()),
        Kind::I64 => Value::Int(text.parse::<i64>().ok()?.into()),
        Kind::U32 => Value::Int(text.parse::<u32>().ok()?.into()),
        Kind::U64 => Value::Int(text.parse::<u64>().ok()?.into()),
        Kind::Date => Value::Date(parse_date(text)?),
        Kind::Blob
        | Kind::Bool
        | Kind::F32
        | Kind::F64
        | Kind::DateTime
        | Kind::Vector(_)
        | Kind::List(_) => return None,
    };
    // `+1` and `007` can be read, and are not how these numbers are written.
    (key_text(kind, &value)? == text).then_some(value)
}

/// A value with what it is, as one text: unlike values have unlike texts. Kept in stores, so never
/// to be changed.
pub(super) fn key_part(key: &GroupKey) -> String {
    match key {
        GroupKey::Null => "null".to_owned(),
        GroupKey::Bool(yes) => format!("bool {yes}"),
        GroupKey::Int(number) => format!("int {number}"),
        GroupKey::Float(bits) => format!("float {bits}"),
        GroupKey::Text(text) => format!("text {text}"),
        GroupKey::Date(day) => format!("date {}", date_text(*day)),
        GroupKey::DateTime(moment) => format!("moment {}", moment_text(*moment)),
        GroupKey::List(items) => {
            let items: Vec<_> = items.iter().map(key_part).collect();
            format!("list {}", canonical_json(&json!(items)))
        }
        GroupKey::Vector(bits) => format!("vector {bits:?}"),
    }
}

/// The first 63 bits of the digest of these, each told apart by its length.
fn number(salt: &[u8; 16], what: &str, parts: &[&str]) -> RowNo {
    let mut hash = Sha256::new();
    hash.update(salt);
    for part in std::iter::once(&what).chain(parts) {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    let digest = hash.finalize();
    let (first, _) = digest.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
    RowNo(i64::from_be_bytes(*first) & i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{edge_number, key_text, key_value, node_number};
    use crate::schema::Kind;
    use crate::value::Value;
    use narthex_store::RowNo;

    #[test]
    fn numbers_stay_what_they_are() {
        // Rows are stored under these: a change here loses every graph there is.
        assert_eq!(node_number(&[7; 16], "Person", "ada"), RowNo(NODE));
        let edge = edge_number(
            &[7; 16],
            "Knows",
            ("Person", "ada"),
            ("Person", "bob"),
            &[Value::Int(1), Value::Text("x".to_owned()), Value::Null],
        );
        assert_eq!(edge, RowNo(EDGE));
    }
    const NODE: i64 = 8_627_766_502_657_738_263;
    const EDGE: i64 = 8_140_220_428_559_888_963;

    #[test]
    fn unlike_names_have_unlike_numbers() {
        let salt = [0; 16];
        let text = |text: &str| Value::Text(text.to_owned());
        let edge = |slot: &str, from, to, key: &[Value]| edge_number(&salt, slot, from, to, key);
        let numbers = [
            node_number(&salt, "A", "b"),
            node_number(&[1; 16], "A", "b"),
            node_number(&salt, "Ab", ""),
            node_number(&salt, "", "Ab"),
            node_number(&salt, "A\0", "b"),
            edge("A", ("b", "c"), ("d", "e"), &[]),
            edge("A", ("b", "cd"), ("", "e"), &[]),
            edge("A", ("d", "e"), ("b", "c"), &[]),
            edge("A", ("b", "c"), ("d", "e"), &[Value::Null]),
            edge("A", ("b", "c"), ("d", "e"), &[Value::Int(1)]),
            edge("A", ("b", "c"), ("d", "e"), &[text("1")]),
            edge("A", ("b", "c"), ("d", "e"), &[text("int 1")]),
            edge("A", ("b", "c"), ("d", "e"), &[text("1"), text("")]),
            edge("A", ("b", "c"), ("d", "e"), &[Value::List(vec![text("a"), text("b")])]),
            edge("A", ("b", "c"), ("d", "e"), &[Value::List(vec![text("a\",\"text b")])]),
        ];
        assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), numbers.len());
        assert!(numbers.iter().all(|number| number.0 >= 0));
        let float = edge("A", ("b", "c"), ("d", "e"), &[Value::Float(1.0)]);
        assert_eq!(float, edge("A", ("b", "c"), ("d", "e"), &[Value::Int(1)]));
    }

    #[test]
    fn a_key_has_one_text() {
        let words = || Kind::Enum(vec!["lead".to_owned()]);
        for (kind, text) in [
            (Kind::String, "Ada \u{e9}"),
            (Kind::I32, "-2147483648"),
            (Kind::I64, "-9223372036854775808"),
            (Kind::U32, "0"),
            (Kind::U64, "18446744073709551615"),
            (Kind::Date, "2026-01-31"),
            (words(), "lead"),
        ] {
            let value = key_value(&kind, text).unwrap();
            assert_eq!(key_text(&kind, &value).as_deref(), Some(text));
        }
        for (kind, text) in [
            (Kind::I32, "007"),
            (Kind::I32, "+1"),
            (Kind::I64, "-0"),
            (Kind::I32, "2147483648"),
            (Kind::U64, "-1"),
            (Kind::U64, "١"),
            (Kind::Date, "2026-02-30"),
            (words(), "lost"),
            (Kind::Bool, "true"),
            (Kind::F64, "1"),
        ] {
            assert_eq!(key_value(&kind, text), None, "{kind} {text}");
        }
        assert_eq!(key_text(&Kind::String, &Value::Null), None);
        assert_eq!(key_text(&Kind::String, &Value::Int(1)), None);
    }
}
