//! A schema: what rows there may be.
//!
//! Names are what people write and may change (`@rename_from`); slots are what rows are stored
//! under and never do. A slot is the first name its owner had; where that was used before by
//! something else, with a number after it. Two branches that add the same thing give it the same
//! slot, so that it is the same thing after a merge.

mod ast;
mod check;
pub mod merge;
pub mod migrate;
mod notes;
mod parse;
mod print;
mod slots;
mod source;
mod stored;
#[cfg(test)]
pub(crate) mod tests;

pub use merge::SchemaConflict;
pub use stored::StoredSchemaError;

use std::collections::BTreeSet;

use narthex_core::Digest;
use narthex_store::Tag;
use serde::{Deserialize, Serialize};

use crate::query::Expr;
use crate::value::Value;

/// A checked schema.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schema {
    /// Node types, in the order they are written.
    pub nodes: Vec<NodeType>,
    /// Edge types, in the order they are written.
    pub edges: Vec<EdgeType>,
    /// Interfaces, in the order they are written.
    pub interfaces: Vec<Interface>,
    /// Every slot that was ever used, `Type` or `Type.property`, and every index over one,
    /// `Type.property#1`; and how often the index behind a `@unique` lapsed, `Type.property!1`.
    pub slots: BTreeSet<String>,
    /// The text it was read from.
    pub source: String,
}

/// A type of node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeType {
    /// Its name.
    pub name: String,
    /// What its rows are stored under.
    pub slot: String,
    /// The interfaces it has.
    pub interfaces: Vec<String>,
    /// Its properties, those of its interfaces included.
    pub properties: Vec<Property>,
    /// Which property is its key.
    pub key: usize,
    /// What must be unlike in any two, beside the key: property numbers.
    pub uniques: Vec<Vec<usize>>,
    /// What must hold for each.
    pub checks: Vec<Check>,
    /// What it is.
    pub description: Option<String>,
}

/// A type of edge.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeType {
    /// Its name, beginning upper case. In queries it begins lower case.
    pub name: String,
    /// What its rows are stored under.
    pub slot: String,
    /// The node type (or interface) it begins at.
    pub from: String,
    /// The node type (or interface) it ends at.
    pub to: String,
    /// Its properties.
    pub properties: Vec<Property>,
    /// The properties (`@key`) that tell edges between the same two nodes apart. Without any there
    /// is at most one.
    pub key: Vec<usize>,
    /// What must be unlike in any two.
    pub uniques: Vec<Vec<usize>>,
    /// What must hold for each.
    pub checks: Vec<Check>,
    /// How many may (and must) begin at one node.
    pub card: Option<Card>,
    /// What it is.
    pub description: Option<String>,
}

/// What several node types have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// The properties it asks for.
    pub properties: Vec<Property>,
    /// What it is.
    pub description: Option<String>,
}

/// A property.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// What its values are stored under.
    pub slot: String,
    /// What its values are.
    pub kind: Kind,
    /// Whether there may be none.
    pub nullable: bool,
    /// Whether it is indexed, and which index it is of that slot (1, and one more each time it is
    /// indexed again after it was not, or was of another kind).
    pub index: Option<u32>,
    /// How often a `@unique` that it is in was taken away, or came to read it otherwise: the index
    /// behind the next one is another, as the last was not kept up since.
    pub lapsed: u32,
    /// The range its values are in.
    pub range: Option<Range>,
    /// The text property its vectors are made of, as whoever makes them is told.
    pub embed: Option<String>,
    /// What it is.
    pub description: Option<String>,
}

impl Property {
    /// What it is where nothing is said of it: a list that must be there has nothing in it, all
    /// else is null.
    pub(crate) fn left_out(&self) -> Value {
        match &self.kind {
            Kind::List(_) if !self.nullable => Value::List(Vec::new()),
            _ => Value::Null,
        }
    }
}

/// What a value can be.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Text.
    String,
    /// A URI where bytes are.
    Blob,
    /// Yes or no.
    Bool,
    /// A whole number of 32 bits.
    I32,
    /// Of 64 bits.
    I64,
    /// From 0 on, of 32 bits.
    U32,
    /// Of 64 bits.
    U64,
    /// A finite number of single precision.
    F32,
    /// Of double precision.
    F64,
    /// A day.
    Date,
    /// A moment, to the microsecond, in UTC.
    DateTime,
    /// So many finite numbers of single precision.
    Vector(u32),
    /// One of these words.
    Enum(Vec<String>),
    /// Any number of these; not of lists or vectors.
    List(Box<Kind>),
}

/// A range, each end with whether it is in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// The lower end.
    pub low: Option<Value>,
    /// The upper end; it is in the range.
    pub high: Option<Value>,
}

/// Something that must hold for each row: an expression over its own properties.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// As it is written.
    pub source: String,
    /// The row is variable 0.
    pub holds: Expr,
}

/// How many edges may begin at one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Card {
    /// At least.
    pub min: u32,
    /// At most.
    pub max: Option<u32>,
}

impl Schema {
    /// The node type of this name.
    pub fn node(&self, name: &str) -> Option<&NodeType> {
        self.nodes.iter().find(|node| node.name == name)
    }

    /// The edge type of this name.
    pub fn edge(&self, name: &str) -> Option<&EdgeType> {
        self.edges.iter().find(|edge| edge.name == name)
    }

    /// The interface of this name.
    pub fn interface(&self, name: &str) -> Option<&Interface> {
        self.interfaces.iter().find(|interface| interface.name == name)
    }

    /// The node types that a name stands for: itself, or all that have the interface.
    pub fn nodes_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a NodeType> {
        self.nodes.iter().filter(move |node| node.is_a(name))
    }
}

impl NodeType {
    /// Whether a name stands for it: its own, or that of an interface it has.
    pub fn is_a(&self, name: &str) -> bool {
        self.name == name || self.interfaces.iter().any(|interface| interface == name)
    }

    /// What its rows are numbered under.
    pub fn tag(&self) -> Tag {
        tag("node", &[&self.slot])
    }

    /// The property of this name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|property| property.name == name)
    }

    /// The property that is the key.
    pub fn key_property(&self) -> Option<&Property> {
        self.properties.get(self.key)
    }
}

impl EdgeType {
    /// What its rows are numbered under.
    pub fn tag(&self) -> Tag {
        tag("edge", &[&self.slot])
    }

    /// The property of this name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|property| property.name == name)
    }

    /// Its name in queries.
    pub fn step(&self) -> String {
        let mut letters = self.name.chars();
        letters
            .next()
            .map(|first| first.to_lowercase().chain(letters).collect())
            .unwrap_or_default()
    }
}

impl Property {
    /// The index over this property of a type, if there is one.
    pub fn index_tag(&self, type_slot: &str) -> Option<Tag> {
        let generation = self.index?.to_string();
        Some(tag("index", &[type_slot, &self.slot, &generation]))
    }

    /// Whether its index is searched by words, beside being looked up by value.
    pub const fn is_searched(&self) -> bool {
        self.index.is_some() && matches!(self.kind, Kind::String)
    }
}

impl Kind {
    /// Whether values of it are 64 bits wide, and so travel as text.
    pub const fn is_wide(&self) -> bool {
        matches!(self, Self::I64 | Self::U64)
    }

    /// Whether it is a number.
    pub const fn is_number(&self) -> bool {
        self.is_whole() || matches!(self, Self::F32 | Self::F64)
    }

    /// Whether it is a whole number.
    pub const fn is_whole(&self) -> bool {
        matches!(self, Self::I32 | Self::I64 | Self::U32 | Self::U64)
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::String => f.write_str("String"),
            Self::Blob => f.write_str("Blob"),
            Self::Bool => f.write_str("Bool"),
            Self::I32 => f.write_str("I32"),
            Self::I64 => f.write_str("I64"),
            Self::U32 => f.write_str("U32"),
            Self::U64 => f.write_str("U64"),
            Self::F32 => f.write_str("F32"),
            Self::F64 => f.write_str("F64"),
            Self::Date => f.write_str("Date"),
            Self::DateTime => f.write_str("DateTime"),
            Self::Vector(length) => write!(f, "Vector({length})"),
            Self::Enum(words) => {
                let words: Vec<String> = words.iter().map(|word| word_text(word)).collect();
                write!(f, "enum({})", words.join(", "))
            }
            Self::List(item) => write!(f, "[{item}]"),
        }
    }
}

/// A word of an enum as it is written: in quotes, if it is no name.
fn word_text(word: &str) -> String {
    let named = word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if named {
        return word.to_owned();
    }
    let mut text = String::from('"');
    for letter in word.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            control if control.is_control() => {
                text.extend(["\\u{", &format!("{:x}", u32::from(control)), "}"]);
            }
            letter => text.push(letter),
        }
    }
    text.push('"');
    text
}

/// A number that stands for a name: the first 63 bits of its digest.
pub(crate) fn tag(what: &str, names: &[&str]) -> Tag {
    let mut text = format!("narthex {what} v1");
    for name in names {
        text.push('\0');
        text.push_str(name);
    }
    let digest = Digest::of(text.as_bytes());
    let (first, _) = digest.as_bytes().split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
    Tag(i64::from_be_bytes(*first) & i64::MAX)
}
