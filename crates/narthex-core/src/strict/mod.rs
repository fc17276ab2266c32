//! The one parse: bytes become a value once, strictly, before anything decides on them.
//!
//! `serde_json` keeps the last of two equal keys and rounds what does not fit a double. Here
//! both are refused, so that what was decided on, recorded and acted on is one value.

mod number;

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Why bytes are no JSON we take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It is none.
    #[error("not valid JSON")]
    Syntax,
    /// It says something twice.
    #[error("a key appears twice in one object")]
    DoubledKey,
    /// It is too deep.
    #[error("nested deeper than {MAX_DEPTH} levels")]
    Depth,
    /// It is too much.
    #[error("more than {MAX_NODES} values")]
    Nodes,
    /// It would be another number.
    #[error("a number that cannot be kept exactly")]
    Number,
}

/// Reads one JSON text: all of the bytes, or nothing.
pub fn parse(bytes: &[u8]) -> Result<Value, Fault> {
    let budget = Budget { nodes: Cell::new(0), floats: Cell::new(false), fault: Cell::new(None) };
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Node { depth: 0, budget: &budget }
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|_| budget.fault.get().unwrap_or(Fault::Syntax))?;
    // Only a text with a fraction or an exponent in it can have lost digits.
    if budget.floats.get() && !number::all_exact(bytes) {
        return Err(Fault::Number);
    }
    Ok(value)
}

/// What one parse has left to spend, and why it stopped.
struct Budget {
    nodes: Cell<usize>,
    floats: Cell<bool>,
    fault: Cell<Option<Fault>>,
}

impl Budget {
    fn stop<E: Error>(&self, fault: Fault) -> E {
        self.fault.set(Some(fault));
        E::custom(fault)
    }
}

/// A value at some depth.
#[derive(Clone, Copy)]
struct Node<'a> {
    depth: usize,
    budget: &'a Budget,
}

impl Node<'_> {
    fn inside<E: Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_DEPTH {
            return Err(self.budget.stop(Fault::Depth));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        let nodes = self.budget.nodes.get() + 1;
        if nodes > MAX_NODES {
            return Err(self.budget.stop(Fault::Nodes));
        }
        self.budget.nodes.set(nodes);
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
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

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        self.budget.floats.set(true);
        // From here on a double skips integers; an integer too long for 64 bits arrives here too.
        if !number.is_finite() || number.abs() >= EXACT_BELOW {
            return Err(self.budget.stop(Fault::Number));
        }
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
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
            let value = entries.next_value_seed(inside)?;
            if map.insert(key, value).is_some() {
                return Err(self.budget.stop(Fault::DoubledKey));
            }
        }
        Ok(Value::Object(map))
    }
}

/// Levels of nesting.
pub const MAX_DEPTH: usize = 64;
/// Values in one text, whatever their size.
pub const MAX_NODES: usize = 50_000;
/// 2^53: below it a double holds every integer.
const EXACT_BELOW: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests {
    use super::{Fault, MAX_DEPTH, MAX_NODES, parse};
    use serde_json::json;

    #[test]
    fn what_is_taken_is_kept_as_it_is() {
        for (text, value) in [
            ("9223372036854775807", json!(i64::MAX)),
            ("18446744073709551615", json!(u64::MAX)),
            ("9007199254740993", json!(9_007_199_254_740_993_u64)),
            ("-9007199254740993", json!(-9_007_199_254_740_993_i64)),
            ("0.1", json!(0.1)),
            ("0.30000000000000004", json!(0.300_000_000_000_000_04)),
            ("[1, 1.0, 1e2, 25E-1]", json!([1, 1.0, 100.0, 2.5])),
            (r#"{"a":{"a":1},"b":{"a":1}}"#, json!({"a": {"a": 1}, "b": {"a": 1}})),
            ("\"\\u2028\\u0000\u{85}\"", json!("\u{2028}\u{0}\u{85}")),
        ] {
            assert_eq!(parse(text.as_bytes()), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_would_change_its_meaning_is_refused() {
        for (text, fault) in [
            (r#"{"a":1,"a":2}"#, Fault::DoubledKey),
            (r#"{"a":1,"\u0061":2}"#, Fault::DoubledKey),
            (r#"[{"x":{"y":1,"y":1}}]"#, Fault::DoubledKey),
            ("18446744073709551616", Fault::Number),
            ("-9223372036854775809", Fault::Number),
            ("9007199254740992.0", Fault::Number),
            ("1e300", Fault::Number),
            ("0.1000000000000000055", Fault::Number),
            ("[\"1.5\", 4503599627370497.3]", Fault::Number),
            ("1e-400", Fault::Number),
            ("1e999", Fault::Syntax),
            ("NaN", Fault::Syntax),
            ("Infinity", Fault::Syntax),
            ("", Fault::Syntax),
            ("{} {}", Fault::Syntax),
            ("{}x", Fault::Syntax),
            ("{\"a\":1,}", Fault::Syntax),
            ("01", Fault::Syntax),
            ("\u{feff}{}", Fault::Syntax),
            ("\"\\ud800\"", Fault::Syntax),
            ("\"a\nb\"", Fault::Syntax),
        ] {
            assert_eq!(parse(text.as_bytes()), Err(fault), "{text}");
        }
        assert_eq!(parse(b"\"\xff\""), Err(Fault::Syntax));
    }

    #[test]
    fn depth_and_number_of_values_have_an_end() {
        let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(parse(deep(MAX_DEPTH).as_bytes()).is_ok());
        assert_eq!(parse(deep(MAX_DEPTH + 1).as_bytes()), Err(Fault::Depth));
        assert_eq!(parse(deep(100_000).as_bytes()), Err(Fault::Depth));
        assert_eq!(parse("{\"a\":".repeat(100_000).as_bytes()), Err(Fault::Depth));
        let wide = |n: usize| format!("[{}0]", "0,".repeat(n - 1));
        assert!(parse(wide(MAX_NODES - 1).as_bytes()).is_ok());
        assert_eq!(parse(wide(MAX_NODES).as_bytes()), Err(Fault::Nodes));
        assert_eq!(parse(wide(1_000_000).as_bytes()), Err(Fault::Nodes));
    }
}
