//! Text from outside: which characters nobody sees, how to show them, how to take them out.
//!
//! One table ([`unseen`]) for definitions, results, diffs and errors alike: what one of them takes
//! for hidden, the others do.

mod sequence;
mod strip;
mod visible;

pub use narthex_core::{Unseen, unseen, unseen_in};
pub use strip::{Removed, Stripped, strip};
pub use visible::{shown, visible};
