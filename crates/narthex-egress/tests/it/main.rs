//! The filter against real sockets: a listener that must not be reached, and servers that may.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what a test does not expect fails it"
)]

mod support;

mod caps;
mod environment;
mod hostile;
mod lines;
mod names;
mod redirects;
mod spellings;
mod unfiltered;
