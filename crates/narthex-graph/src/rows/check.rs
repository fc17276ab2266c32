//! One row against its type: everything that can be said without looking at another row.
//!
//! `@check` expressions, uniqueness and cardinality are not here: they need the executor.

use crate::schema::{EdgeType, NodeType, Property};
use crate::value::{Mismatch, Value};

use super::number::key_text;

/// What is wrong with a row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("property `{property}`: {why}")]
pub struct Violation {
    /// The name of the property.
    pub property: String,
    /// What is wrong with it.
    pub why: Why,
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// There must be one.
    #[error("it is required")]
    Missing,
    /// It is of another kind, or too long.
    #[error(transparent)]
    Kind(Mismatch),
    /// Below its range.
    #[error("it is below {0}, where its range begins")]
    Low(String),
    /// Above its range.
    #[error("it is above {0}, where its range ends")]
    High(String),
    /// A key of nothing.
    #[error("a key cannot be empty")]
    EmptyKey,
    /// A key that is too long.
    #[error("a key has at most {MAX_KEY_BYTES} bytes")]
    LongKey,
    /// A key that cannot be shown.
    #[error("a key has no control characters")]
    ControlKey,
}

/// Everything that is wrong with a node of this type; nothing if all is well.
pub fn check_node(node: &NodeType, values: &[Value]) -> Vec<Violation> {
    let mut found = check_values(&node.properties, values);
    let key = node.key_property().zip(values.get(node.key));
    if let Some((property, value)) = key
        && let Some(text) = key_text(&property.kind, value)
        && let Err(why) = check_key(&text)
    {
        found.push(Violation { property: property.name.clone(), why });
    }
    found
}

/// Everything that is wrong with an edge of this type, its ends left aside.
pub fn check_edge(edge: &EdgeType, values: &[Value]) -> Vec<Violation> {
    let mut found = check_values(&edge.properties, values);
    for number in &edge.key {
        if let (Some(property), Some(Value::Text(text))) =
            (edge.properties.get(*number), values.get(*number))
            && let Err(why) = check_key(text)
        {
            found.push(Violation { property: property.name.clone(), why });
        }
    }
    found
}

/// Whether a text can be a key: what a person can read, copy and compare.
pub fn check_key(text: &str) -> Result<(), Why> {
    if text.is_empty() {
        Err(Why::EmptyKey)
    } else if text.len() > MAX_KEY_BYTES {
        Err(Why::LongKey)
    } else if text.chars().any(char::is_control) {
        Err(Why::ControlKey)
    } else {
        Ok(())
    }
}

fn check_values(properties: &[Property], values: &[Value]) -> Vec<Violation> {
    let mut found = Vec::new();
    for (number, property) in properties.iter().enumerate() {
        let value = values.get(number).unwrap_or(&Value::Null);
        if let Err(why) = check_value(property, value) {
            found.push(Violation { property: property.name.clone(), why });
        }
    }
    found
}

/// Whether a property can have this value.
pub fn check_value(property: &Property, value: &Value) -> Result<(), Why> {
    if value.is_null() {
        return if property.nullable { Ok(()) } else { Err(Why::Missing) };
    }
    property.kind.check(value).map_err(Why::Kind)?;
    let Some(range) = &property.range else { return Ok(()) };
    // The values of a list are each in the range.
    let items = if let Value::List(items) = value { items } else { std::slice::from_ref(value) };
    let shown = |end: &Value| match end.to_json(&property.kind) {
        serde_json::Value::String(text) => text,
        json => json.to_string(),
    };
    for item in items {
        if let Some(low) = &range.low
            && item.compare(low).is_some_and(std::cmp::Ordering::is_lt)
        {
            return Err(Why::Low(shown(low)));
        }
        if let Some(high) = &range.high
            && item.compare(high).is_some_and(std::cmp::Ordering::is_gt)
        {
            return Err(Why::High(shown(high)));
        }
    }
    Ok(())
}

/// Bytes of a key's text.
pub const MAX_KEY_BYTES: usize = 512;

#[cfg(test)]
mod tests {
    use super::{MAX_KEY_BYTES, Violation, check_edge, check_node};
    use crate::schema::{EdgeType, Kind, NodeType, Property, Range};
    use crate::value::samples::{edge_type, node_type, property};
    use crate::value::{MAX_LIST_ITEMS, MAX_TEXT_CHARS, Value};

    fn person() -> NodeType {
        let ranged = |name: &str, kind, low: Option<i128>, high: Option<i128>| Property {
            range: Some(Range { low: low.map(Value::Int), high: high.map(Value::Int) }),
            ..property(name, kind)
        };
        let properties = vec![
            Property { nullable: false, ..property("slug", Kind::String) },
            ranged("age", Kind::I32, Some(0), Some(150)),
            property("stage", Kind::Enum(vec!["lead".to_owned()])),
            property("tags", Kind::List(Box::new(Kind::String))),
            ranged("score", Kind::F64, Some(1), None),
        ];
        node_type("Person", properties)
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn said(found: &[Violation]) -> Vec<String> {
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_row_is_checked_whole() {
        use Value::{Float, Int, List, Null};
        let good = || vec![text("ada"), Int(150), text("lead"), List(vec![]), Float(1.0)];
        assert_eq!(check_node(&person(), &good()), []);
        assert_eq!(check_node(&person(), &[text("ada")]), [], "the rest is null");
        for (at, value, why) in [
            (0, Null, "property `slug`: it is required"),
            (0, text(""), "property `slug`: a key cannot be empty"),
            (0, text("a\nb"), "property `slug`: a key has no control characters"),
            (0, text("a\u{85}b"), "property `slug`: a key has no control characters"),
            (0, text(&"é".repeat(257)), "property `slug`: a key has at most 512 bytes"),
            (0, Int(1), "property `slug`: the value is no String"),
            (1, Int(-1), "property `age`: it is below 0, where its range begins"),
            (1, Int(151), "property `age`: it is above 150, where its range ends"),
            (1, Int(1 << 40), "property `age`: a I32 is from -2147483648 to 2147483647"),
            (2, text("lost"), "property `stage`: the value is no enum(lead)"),
            (3, List(vec![Null]), "property `tags`: the value is no String"),
            (
                3,
                List(vec![text(""); MAX_LIST_ITEMS + 1]),
                "property `tags`: a list has at most 1024 items",
            ),
            (
                3,
                List(vec![text(&"x".repeat(MAX_TEXT_CHARS + 1))]),
                "property `tags`: a text has at most 262144 characters",
            ),
            (4, Float(0.5), "property `score`: it is below 1, where its range begins"),
            (4, Float(f64::INFINITY), "property `score`: the value is no F64"),
        ] {
            let mut values = good();
            values[at] = value;
            assert_eq!(said(&check_node(&person(), &values)), [why]);
        }
        let long = [text(&"é".repeat(MAX_KEY_BYTES / 2))];
        assert_eq!(check_node(&person(), &long), []);
        let two = check_node(&person(), &[Null, Int(-1)]);
        assert_eq!(two.len(), 2, "all that is wrong is said at once");
    }

    #[test]
    fn the_key_of_an_edge_is_a_key() {
        let edge = EdgeType {
            key: vec![0],
            ..edge_type("Plays", "Person", "Person", vec![property("role", Kind::String)])
        };
        assert_eq!(check_edge(&edge, &[text("cook")]), []);
        assert_eq!(check_edge(&edge, &[Value::Null]), []);
        assert_eq!(said(&check_edge(&edge, &[text("\0")])).len(), 1);
        let plain = EdgeType { key: vec![], ..edge };
        assert_eq!(check_edge(&plain, &[text("\0")]), []);
    }
}
