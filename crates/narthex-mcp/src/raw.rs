//! A JSON object whose values nobody has touched: what an upstream wrote goes on as it was written.

use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// Names and values, in the order they came.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawObject(Vec<(String, Box<RawValue>)>);

impl RawObject {
    /// Reads one; anything else is none, and so is one that has a name twice.
    pub(crate) fn read(json: &RawValue) -> Option<Self> {
        serde_json::from_str(json.get()).ok()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_ref())
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.0.retain(|(known, _)| known != name);
    }

    /// Puts a value in its place, or at the end.
    pub(crate) fn put(&mut self, name: &str, value: &impl Serialize) {
        let Ok(value) = serde_json::value::to_raw_value(value) else { return };
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, place)) => *place = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// Puts a value at the end if there is none.
    pub(crate) fn put_if_absent(&mut self, name: &str, value: &impl Serialize) {
        if self.get(name).is_none() {
            self.put(name, value);
        }
    }
}

impl Serialize for RawObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = RawObject;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawObject, A::Error> {
                let mut fields: Vec<(String, Box<RawValue>)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    if fields.len() >= MOST_FIELDS || fields.iter().any(|(known, _)| *known == name)
                    {
                        return Err(A::Error::custom("a name twice, or too many"));
                    }
                    fields.push((name, value));
                }
                Ok(RawObject(fields))
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

/// Names in one object.
const MOST_FIELDS: usize = 64;

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::RawValue;

    use super::RawObject;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn nothing_that_is_not_asked_for_changes() {
        let text = r#"{"z":1.0,"content":[{"type":"new","x":1e2}],"a":12345678901234567890123}"#;
        let mut object = RawObject::read(&raw(text)).unwrap();
        assert_eq!(serde_json::to_string(&object).unwrap(), text);
        object.put("z", &json!({"a": null}));
        object.put_if_absent("content", &json!(1));
        object.put_if_absent("last", &json!("é"));
        object.remove("a");
        object.remove("none");
        assert_eq!(
            serde_json::to_string(&object).unwrap(),
            r#"{"z":{"a":null},"content":[{"type":"new","x":1e2}],"last":"é"}"#
        );
    }

    #[test]
    fn what_is_no_object_or_ambiguous_is_none() {
        let fields: Vec<String> = (0..100).map(|n| format!("\"{n}\":1")).collect();
        let many = format!("{{{}}}", fields.join(","));
        for text in ["[]", "1", "null", r#"{"a":1,"a":2}"#, r#"{"a":1,"\u0061":2}"#, &many] {
            assert!(RawObject::read(&raw(text)).is_none(), "{text}");
        }
    }
}
