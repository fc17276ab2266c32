//! JSON that remembers where everything stood and how every number was written.
//!
//! `serde_json` keeps the last of two equal keys, rounds numbers, and forgets places. A file that
//! names commands is read once and strictly, and an error in it names line and column; a definition
//! that was approved is compared by every digit.

mod read;
mod write;

use std::fmt;

use serde_json::Value;

pub(crate) use read::{Reading, read};
pub(crate) use write::{canonical, pretty};

/// A line and a column, from 1, counted in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl Place {
    /// Where a text begins.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why a text is no JSON that is taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonFault {
    /// Not JSON.
    #[error("this is not valid JSON: {0} is expected here")]
    Expected(&'static str),
    /// A string with a bad escape, a control character, or no end.
    #[error("this string is not valid JSON: a bad escape, a control character in it, or no end")]
    Text,
    /// A comment, where there are none.
    #[error(
        "JSON has no comments; take it out (`narthex mcp import <file>` reads files with comments)"
    )]
    Comment,
    /// Two equal keys: readers disagree on which one counts.
    #[error("the key {0:?} appears twice in one object; keep one")]
    DoubledKey(String),
    /// Nested too deep.
    #[error("nested deeper than {0} levels")]
    Depth(usize),
    /// Too many values.
    #[error("more than {0} values")]
    Nodes(usize),
    /// Too long.
    #[error("longer than {0} bytes")]
    Bytes(usize),
    /// No number, or one that no reader keeps.
    #[error("this is not a number that can be kept")]
    Number,
    /// Something after the end.
    #[error("nothing may follow the value")]
    Trailing,
}

/// A value and where it began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) at: Place,
    pub(crate) kind: Kind,
}

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    /// As it was written.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Object(Vec<(Key, Node)>),
}

/// A key and where it stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) at: Place,
    pub(crate) name: String,
}

impl Node {
    /// What it is called in an error.
    pub(crate) const fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "true or false",
            Kind::Number(_) => "a number",
            Kind::Text(_) => "text",
            Kind::List(_) => "a list",
            Kind::Object(_) => "an object",
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        match &self.kind {
            Kind::Object(entries) => {
                entries.iter().find(|(key, _)| key.name == name).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// As `serde_json` has it, for what only looks at it. Numbers may lose digits.
    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(yes) => Value::Bool(*yes),
            Kind::Number(text) => serde_json::from_str(text).unwrap_or(Value::Null),
            Kind::Text(text) => Value::String(text.clone()),
            Kind::List(items) => items.iter().map(Self::to_value).collect(),
            Kind::Object(entries) => Value::Object(
                entries.iter().map(|(key, value)| (key.name.clone(), value.to_value())).collect(),
            ),
        }
    }
}
