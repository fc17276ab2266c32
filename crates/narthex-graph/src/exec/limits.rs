//! How much a query may take.

use std::fmt;
use std::time::Instant;

use super::ExecError;

/// How much a query may take, each with a default that an ordinary machine can bear.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Ways a pattern is found in, at any one step.
    pub bindings: u64,
    /// Rows that are looked at, all in all.
    pub scanned: u64,
    /// Rows of one answer (or of one page of it).
    pub answer_rows: u64,
    /// Its size, about.
    pub answer_bytes: u64,
    /// Edges in a row.
    pub hops: u32,
    /// Rows that one query changes.
    pub changes: u64,
    /// When it is over. Whoever no longer wants the answer lets go of it: a query gives way
    /// between its steps, and now and then within them.
    pub deadline: Option<Instant>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bindings: 1_000_000,
            scanned: 5_000_000,
            answer_rows: 10_000,
            answer_bytes: 16 << 20,
            hops: 16,
            changes: 100_000,
            deadline: None,
        }
    }
}

impl Limits {
    /// Whether to go on.
    pub(crate) fn go_on(&self) -> Result<(), ExecError> {
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(ExecError::TimedOut);
        }
        Ok(())
    }

    /// Whether that many are within a bound.
    pub(crate) fn within(&self, bound: Bound, count: u64) -> Result<(), ExecError> {
        let most = self.most(bound);
        if count > most { Err(ExecError::Limit { bound, most }) } else { Ok(()) }
    }

    fn most(&self, bound: Bound) -> u64 {
        match bound {
            Bound::Bindings => self.bindings,
            Bound::Scanned => self.scanned,
            Bound::AnswerBytes => self.answer_bytes,
            Bound::Hops => self.hops.into(),
            Bound::Changes => self.changes,
        }
    }
}

/// What a query had too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bound {
    /// [`Limits::bindings`].
    Bindings,
    /// [`Limits::scanned`].
    Scanned,
    /// [`Limits::answer_bytes`].
    AnswerBytes,
    /// [`Limits::hops`].
    Hops,
    /// [`Limits::changes`].
    Changes,
}

impl Bound {
    /// What to do about it.
    pub const fn way_out(self) -> &'static str {
        match self {
            Self::Bindings => {
                "add a filter that leaves fewer, or ask for less in one pattern (shorter paths, fewer \
                 unconnected variables)"
            }
            Self::Scanned => {
                "begin at a key or an indexed property, or put an `@index` on what is filtered by"
            }
            Self::AnswerBytes => "ask for smaller pages, add a limit, or return fewer columns",
            Self::Hops => "ask for a shorter path",
            Self::Changes => "narrow the condition, or load the change from a file",
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bindings => "ways to find the pattern",
            Self::Scanned => "rows to look at",
            Self::AnswerBytes => "bytes of answer",
            Self::Hops => "edges in a row",
            Self::Changes => "rows changed by one query",
        })
    }
}
