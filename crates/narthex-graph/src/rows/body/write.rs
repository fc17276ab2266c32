//! Values into a body.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use narthex_core::canonical;
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::{BodyError, FROM, TO};
use crate::schema::{Kind, Property};
use crate::value::{Value, date_text, moment_text};

pub(super) fn body(body: &Written<'_>) -> Result<String, BodyError> {
    if body.properties.len() != body.values.len() {
        return Err(BodyError("not one value for each property".to_owned()));
    }
    canonical(body).map_err(|error| BodyError(error.to_string()))
}

/// What is written.
pub(super) struct Written<'a> {
    pub(super) properties: &'a [Property],
    pub(super) values: &'a [Value],
    /// Of an edge.
    pub(super) ends: Option<[&'a (String, String); 2]>,
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(None)?;
        if let Some([from, to]) = self.ends {
            map.serialize_entry(FROM, from)?;
            map.serialize_entry(TO, to)?;
        }
        for (property, value) in self.properties.iter().zip(self.values) {
            if !value.is_null() {
                map.serialize_entry(&property.slot, &Kept(&property.kind, value))?;
            }
        }
        map.end()
    }
}

/// A value as it is kept.
struct Kept<'a>(&'a Kind, &'a Value);

impl Serialize for Kept<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match (self.0, self.1) {
            (Kind::String | Kind::Blob | Kind::Enum(_), Value::Text(text)) => {
                out.serialize_str(text)
            }
            (Kind::Bool, Value::Bool(yes)) => out.serialize_bool(*yes),
            (Kind::I32 | Kind::I64 | Kind::U32 | Kind::U64, Value::Int(number)) => {
                match (i64::try_from(*number), u64::try_from(*number)) {
                    (Ok(number), _) => out.serialize_i64(number),
                    (_, Ok(number)) => out.serialize_u64(number),
                    _ => Err(S::Error::custom("a whole number of more than 64 bits")),
                }
            }
            // Adding zero takes the sign off zero.
            (Kind::F32 | Kind::F64, Value::Float(number)) if number.is_finite() => {
                out.serialize_f64(*number + 0.0)
            }
            (Kind::Date, Value::Date(day)) => out.serialize_str(&date_text(*day)),
            (Kind::DateTime, Value::DateTime(moment)) => out.serialize_str(&moment_text(*moment)),
            (Kind::Vector(length), Value::Vector(items)) if items.len() == *length as usize => {
                let bytes: Vec<u8> =
                    items.iter().flat_map(|item| (*item + 0.0).to_le_bytes()).collect();
                out.serialize_str(&STANDARD_NO_PAD.encode(bytes))
            }
            (Kind::List(item), Value::List(items)) => {
                let mut list = out.serialize_seq(Some(items.len()))?;
                for value in items {
                    list.serialize_element(&Kept(item, value))?;
                }
                list.end()
            }
            (kind, _) => Err(S::Error::custom(format_args!("a value that is no {kind}"))),
        }
    }
}
