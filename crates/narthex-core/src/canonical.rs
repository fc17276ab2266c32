//! One text per value, written in one pass.
//!
//! Keys sorted by their bytes, no white space, ASCII only. Numbers keep what they are: an integer
//! is written as an integer (2^53 and 2^53+1 stay apart, which the usual canonical form by way of
//! f64 loses), a float in its shortest form that reads back the same, always with a point or
//! exponent. Non-ASCII and control characters are `\uXXXX`, so that no reader of the text can see
//! two lines in it.

use std::fmt;
use std::fmt::Write as _;
use std::ops::Range;

use serde::ser::{self, Serialize};
use serde_json::Number;

/// The canonical JSON of anything that can be written as JSON.
pub fn canonical(value: &(impl Serialize + ?Sized)) -> Result<String, NotCanonical> {
    let mut out = Canonical(String::with_capacity(USUAL));
    value.serialize(&mut out)?;
    Ok(out.0)
}

/// It cannot be written as JSON: a key is not text, or the value refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it has no canonical form: {0}")]
pub struct NotCanonical(String);

impl ser::Error for NotCanonical {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

struct Canonical(String);

impl Canonical {
    fn number(&mut self, number: impl fmt::Display) -> Result<(), NotCanonical> {
        write!(self.0, "{number}").map_err(ser::Error::custom)
    }

    fn text(&mut self, text: &str) {
        self.0.push('"');
        let mut rest = text;
        while let Some(at) = rest.bytes().position(|b| !is_plain(b)) {
            let (plain, special) = rest.split_at(at);
            self.0.push_str(plain);
            let mut chars = special.chars();
            match chars.next() {
                Some('"') => self.0.push_str("\\\""),
                Some('\\') => self.0.push_str("\\\\"),
                Some(c) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        // Writing to a String cannot fail.
                        let _ = write!(self.0, "\\u{unit:04x}");
                    }
                }
                None => {}
            }
            rest = chars.as_str();
        }
        self.0.push_str(rest);
        self.0.push('"');
    }
}

const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
}

/// An array that is being written.
struct Items<'a> {
    out: &'a mut Canonical,
    first: bool,
    /// What closes it.
    end: &'static str,
}

impl Items<'_> {
    fn item<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), NotCanonical> {
        if !std::mem::take(&mut self.first) {
            self.out.0.push(',');
        }
        item.serialize(&mut *self.out)
    }

    fn done(self) {
        self.out.0.push_str(self.end);
    }
}

/// An object that is being written: its entries as they come, brought into order at its end.
struct Entries<'a> {
    out: &'a mut Canonical,
    start: usize,
    all: Vec<Entry>,
    end: &'static str,
}

struct Entry {
    /// Where the name lies, if it is written as it is.
    name: Range<usize>,
    /// And what it is, if not.
    escaped: Option<String>,
    /// Where name and value lie.
    place: Range<usize>,
}

impl Entry {
    fn name<'a>(&'a self, text: &'a str) -> &'a [u8] {
        let written = || text.get(self.name.clone()).unwrap_or_default();
        self.escaped.as_deref().unwrap_or_else(written).as_bytes()
    }
}

impl Entries<'_> {
    fn key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotCanonical> {
        let begun = self.out.0.len();
        key.serialize(&mut *self.out)?;
        let name = begun + 1..self.out.0.len().saturating_sub(1);
        let written = self.out.0.get(begun..).unwrap_or_default();
        if !written.starts_with('"') {
            return Err(NotCanonical("a key is text".to_owned()));
        }
        let escaped = if written.contains('\\') {
            Some(serde_json::from_str(written).map_err(ser::Error::custom)?)
        } else {
            None
        };
        self.out.0.push(':');
        self.all.push(Entry { name, escaped, place: begun..begun });
        Ok(())
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotCanonical> {
        value.serialize(&mut *self.out)?;
        if let Some(entry) = self.all.last_mut() {
            entry.place.end = self.out.0.len();
        }
        Ok(())
    }

    fn done(mut self) {
        let text = &self.out.0;
        self.all.sort_by(|a, b| a.name(text).cmp(b.name(text)));
        let mut sorted = String::with_capacity(text.len() - self.start + self.all.len());
        for (n, entry) in self.all.iter().enumerate() {
            if n > 0 {
                sorted.push(',');
            }
            sorted.push_str(text.get(entry.place.clone()).unwrap_or_default());
        }
        self.out.0.truncate(self.start);
        self.out.0.push_str(&sorted);
        self.out.0.push_str(self.end);
    }
}

impl<'a> Canonical {
    fn items(&'a mut self, end: &'static str) -> Items<'a> {
        self.0.push('[');
        Items { out: self, first: true, end }
    }

    fn entries(&'a mut self, end: &'static str) -> Entries<'a> {
        self.0.push('{');
        let start = self.0.len();
        Entries { out: self, start, all: Vec::with_capacity(16), end }
    }

    /// An object of one entry, whose value follows.
    fn variant(&mut self, name: &str) {
        self.0.push('{');
        self.text(name);
        self.0.push(':');
    }
}

impl<'a> ser::Serializer for &'a mut Canonical {
    type Ok = ();
    type Error = NotCanonical;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Entries<'a>;
    type SerializeStruct = Entries<'a>;
    type SerializeStructVariant = Entries<'a>;

    fn serialize_bool(self, v: bool) -> Result<(), NotCanonical> {
        self.0.push_str(if v { "true" } else { "false" });
        Ok(())
    }
    fn serialize_i8(self, v: i8) -> Result<(), NotCanonical> {
        self.number(v)
    }
    fn serialize_i16(self, v: i16) -> Result<(), NotCanonical> {
        self.number(v)
    }
    fn serialize_i32(self, v: i32) -> Result<(), NotCanonical> {
        self.number(v)
    }
    fn serialize_i64(self, v: i64) -> Result<(), NotCanonical> {
        self.number(v)
    }
    fn serialize_u8(self, v: u8) -> Result<(), NotCanonical> {
        self.number(v)
    }
    fn serialize_u16(self, v: u16) -> Result<(), NotCanonical> {
        self.number(v)
    }
    fn serialize_u32(self, v: u32) -> Result<(), NotCanonical> {
        self.number(v)
    }
    fn serialize_u64(self, v: u64) -> Result<(), NotCanonical> {
        self.number(v)
    }
    fn serialize_f32(self, v: f32) -> Result<(), NotCanonical> {
        self.serialize_f64(f64::from(v))
    }
    fn serialize_f64(self, v: f64) -> Result<(), NotCanonical> {
        match Number::from_f64(v) {
            Some(number) => self.number(number),
            None => self.serialize_unit(),
        }
    }
    fn serialize_char(self, v: char) -> Result<(), NotCanonical> {
        self.text(v.encode_utf8(&mut [0; 4]));
        Ok(())
    }
    fn serialize_str(self, v: &str) -> Result<(), NotCanonical> {
        self.text(v);
        Ok(())
    }
    fn serialize_bytes(self, v: &[u8]) -> Result<(), NotCanonical> {
        v.serialize(self)
    }
    fn serialize_none(self) -> Result<(), NotCanonical> {
        self.serialize_unit()
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotCanonical> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), NotCanonical> {
        self.0.push_str("null");
        Ok(())
    }
    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), NotCanonical> {
        self.serialize_unit()
    }
    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), NotCanonical> {
        self.serialize_str(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), NotCanonical> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), NotCanonical> {
        self.variant(variant);
        value.serialize(&mut *self)?;
        self.0.push('}');
        Ok(())
    }
    fn serialize_seq(self, _len: Option<usize>) -> Result<Items<'a>, NotCanonical> {
        Ok(self.items("]"))
    }
    fn serialize_tuple(self, _len: usize) -> Result<Items<'a>, NotCanonical> {
        Ok(self.items("]"))
    }
    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> Result<Items<'a>, NotCanonical> {
        Ok(self.items("]"))
    }
    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Items<'a>, NotCanonical> {
        self.variant(variant);
        Ok(self.items("]}"))
    }
    fn serialize_map(self, _len: Option<usize>) -> Result<Entries<'a>, NotCanonical> {
        Ok(self.entries("}"))
    }
    fn serialize_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> Result<Entries<'a>, NotCanonical> {
        Ok(self.entries("}"))
    }
    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Entries<'a>, NotCanonical> {
        self.variant(variant);
        Ok(self.entries("}}"))
    }
}

macro_rules! items {
    ($($kind:ident :: $item:ident),+) => {
        $(impl ser::$kind for Items<'_> {
            type Ok = ();
            type Error = NotCanonical;
            fn $item<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), NotCanonical> {
                self.item(item)
            }
            fn end(self) -> Result<(), NotCanonical> {
                self.done();
                Ok(())
            }
        })+
    };
}

items!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

impl ser::SerializeMap for Entries<'_> {
    type Ok = ();
    type Error = NotCanonical;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotCanonical> {
        self.key(key)
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotCanonical> {
        self.value(value)
    }
    fn end(self) -> Result<(), NotCanonical> {
        self.done();
        Ok(())
    }
}

macro_rules! entries {
    ($($kind:ident),+) => {
        $(impl ser::$kind for Entries<'_> {
            type Ok = ();
            type Error = NotCanonical;
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), NotCanonical> {
                self.key(name)?;
                self.value(value)
            }
            fn end(self) -> Result<(), NotCanonical> {
                self.done();
                Ok(())
            }
        })+
    };
}

entries!(SerializeStruct, SerializeStructVariant);

/// Most values are no longer.
const USUAL: usize = 512;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::Serialize;
    use serde_json::{Value, json};

    use super::canonical;

    #[derive(Serialize)]
    #[serde(tag = "kind")]
    enum Tagged {
        B { z: u8, a: Option<i64> },
    }

    #[derive(Serialize)]
    enum Plain {
        Unit,
        One(f32),
        Two(u8, char),
        Named { b: (), a: [u8; 2] },
    }

    #[derive(Serialize)]
    struct Outer {
        v: u64,
        #[serde(flatten)]
        inner: Inner,
    }

    #[derive(Serialize)]
    struct Inner {
        z: Vec<Plain>,
        kind: Tagged,
        #[serde(skip_serializing_if = "Option::is_none")]
        none: Option<u8>,
        nan: f64,
        map: BTreeMap<String, Value>,
    }

    #[test]
    fn every_shape_is_written_as_by_way_of_a_value() {
        let named = Plain::Named { b: (), a: [1, 2] };
        let outer = Outer {
            v: u64::MAX,
            inner: Inner {
                z: vec![Plain::Unit, Plain::One(0.1), Plain::Two(1, '\u{e9}'), named],
                kind: Tagged::B { z: 1, a: Some(i64::MIN) },
                none: None,
                nan: f64::NAN,
                map: [("\"".to_owned(), json!(1.0)), ("\u{e9}".to_owned(), json!({}))].into(),
            },
        };
        let value = serde_json::to_value(&outer).unwrap();
        let text = canonical(&outer).unwrap();
        assert_eq!(text, canonical(&value).unwrap());
        assert_eq!(
            text,
            concat!(
                r#"{"kind":{"a":-9223372036854775808,"kind":"B","z":1},"#,
                r#""map":{"\"":1.0,"\u00e9":{}},"nan":null,"v":18446744073709551615,"#,
                r#""z":["Unit",{"One":0.10000000149011612},{"Two":[1,"\u00e9"]},"#,
                r#"{"Named":{"a":[1,2],"b":null}}]}"#
            )
        );
        assert!(canonical(&BTreeMap::from([(vec![1], 2)])).is_err());
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((".{0,3}", inner), 0..6)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    fn is_sorted(value: &Value) -> bool {
        match value {
            Value::Array(items) => items.iter().all(is_sorted),
            Value::Object(map) => {
                map.keys().is_sorted_by(|a, b| a.as_bytes() < b.as_bytes())
                    && map.values().all(is_sorted)
            }
            _ => true,
        }
    }

    proptest! {
        #[test]
        fn the_text_reads_back_sorted_and_the_same(value in values()) {
            let text = canonical(&value).unwrap();
            prop_assert!(text.bytes().all(|b| (b' '..=b'~').contains(&b)));
            let back: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&back, &value);
            prop_assert!(is_sorted(&back), "{}", text);
            prop_assert_eq!(canonical(&back).unwrap(), text);
        }
    }
}
