//! The command line itself.

mod exits;
mod help;
