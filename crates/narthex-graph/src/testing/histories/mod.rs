//! Random histories of a graph with several branches, against a model that keeps every commit whole.
//!
//! The [`Model`] knows commits with all their rows and the set of all commits before them, and
//! nothing of lines, numbers or layers. It finds what two commits share by taking sets apart, and
//! merges rows by a function of its own ([`merged`]).
//! [`play`] does the same to an engine over any store (a [`Stage`]) and compares after every step.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "only ever run by tests and fuzzers"
)]

mod acts;
mod ask;
mod facts;
mod late;
mod merges;
mod model;
mod naive;
mod play;
mod seeds;
mod stage;
mod steps;
#[cfg(test)]
mod tests;

pub use acts::{ACT_BYTES, Act, Change, Person, Resolve, Stale};
pub use facts::Facts;
pub use model::{Key, Model, Row, Rows, Said};
pub use naive::{Undecided, Was, merged};
pub use play::{Played, play};
pub use seeds::{cases, seed_bytes, seeds};
pub use stage::{MemoryStage, Stage};

/// How many branches there are at most.
pub const BRANCHES: usize = 4;
/// How many people.
pub const PEOPLE: u8 = 3;
