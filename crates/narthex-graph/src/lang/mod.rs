//! What both languages have in common: words, expressions, kinds, and the bounds on a text.
//!
//! Everything here takes a text from anybody. It never panics, it reads every byte a bounded number
//! of times, and nothing it makes is deeper than [`Bounds`] allow, so that whatever walks it
//! afterwards may do so by calling itself.

mod expr;
mod expr_parse;
mod kind;
mod lexer;
mod literal;
mod parser;
mod problems;
#[cfg(test)]
mod tests;

pub(crate) use expr::{Ast, What, Word};
pub(crate) use expr_parse::{expression, parse_inner};
pub(crate) use kind::kind;
pub(crate) use lexer::{Tok, Token};
pub(crate) use literal::shown;
pub(crate) use parser::{Parsed, Parser};
pub(crate) use problems::Problems;

/// What a text may be at most.
#[derive(Debug)]
pub struct Bounds;

impl Bounds {
    /// Bytes of a schema.
    pub const SCHEMA_BYTES: usize = 256 * 1024;
    /// Bytes of a file of queries.
    pub const QUERY_BYTES: usize = 64 * 1024;
    /// Bytes of a name or of an enum's word.
    pub const NAME_BYTES: usize = 64;
    /// Characters of a column's name that is made of what was written.
    pub const COLUMN_CHARS: usize = 80;
    /// Brackets and blocks within one another.
    pub const DEPTH: usize = 32;
    /// Operations within one another: a chain of `and` is as deep as it is long.
    pub const HEIGHT: u32 = 128;
    /// Problems told at once.
    pub const PROBLEMS: usize = 20;
    /// Items of a list that is written out, beside vectors.
    pub const LIST: usize = 1_024;
    /// Numbers of a vector.
    pub const VECTOR: u32 = 8_192;
    /// Words of an enum.
    pub const ENUM: usize = 256;
    /// Types of a schema, interfaces included.
    pub const TYPES: usize = 256;
    /// Properties of a type.
    pub const PROPERTIES: usize = 128;
    /// Annotations of a type, and of a property.
    pub const NOTES: usize = 64;
    /// Queries of a file.
    pub const QUERIES: usize = 256;
    /// Parameters of a query.
    pub const PARAMS: usize = 64;
    /// Clauses of a query, those within others counted too.
    pub const CLAUSES: usize = 64;
    /// Variables of a query.
    pub const VARS: usize = 64;
    /// Columns of an answer, and parts of an order.
    pub const COLUMNS: usize = 64;
    /// Statements of a query.
    pub const STATEMENTS: usize = 64;
    /// Arguments of a function.
    pub const ARGUMENTS: usize = 16;
    /// Edges in a row.
    pub const HOPS: u32 = 10;
    /// Rows a query may ask for with `limit`.
    pub const LIMIT: u32 = 10_000;
}
