//! Declarations, as a real compiler reads them.

mod properties;
pub(crate) mod support;
mod tsc;
