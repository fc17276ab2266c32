//! Values, as queries see them.

mod accept;
mod fit;
mod json_schema;
mod moment;
mod order;
mod out;
#[cfg(test)]
pub(crate) mod samples;
mod uri;
mod words;

use chrono::{DateTime, NaiveDate, Utc};

pub use accept::{MAX_LIST_ITEMS, MAX_TEXT_CHARS, Mismatch};
pub use json_schema::{columns_json_schema, params_json_schema};
pub use moment::{date_text, moment_text, parse_date, parse_moment, to_micros};
pub use order::GroupKey;
pub(crate) use order::whole;
pub use uri::MAX_URI_CHARS;
pub use words::{MAX_QUERY_WORDS, MAX_WORDS, fuzzy, fuzzy_all, matches_all, query_words, words};

/// A value. What kind of number an integer or a float is says its property.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// None.
    Null,
    /// Yes or no.
    Bool(bool),
    /// Any whole number there is: those of 64 bits fit whether signed or not.
    Int(i128),
    /// A finite number.
    Float(f64),
    /// Text; also a URI, or the word of an enum.
    Text(String),
    /// A day.
    Date(NaiveDate),
    /// A moment, to the microsecond.
    DateTime(DateTime<Utc>),
    /// Several of one kind.
    List(Vec<Value>),
    /// Numbers of single precision.
    Vector(Vec<f32>),
}

impl Value {
    /// Whether there is none.
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}
