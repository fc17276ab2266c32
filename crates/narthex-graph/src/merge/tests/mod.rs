//! Merges over graphs in memory.

mod histories;
mod regressions;
mod rules;
pub(crate) mod world;
