//! Objects that have a key twice: one reader takes the first, another the last.

use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// Whether a key is in an object twice, anywhere.
pub(super) fn has_doubled_keys(text: &str) -> bool {
    serde_json::from_str::<Single>(text).is_err()
}

/// Any JSON, if no key is in an object twice.
struct Single;

impl<'de> Deserialize<'de> for Single {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(SingleReader)
    }
}

struct SingleReader;

impl<'de> Visitor<'de> for SingleReader {
    type Value = Single;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Single, E> {
        Ok(Single)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Single, E> {
        Ok(Single)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Single, E> {
        Ok(Single)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Single, E> {
        Ok(Single)
    }

    fn visit_str<E>(self, _: &str) -> Result<Single, E> {
        Ok(Single)
    }

    fn visit_unit<E>(self) -> Result<Single, E> {
        Ok(Single)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Single, A::Error> {
        while items.next_element::<Single>()?.is_some() {}
        Ok(Single)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Single, A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if !seen.insert(key) {
                return Err(A::Error::custom("a key appears twice"));
            }
            entries.next_value::<Single>()?;
        }
        Ok(Single)
    }
}

#[cfg(test)]
mod tests {
    use super::has_doubled_keys;

    #[test]
    fn a_key_that_is_there_twice_is_found_however_it_is_written() {
        for (text, doubled) in [
            (r#"{"a":1,"b":{"a":[1,2.5,-3,true,null,"x"]}}"#, false),
            (r#"{"a":1,"a":1}"#, true),
            (r#"{"a":[{"b":1,"b":2}]}"#, true),
            (r#"{"a":1,"\u0061":2}"#, true),
            ("{}", false),
        ] {
            assert_eq!(has_doubled_keys(text), doubled, "{text}");
        }
    }
}
