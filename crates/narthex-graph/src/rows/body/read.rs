//! A body into values.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{BodyError, EdgeBody, FROM, TO};
use crate::schema::{Kind, Property};
use crate::value::{Value, parse_date, parse_moment};

/// Reads many bodies of one type.
#[derive(Debug)]
pub struct Decoder<'a> {
    /// How many properties there are.
    width: usize,
    /// Those that are read, by slot.
    wanted: Vec<(&'a Property, usize)>,
}

impl<'a> Decoder<'a> {
    /// Reads all properties.
    pub fn new(properties: &'a [Property]) -> Self {
        Self::only(properties, |_| true)
    }

    /// Reads only these properties, by number; the others are null. Passing over a long text or a
    /// vector is far quicker than reading it.
    pub fn only(properties: &'a [Property], wants: impl Fn(usize) -> bool) -> Self {
        let mut wanted: Vec<_> =
            properties.iter().zip(0..).filter(|(_, number)| wants(*number)).collect();
        wanted.sort_unstable_by(|(a, _), (b, _)| a.slot.cmp(&b.slot));
        Self { width: properties.len(), wanted }
    }

    /// The values of a node's body.
    pub fn decode(&self, body: &str) -> Result<Vec<Value>, BodyError> {
        Ok(self.read(body)?.values)
    }

    /// What is in an edge's body.
    pub fn decode_edge(&self, body: &str) -> Result<EdgeBody, BodyError> {
        let Read { from, to, values } = self.read(body)?;
        match (from, to) {
            (Some(from), Some(to)) => Ok(EdgeBody { from, to, values }),
            _ => Err(BodyError("an edge without both its ends".to_owned())),
        }
    }

    fn read(&self, body: &str) -> Result<Read, BodyError> {
        let mut reader = serde_json::Deserializer::from_str(body);
        let read = de::Deserializer::deserialize_map(&mut reader, Row(self));
        read.and_then(|read| reader.end().map(|()| read))
            .map_err(|error| BodyError(error.to_string()))
    }
}

/// What was read.
struct Read {
    from: Option<(String, String)>,
    to: Option<(String, String)>,
    values: Vec<Value>,
}

struct Row<'a>(&'a Decoder<'a>);

impl<'de> Visitor<'de> for Row<'_> {
    type Value = Read;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Read, A::Error> {
        let mut read = Read { from: None, to: None, values: vec![Value::Null; self.0.width] };
        while let Some(place) = entries.next_key_seed(Slots(&self.0.wanted))? {
            match place {
                Place::From => read.from = Some(entries.next_value()?),
                Place::To => read.to = Some(entries.next_value()?),
                Place::Gone => _ = entries.next_value::<IgnoredAny>()?,
                Place::Property(property, number) => {
                    let value = entries.next_value_seed(OfKind(&property.kind))?;
                    if let Some(place) = read.values.get_mut(number) {
                        *place = value;
                    }
                }
            }
        }
        Ok(read)
    }
}

/// Finds what a slot is, without keeping its name.
struct Slots<'a>(&'a [(&'a Property, usize)]);

enum Place<'a> {
    From,
    To,
    Property(&'a Property, usize),
    Gone,
}

impl<'de, 'a> DeserializeSeed<'de> for Slots<'a> {
    type Value = Place<'a>;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Place<'a>, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'a> Visitor<'_> for Slots<'a> {
    type Value = Place<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a slot")
    }

    fn visit_str<E>(self, slot: &str) -> Result<Place<'a>, E> {
        Ok(match slot {
            FROM => Place::From,
            TO => Place::To,
            _ => {
                let at = self.0.binary_search_by(|(property, _)| property.slot.as_str().cmp(slot));
                let found = at.ok().and_then(|at| self.0.get(at));
                found.map_or(Place::Gone, |(property, n)| Place::Property(property, *n))
            }
        })
    }
}

/// Reads a value of a kind.
#[derive(Clone, Copy)]
struct OfKind<'a>(&'a Kind);

impl OfKind<'_> {
    fn int<E: de::Error>(self, number: i128) -> Result<Value, E> {
        match self.0 {
            Kind::I32 | Kind::I64 | Kind::U32 | Kind::U64 => Ok(Value::Int(number)),
            _ => Err(self.unlike()),
        }
    }

    fn unlike<E: de::Error>(self) -> E {
        E::custom(format_args!("a value that is no {}", self.0))
    }
}

impl<'de> DeserializeSeed<'de> for OfKind<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OfKind<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }

    fn visit_bool<E: de::Error>(self, yes: bool) -> Result<Value, E> {
        if *self.0 == Kind::Bool { Ok(Value::Bool(yes)) } else { Err(self.unlike()) }
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
        self.int(number.into())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
        self.int(number.into())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        match self.0 {
            Kind::F32 | Kind::F64 => Ok(Value::Float(number)),
            _ => Err(self.unlike()),
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        let value = match self.0 {
            Kind::String | Kind::Blob | Kind::Enum(_) => Some(Value::Text(text.to_owned())),
            Kind::Date => parse_date(text).map(Value::Date),
            Kind::DateTime => parse_moment(text).map(Value::DateTime),
            Kind::Vector(length) => vector(text, *length).map(Value::Vector),
            _ => None,
        };
        value.ok_or_else(|| self.unlike())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let Kind::List(kind) = self.0 else { return Err(self.unlike()) };
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(OfKind(kind))? {
            list.push(item);
        }
        Ok(Value::List(list))
    }
}

fn vector(text: &str, length: u32) -> Option<Vec<f32>> {
    let bytes = STANDARD_NO_PAD.decode(text).ok()?;
    let (items, rest) = bytes.as_chunks::<4>();
    let whole = rest.is_empty() && items.len() == length as usize;
    whole.then(|| items.iter().map(|item| f32::from_le_bytes(*item)).collect())
}
