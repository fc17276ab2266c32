//! Declarations, as a real compiler reads them.

mod properties;
pub mod support;
mod tsc;
