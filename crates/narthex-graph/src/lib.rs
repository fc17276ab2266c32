//! Graphs: typed, branched, merged.
//!
//! Two languages come in: schemas (`.pg`, [`schema`]) and queries (`.gq`, [`query`]). A schema and a
//! query checked against it give a [`query::Plan`]; [`exec`] carries it out over a
//! [`narthex_store::GraphView`]. A change becomes rows ([`rows`]) that a commit holds ([`history`]),
//! and two lines of commits are brought together by a pure function ([`merge`]). [`Engine`] ties
//! these to a store. [`stored`] is the catalogue of queries an owner declares for a graph.
//!
//! It must never know: SQL, HTTP, MCP's wire, who may do what.
//!
//! To add a kind of value: a variant of [`schema::Kind`], and every place the compiler then points
//! to (reading it, its JSON Schema, its order, the corpus that holds the two together).

pub mod diagnostic;
pub mod engine;
pub mod exec;
pub mod history;
mod lang;
pub mod load;
pub mod merge;
pub mod params;
pub mod query;
pub mod rows;
pub mod schema;
pub mod stored;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod value;

pub use diagnostic::{Diagnostic, Span};
pub use engine::{Engine, GraphError};
pub use lang::Bounds;
