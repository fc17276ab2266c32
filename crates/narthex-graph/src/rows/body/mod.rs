//! A row's body: canonical JSON by slot, nulls left out.
//!
//! Equal rows have equal bodies, so that a body can be compared and hashed without being read: zero
//! has no sign in it, a moment one form. Reading goes straight from the text into values, one pass,
//! and passes over slots that the schema no longer has.

mod read;
mod write;

use crate::schema::Property;
use crate::value::Value;

pub use read::Decoder;
use write::Written;

/// The body of a node with these values, one for each property.
pub fn encode(properties: &[Property], values: &[Value]) -> Result<String, BodyError> {
    write::body(&Written { properties, values, ends: None })
}

/// The values of a body, one for each property.
pub fn decode(properties: &[Property], body: &str) -> Result<Vec<Value>, BodyError> {
    Decoder::new(properties).decode(body)
}

/// What is in the body of an edge.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeBody {
    /// Where it begins: type slot and key text.
    pub from: (String, String),
    /// Where it ends.
    pub to: (String, String),
    /// One for each property.
    pub values: Vec<Value>,
}

impl EdgeBody {
    /// As a body.
    pub fn encode(&self, properties: &[Property]) -> Result<String, BodyError> {
        let ends = Some([&self.from, &self.to]);
        write::body(&Written { properties, values: &self.values, ends })
    }

    /// From a body.
    pub fn decode(properties: &[Property], body: &str) -> Result<Self, BodyError> {
        Decoder::new(properties).decode_edge(body)
    }
}

/// A body that does not fit its type: a value of another kind, or text that is none of ours. Always
/// our own fault: what comes from outside was checked before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a row does not fit its type: {0}")]
pub struct BodyError(String);

/// No property's slot begins like these.
const FROM: &str = "@from";
const TO: &str = "@to";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Decoder, EdgeBody, decode, encode};
    use crate::schema::{Kind, Property};
    use crate::value::Value;
    use crate::value::samples::{any_value, kinds, of_kind, property};

    fn all() -> Vec<Property> {
        kinds().into_iter().enumerate().map(|(n, kind)| property(&format!("p{n}"), kind)).collect()
    }

    fn edge(values: Vec<Value>) -> EdgeBody {
        let end = |key: &str| ("Person".to_owned(), key.to_owned());
        EdgeBody { from: end("ada"), to: end("bob \"é\""), values }
    }

    #[test]
    fn a_body_is_one_canonical_text_by_slot() {
        let mut properties = [
            property("name", Kind::String),
            property("age", Kind::U64),
            property("score", Kind::F64),
            property("at", Kind::DateTime),
            property("embedding", Kind::Vector(2)),
        ];
        properties[0].slot = "z".to_owned();
        let at = crate::value::parse_moment("2026-01-31T10:00:00+01:00").unwrap();
        let values = [
            Value::Text("Adä".to_owned()),
            Value::Int(u64::MAX.into()),
            Value::Float(-0.0),
            Value::DateTime(at),
            Value::Vector(vec![1.0, -0.0]),
        ];
        let body = encode(&properties, &values).unwrap();
        assert_eq!(
            body,
            concat!(
                r#"{"age":18446744073709551615,"at":"2026-01-31T09:00:00.000000Z","#,
                r#""embedding":"AACAPwAAAAA","score":0.0,"z":"Ad\u00e4"}"#
            )
        );
        assert_eq!(decode(&properties, &body).unwrap(), values);
        let only = Decoder::only(&properties, |n| n == 1).decode(&body).unwrap();
        assert_eq!(only[1], values[1]);
        assert!(only.iter().enumerate().all(|(n, value)| n == 1 || value.is_null()));
    }

    #[test]
    fn old_slots_are_passed_over_and_missing_ones_are_null() {
        let properties = [property("a", Kind::I32), property("b", Kind::I32)];
        let values = decode(&properties, r#"{"b":2,"gone":{"deep":[1,{"x":null}]}}"#).unwrap();
        assert_eq!(values, [Value::Null, Value::Int(2)]);
        assert_eq!(encode(&properties, &values).unwrap(), r#"{"b":2}"#);
        assert_eq!(encode(&[], &[]).unwrap(), "{}");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (kind, body) in [
            (Kind::I32, r#"{"a":"1"}"#),
            (Kind::I32, r#"{"a":1.5}"#),
            (Kind::F64, r#"{"a":1}"#),
            (Kind::String, r#"{"a":1}"#),
            (Kind::Bool, r#"{"a":[]}"#),
            (Kind::Date, r#"{"a":"2026-02-30"}"#),
            (Kind::DateTime, r#"{"a":"2026-02-30"}"#),
            (Kind::Vector(2), r#"{"a":"AACAPw"}"#),
            (Kind::Vector(1), r#"{"a":"AACAPwA"}"#),
            (Kind::List(Box::new(Kind::I32)), r#"{"a":[1,"x"]}"#),
            (Kind::I32, "[]"),
            (Kind::I32, "{} {}"),
            (Kind::I32, ""),
        ] {
            assert!(decode(&[property("a", kind)], body).is_err(), "{body}");
        }
        for (kind, value) in [
            (Kind::F64, Value::Int(1)),
            (Kind::F64, Value::Float(f64::NAN)),
            (Kind::U64, Value::Int(1 << 64)),
            (Kind::I32, Value::Text("1".to_owned())),
            (Kind::Vector(2), Value::Vector(vec![1.0])),
            (Kind::List(Box::new(Kind::I32)), Value::List(vec![Value::Null])),
        ] {
            assert!(encode(&[property("a", kind)], std::slice::from_ref(&value)).is_err());
        }
        assert!(encode(&[property("a", Kind::I32)], &[]).is_err());
        assert!(EdgeBody::decode(&[], r#"{"@from":["A","a"]}"#).is_err());
    }

    proptest! {
        #[test]
        fn every_kind_comes_back(
            values in kinds().iter().map(|kind| prop_oneof![
                1 => Just(Value::Null).boxed(), 4 => of_kind(kind)
            ]).collect::<Vec<_>>()
        ) {
            let properties = all();
            let body = encode(&properties, &values).unwrap();
            prop_assert_eq!(&decode(&properties, &body).unwrap(), &values);
            let edge = edge(values);
            let body = edge.encode(&properties).unwrap();
            prop_assert_eq!(EdgeBody::decode(&properties, &body).unwrap(), edge);
        }

        #[test]
        fn equal_values_have_equal_bodies(a in any_value(), b in any_value()) {
            for property in all() {
                let body = |value: &Value| encode(std::slice::from_ref(&property), std::slice::from_ref(value));
                if let (Ok(one), Ok(other)) = (body(&a), body(&b)) {
                    prop_assert_eq!(one == other, a.total(&b).is_eq());
                }
            }
        }
    }
}
