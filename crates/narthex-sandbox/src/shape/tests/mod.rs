//! Programs as models send them, each run for real.

mod errors;
mod harness;
mod lines;
mod mutations;
mod runs;
mod sizes;
