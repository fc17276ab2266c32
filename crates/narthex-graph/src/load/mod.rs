//! Rows from files and back: one JSON object a line.
//!
//! ```text
//! {"type":"Person","data":{"slug":"ada","age":36}}
//! {"edge":"Knows","from":"ada","to":"bob","data":{"since":"2026-01-31"}}
//! {"edge":"Likes","from":"ada","to":{"type":"Company","key":"acme"}}
//! ```
//!
//! A line is a whole row: what it leaves out is null. Nothing in it is passed over: what a schema
//! does not have is an error that names the line and the property. [`Lines`] parts what arrives into
//! lines, [`parse`] reads one, [`export_node`] and [`export_edge`] write the same form.

mod export;
mod line;
mod lines;
pub(crate) mod ready;
pub(crate) mod sorted;
mod spool;
mod strict;
mod wire;

pub use export::{data_json, export_edge, export_node};
pub use line::{LoadEdge, LoadLine, LoadNode, parse};
pub use lines::{Lines, MAX_LINE_BYTES};

/// What is wrong with a file. Always the sender's to mend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    /// The line, from 1.
    pub line: u64,
    /// The property, or the part of the line, that is meant.
    pub property: Option<String>,
    /// What is wrong with it.
    pub message: String,
}

impl LoadError {
    /// Something is wrong with a line.
    pub fn new(line: u64, property: Option<&str>, message: impl Into<String>) -> Self {
        let property = property.map(|name| name.chars().take(NAME_CHARS).collect());
        Self { line, property, message: message.into() }
    }
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.property {
            Some(property) => write!(f, "line {}, `{property}`: {}", self.line, self.message),
            None => write!(f, "line {}: {}", self.line, self.message),
        }
    }
}

impl std::error::Error for LoadError {}

/// What was put aside cannot be had.
#[expect(clippy::needless_pass_by_value, reason = "it is where errors are turned")]
pub(crate) fn unspooled(error: std::io::Error) -> narthex_store::StoreError {
    narthex_store::StoreError::Unavailable(format!(
        "rows of a load cannot be put aside or read again; is there room for temporary files? \
         ({error})"
    ))
}

/// How much of an unknown name is said back.
const NAME_CHARS: usize = 60;
