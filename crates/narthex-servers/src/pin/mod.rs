//! What was agreed to, and whether it is still so.
//!
//! A start ([`Start`]) and every definition ([`Definition`]) have a digest; an approval is for that
//! digest and nothing else. [`compare`] says of each definition whether it is the one that was
//! approved, and shows what is different. Only [`program`] looks at files.

mod compare;
mod definition;
mod diff;
mod disk;
mod offer;
pub mod program;
mod start;

pub use compare::{Compared, Pinned, Standing, compare};
pub use definition::{Definition, DefinitionFault, Key, Kind};
pub use diff::diff_texts;
pub use disk::RealDisk;
pub use offer::{Offer, Refused};
pub use start::{Mismatched, Start, StartReach};
