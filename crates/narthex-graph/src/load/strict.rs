//! A line's JSON, strictly read: no key twice, not too deep.
//!
//! `serde_json` alone keeps the last of two equal keys, and the first would be lost without a word.
//! Long fractions are not refused here as they are where calls come in: a number of a load becomes a
//! float only where its property is one, and that is the nearest anyway.

use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Reads one JSON text: all of it, or nothing. Says what is wrong in words for people.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    Node { depth: 0 }
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|error| {
            let said = error.to_string();
            // It counts lines, of which there is one.
            let what = said.split(" at line ").next().unwrap_or_default();
            format!("no JSON to be taken, at byte {}: {what}", error.column())
        })
}

/// A value at some depth.
#[derive(Clone, Copy)]
struct Node {
    depth: usize,
}

impl Node {
    fn inside<E: Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_DEPTH {
            return Err(E::custom(format_args!("nested deeper than {MAX_DEPTH} levels")));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for Node {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, yes: bool) -> Result<Value, E> {
        Ok(Value::Bool(yes))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inside)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                let shown: String = key.chars().take(KEY_CHARS).collect();
                return Err(A::Error::custom(format_args!("`{shown}` is there twice")));
            }
            let value = entries.next_value_seed(inside)?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

/// Levels of nesting: a line, its data, a list are three.
const MAX_DEPTH: usize = 8;
/// How much of a key is said back.
const KEY_CHARS: usize = 60;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{MAX_DEPTH, parse};

    #[test]
    fn what_is_taken_is_one_value() {
        let text = r#" {"a":[1,-2,0.5,1e3,true,null,"é\n"],"b":{"a":18446744073709551615}} "#;
        let value = json!({"a": [1, -2, 0.5, 1000.0, true, null, "é\n"], "b": {"a": u64::MAX}});
        assert_eq!(parse(text), Ok(value));
        let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(parse(&deep(MAX_DEPTH)).is_ok());
    }

    #[test]
    fn what_would_lose_something_is_refused() {
        for (text, said) in [
            (r#"{"a":1,"a":2}"#, "`a` is there twice"),
            (r#"{"a":1,"\u0061":2}"#, "`a` is there twice"),
            (r#"{"data":{"x":1,"y":2,"x":1}}"#, "`x` is there twice"),
            ("{\"a\":1}{", "at byte 8"),
            ("", "at byte 0"),
            ("{\"a\":NaN}", "at byte 6"),
            ("{\"a\":1e999}", "out of range"),
            ("{\"a\":01}", "at byte 7"),
            ("\u{feff}{}", "at byte 1"),
            ("\"\\ud800\"", "at byte"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
            assert!(!error.contains(" at line "), "{error}");
        }
        for n in [MAX_DEPTH + 1, 100_000] {
            let error = parse(&"[".repeat(n)).unwrap_err();
            assert!(error.contains("nested deeper"), "{error}");
        }
    }
}
