//! Carrying out a checked query over a look at a graph.
//!
//! [`run_read`] answers a query that looks, [`run_write`] turns one that changes into [`Changes`].
//! What any set of changes must hold to, whoever made it, is in [`constraints`]; what a store must
//! write for it in [`indexing`]. Everything here is bounded by [`Limits`], and no expression can
//! wrap or panic: it has a value, or there is an [`ExecError`].

mod changes;
pub mod constraints;
mod cursor;
mod error;
mod eval;
pub mod indexing;
mod limits;
mod overlay;
mod read;
mod write;

#[cfg(test)]
mod tests;

use chrono::{DateTime, Utc};

pub use changes::{Changed, Changes, Counts, RowKind};
pub use cursor::{Cursor, Page};
pub use error::{CursorError, ExecError, Violation, ViolationKind};
pub use eval::check_holds;
pub use limits::{Bound, Limits};
pub use read::{Answer, AnswerColumn, Cell, Whole, run_read};
pub use write::run_write;

use crate::schema::Schema;
use crate::value::Value;

/// What a query is carried out with.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The schema it was checked against.
    pub schema: &'a Schema,
    /// What the graph's row numbers are made with.
    pub salt: &'a [u8; 16],
    /// Its parameters, one for each.
    pub params: &'a [Value],
    /// What `now()` is.
    pub now: DateTime<Utc>,
    /// How much it may take.
    pub limits: &'a Limits,
}
