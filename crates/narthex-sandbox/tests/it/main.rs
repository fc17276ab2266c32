//! Programs in the sandbox, from outside: each layer, what programs get, and what hostile ones do not.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "tests"
)]

mod escapes;
mod forged;
mod hostile;
mod parks;
mod programs;
mod support;
mod types;
