//! Two lines of commits become one.
//!
//! The schemas are merged first ([`crate::schema::merge`]), then the rows: [`plan`] finds those
//! that the other line wrote and ours has not seen, and puts each through the pure function
//! [`merge_row`]. What comes of it is a set of changes to ours. Constraints that span rows
//! (uniqueness, how many edges, what must hold for a value) are checked on those changes by whoever
//! makes the commit, as they are for any other change; what is found is told as a [`Conflict`] too.
//!
//! INVARIANT: whatever a commit has seen, the last writes of a row in it (those that no other one
//! in it had seen) are equal, and are what its view shows. That is why a merge writes every row
//! that the other side wrote and that is not equal on both, even where ours stands as it is: the
//! commit says that theirs was looked at, so that no later merge asks again or brings it back.
//!
//! It must never know: who may merge, where commits are kept.

mod asked;
mod broken;
mod changes;
mod conflict;
mod lost;
mod names;
mod orphans;
mod plan;
mod row;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::world;

pub use asked::{Asked, AskedError, Take};
pub use broken::conflicts_of;
pub use changes::{TypedChanges, typed};
pub use conflict::{Conflict, ConflictKind, Conflicts, RowName, Shown};
pub use lost::Lost;
pub use names::Names;
pub(crate) use orphans::find as find_orphans;
#[cfg(test)]
pub(crate) use plan::write_body;
pub(crate) use plan::{
    Alike, Held, MERGE_ROWS, PAGE, read_body, resolve_rows, rows_by_id, said_of_alike, settle,
};
pub use plan::{
    How, MergeError, MergePlan, MergedRows, Resolution, RowChange, RowId, merge_seen, plan,
};
pub use row::{
    Base, Bodies, Body, Clash, Fresh, Known, Merged, Outcome, Side, States, TableRow, merge_row,
    outcome, truth_table, truth_table_markdown, unlike,
};
