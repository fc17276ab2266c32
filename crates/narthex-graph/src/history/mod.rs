//! What was, and what became of it: where two lines part, what differs between two commits, how a
//! commit is taken back, and what a commit is called.

mod base;
mod commit;
mod diff;
mod revert;
#[cfg(test)]
mod tests;

pub use base::Meeting;
pub use commit::{ChangedRow, ChangesDigest, CommitParts, commit_id};
pub use diff::{DiffKind, DiffPage, PropertyDiff, RowDiff, diff};
pub use revert::{RevertError, RevertPlan, revert};
