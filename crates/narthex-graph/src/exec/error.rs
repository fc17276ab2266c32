//! What can go wrong, and whose fault it is.

use std::fmt;

use narthex_store::{RowNo, Side, StoreError, Tag};

use super::limits::Bound;
use crate::rows::BodyError;

/// Why a query was not carried out. Nothing of it took effect.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The store's.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Ours: a row does not fit the schema it is under.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// Ours: the plan was not made for this schema.
    #[error("the query does not fit the schema: {0}")]
    Plan(&'static str),
    /// The caller's: a parameter was not given.
    #[error("parameter {} of the query has no value", .0 + 1)]
    MissingParam(usize),
    /// The caller's: a number that is too large for what it is.
    #[error("too large a number: {0}")]
    Overflow(String),
    /// The caller's.
    #[error("division by zero; leave such rows out, as in `$p.x != 0 and 1 / $p.x > 2`")]
    DivisionByZero,
    /// The caller's: not possible here.
    #[error("{0}")]
    Unsupported(String),
    /// The caller's: more than a query may take.
    #[error("more than {most} {bound}; {}", .bound.way_out())]
    Limit {
        /// Of what.
        bound: Bound,
        /// How much there may be.
        most: u64,
    },
    /// It took too long.
    #[error("the query took too long; add a filter, an index or a limit")]
    TimedOut,
    /// The caller's: this is no place in this answer.
    #[error(transparent)]
    Cursor(#[from] CursorError),
    /// The caller's: a value that a property cannot have.
    #[error("{what}: {message}")]
    Unfit {
        /// Which, as `Person.age`.
        what: String,
        /// What is wrong with it.
        message: String,
    },
    /// The caller's: it is there already.
    #[error("{kind} `{key}` is there already; `update` changes it")]
    AlreadyThere {
        /// The type.
        kind: String,
        /// Its key; of an edge, `ada -> bob`.
        key: String,
    },
    /// The caller's: the node that an edge should begin or end at is not there.
    #[error("{edge} cannot {} {kind} `{key}`, which is not there", end_word(*.end))]
    NoSuchEnd {
        /// The type of the edge.
        edge: String,
        /// Which end.
        end: Side,
        /// The type of the node.
        kind: String,
        /// Its key.
        key: String,
    },
    /// The caller's: what would come out breaks rules of the schema.
    #[error("{}", violations_text(.0))]
    Violations(Vec<Violation>),
}

/// A cursor that is of no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CursorError {
    /// It is none.
    #[error("this is no cursor; use the `next` of an answer as it is")]
    Unreadable,
    /// It belongs to something else.
    #[error("this cursor belongs to another query, or to other parameters; begin without one")]
    Elsewhere,
    /// The caller looks at another commit than the cursor is of.
    #[error("this cursor belongs to another commit; begin without one")]
    OtherCommit,
}

/// A rule of the schema that a row breaks.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    /// The row's type.
    pub tag: Tag,
    /// Its number.
    pub row: RowNo,
    /// The name of its type.
    pub kind: String,
    /// Its key; of an edge, `ada -> bob`.
    pub key: String,
    /// Which rule.
    pub what: ViolationKind,
}

/// Rules that a row can break.
#[derive(Debug, Clone, PartialEq)]
pub enum ViolationKind {
    /// A value that the property cannot have: none where there must be one, out of range, no word of
    /// the enum.
    Value {
        /// The property.
        property: String,
        /// What is wrong with it.
        message: String,
    },
    /// An `@check` does not hold.
    Check {
        /// As it is written.
        source: String,
        /// Why it could not be told, if so.
        message: Option<String>,
    },
    /// Another row has the same.
    Unique {
        /// The properties.
        properties: Vec<String>,
        /// The other row.
        other: RowNo,
        /// Its key.
        other_key: String,
    },
    /// Too few or too many edges begin at this node.
    Card {
        /// The type of the edges.
        edge: String,
        /// How many there would be.
        count: u64,
        /// At least.
        min: u32,
        /// At most.
        max: Option<u32>,
    },
    /// The node that an edge begins or ends at is not there.
    Orphan {
        /// Which end.
        end: Side,
        /// The type of the missing node.
        node: String,
        /// Its key.
        node_key: String,
    },
    /// An edge begins or ends at a node of a type that it may not.
    EndType {
        /// Which end.
        end: Side,
        /// The slot of the type.
        slot: String,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, key, what, .. } = self;
        write!(f, "{kind} `{key}`: ")?;
        match what {
            ViolationKind::Value { property, message } => write!(f, "`{property}`: {message}"),
            ViolationKind::Check { source, message: None } => {
                write!(f, "`@check({source})` does not hold")
            }
            ViolationKind::Check { source, message: Some(message) } => {
                write!(f, "`@check({source})` cannot be told: {message}")
            }
            ViolationKind::Unique { properties, other_key, .. } => {
                write!(f, "`{}` must be unique, and `{other_key}` has it", properties.join(", "))
            }
            ViolationKind::Card { edge, count, min, max } => {
                write!(f, "{count} {edge} would begin here, and there must be ")?;
                match max {
                    Some(max) => write!(f, "from {min} to {max}"),
                    None => write!(f, "at least {min}"),
                }
            }
            ViolationKind::Orphan { end, node, node_key } => {
                write!(f, "it would {} {node} `{node_key}`, which is not there", end_word(*end))
            }
            ViolationKind::EndType { end, slot } => {
                write!(f, "it cannot {} a node of type {slot}", end_word(*end))
            }
        }
    }
}

fn violations_text(violations: &[Violation]) -> String {
    let mut text: Vec<String> =
        violations.iter().take(SHOWN).map(std::string::ToString::to_string).collect();
    if violations.len() > SHOWN {
        text.push(format!("and {} more", violations.len() - SHOWN));
    }
    text.join("; ")
}

const fn end_word(end: Side) -> &'static str {
    match end {
        Side::From => "begin at",
        Side::To => "end at",
    }
}

/// How many violations a message names.
const SHOWN: usize = 5;
