//! Graphs as agents see them.
//!
//! [`GraphHall`] is where the graphs of a house meet what its owner declared for them: the engine,
//! the stored queries, the bounds. The owner's desk and the surfaces share one, so that a branch is
//! held by one hand whoever changes it. [`GraphSurface`] is one graph for agents: the tools every
//! graph has (`tools/builtin.rs`), its stored queries (`tools/stored.rs`), and its resources.
//!
//! It must never know: tokens, HTTP, SQL.
//!
//! To add a tool: a variant of `Builtin`, and every place the compiler then points to (its name and
//! schemas, what policy is asked, what a call of it weighs, how it is carried out).

mod config;
mod fault;
mod hall;
mod place;
mod surface;
mod tools;

pub use config::GraphConfig;
pub use hall::{CatalogueError, GraphHall, built_in_tools};
pub use surface::GraphSurface;
pub use tools::builtin::LOAD;
