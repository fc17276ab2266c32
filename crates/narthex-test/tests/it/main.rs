//! The house as its callers meet it, in one binary: a module for each behaviour.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod authorization;
mod companion;
mod companion_spaces;
mod edge;
mod faults;
mod following;
mod full;
mod gate;
mod graph_surface;
mod graphs;
mod identity;
mod isolation;
mod merges;
mod model;
mod programs;
mod servers;
mod slice;
mod threats;
mod upstream;
