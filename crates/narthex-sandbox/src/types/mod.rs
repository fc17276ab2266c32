//! JSON Schemas of tools as TypeScript, for scripts that call them.
//!
//! Everything that comes in was written by someone else: schemas, names and descriptions are data,
//! and stay inside the string, the comment or the type they are put in. [`text`] and [`comment`]
//! are the only places where such text becomes part of a declaration. Whatever a schema says, it is
//! read within the bounds of [`bounds`]; what is past them is `any`, and the function says so.
//!
//! A schema is read into a [`shape`] first and written from there, so that what is put side by side
//! (unions, intersections, index signatures) is put together by meaning and not by text. To know
//! one more keyword, add it in `read.rs` (what a value may be) or in `facts.rs` (what a person is
//! told about it).
//!
//! Nothing here checks a value: a type that says too little is a nuisance, not a hole.

mod array;
mod bounds;
mod comment;
mod facts;
mod literal;
mod module;
mod names;
mod object;
mod read;
mod reference;
mod shape;
mod signature;
mod text;
mod width;
mod write;

#[cfg(test)]
mod tests;

use serde_json::Value;

pub use bounds::{FUNCTION_BYTES, SIGNATURE_CHARS};
pub use module::declare;
pub use signature::signature;

/// A tool, as a function of a module.
#[derive(Debug, Clone, Copy)]
pub struct Function<'a> {
    /// What scripts call it.
    pub identifier: &'a str,
    /// What its server calls it.
    pub name: &'a str,
    /// A few words for a person; may be empty.
    pub title: &'a str,
    /// What it does; may be empty.
    pub description: &'a str,
    /// The schema of its input.
    pub input: &'a Value,
    /// The schema of what it returns, if it says.
    pub output: Option<&'a Value>,
    /// What else a caller should know, a line each.
    pub notes: &'a [String],
}

/// The module that is there for everyone, and where it is in what every module leans on.
pub const TEXT_MODULE: &str = "host:text";

/// Whether a module is that one, named with or without `host:`.
pub fn is_text_module(name: &str) -> bool {
    name == TEXT_MODULE || TEXT_MODULE.strip_prefix("host:") == Some(name)
}

/// The part of [`prelude`] that declares [`TEXT_MODULE`].
pub fn text_module() -> &'static str {
    let all = prelude();
    all.find("declare module \"host:text\"").and_then(|at| all.get(at..)).unwrap_or(all)
}

/// What every module leans on: errors, functions, binary data, `parallel` and `console`.
pub fn prelude() -> &'static str {
    include_str!("prelude.d.ts")
}
