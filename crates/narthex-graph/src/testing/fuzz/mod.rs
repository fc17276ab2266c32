//! What must hold for whatever anybody sends: one body for each way in, over any bytes. `fuzz/` runs
//! them under a fuzzer; a test runs them over the corpus that is kept there and over what is made of
//! it.
//!
//! A body panics where something does not hold, and that is all it says.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "only ever run by tests and fuzzers"
)]

mod cursor;
mod house;
mod load;
mod query;
mod schema;
#[cfg(test)]
mod tests;
mod value;

pub use cursor::cursor;
pub use load::load;
pub use query::query;
pub use schema::schema;
pub use value::value;

use crate::{Bounds, Diagnostic};

/// Something to be run over any bytes.
pub type Body = fn(&[u8]);

/// All there are, by the names of their targets.
pub const BODIES: [(&str, Body); 5] =
    [("cursor", cursor), ("load", load), ("query", query), ("schema", schema), ("value", value)];

/// What is said of a text is bounded, and points into it.
fn told(source: &str, found: &[Diagnostic]) {
    assert!(!found.is_empty(), "refused without a word");
    assert!(found.len() <= Bounds::PROBLEMS, "{} problems", found.len());
    for one in found {
        let said = one.message.len() + one.help.as_deref().unwrap_or_default().len();
        assert!(said <= SAID, "{one}");
        assert!(one.line >= 1 && one.column >= 1, "{one}");
        let (start, end) = (one.span.start, one.span.end);
        assert!(start <= end && source.get(start..end).is_some(), "{one}: {start}..{end}");
        assert!(one.text.chars().count() <= SAID, "{one}");
    }
}

/// Bytes of one message.
const SAID: usize = 4_096;
