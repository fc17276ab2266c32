//! What names mean where an expression stands.

use std::collections::BTreeMap;

use crate::query::{Column, Param, VarNo};
use crate::schema::Property;

/// What names mean here, and what may be said here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names<'a> {
    /// The query's parameters.
    pub(crate) params: &'a [Param],
    /// What each variable stands for, by its number.
    pub(crate) rows: &'a [Row<'a>],
    /// The variables that have a name here.
    pub(crate) vars: &'a BTreeMap<String, VarNo>,
    /// What a name without `$` means.
    pub(crate) bare: Bare<'a>,
    /// Where the expression stands.
    pub(crate) place: Place,
}

/// What a variable stands for.
#[derive(Debug, Clone)]
pub(crate) struct Row<'a> {
    /// Its name, even where it is not seen.
    pub(crate) name: Option<String>,
    /// What it is, for a message: `Person`.
    pub(crate) label: String,
    /// What each type it can have is called.
    pub(crate) called: Vec<&'a str>,
    /// The properties of each type it can have. None if that could not be told.
    pub(crate) types: Vec<&'a [Property]>,
    /// Of a node, which property is the key of each.
    pub(crate) keys: Vec<usize>,
    /// Whether it is an edge.
    pub(crate) edge: bool,
    /// Whether there may be none.
    pub(crate) nullable: bool,
}

/// What a name without `$` means.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bare<'a> {
    /// Nothing.
    Nothing,
    /// A property of variable 0.
    Row,
    /// A property of variable 0, an edge; or one of its ends, variables 1 and 2, by their keys.
    Edge,
    /// A column of the answer.
    Columns(&'a [Column]),
}

/// Where an expression stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In `match`.
    Match,
    /// In `return`.
    Return,
    /// In `order`.
    Order,
    /// In `having`.
    Having,
    /// Among the values of an insert or an update.
    Values,
    /// Behind `where`.
    Where,
    /// In `@check`.
    Check,
}

impl Place {
    /// What it is called.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Return => "return",
            Self::Order => "order",
            Self::Having => "having",
            Self::Values => "the values of a row",
            Self::Where => "where",
            Self::Check => "a check",
        }
    }
}
