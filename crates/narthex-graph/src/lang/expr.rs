//! Expressions as they are written.

use super::Bounds;
use crate::Span;
use crate::query::{BinaryOp, UnaryOp};

/// A name with where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// The name.
    pub(crate) name: String,
    /// Where it is.
    pub(crate) span: Span,
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ast {
    /// What it is.
    pub(crate) what: What,
    /// Where it is.
    pub(crate) span: Span,
    height: u32,
}

/// What an expression can be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    List(Vec<Ast>),
    /// A bare name: a property of the row, or a column.
    Name(String),
    /// `$p`, or a parameter.
    Var(String),
    /// `$p.name`; `from.name` of an edge.
    Dot(Box<Ast>, Word),
    /// Also `is null`.
    Unary(UnaryOp, Box<Ast>),
    /// Two operands.
    Binary(BinaryOp, Box<Ast>, Box<Ast>),
    /// `x in xs`.
    In(Box<Ast>, Box<Ast>),
    /// `count(distinct $p)`.
    Call {
        name: Word,
        distinct: bool,
        args: Vec<Ast>,
    },
}

impl Ast {
    /// One that is no deeper than may be.
    pub(crate) fn new(what: What, span: Span) -> Option<Self> {
        let below = match &what {
            What::List(items) | What::Call { args: items, .. } => {
                items.iter().map(|item| item.height).max().unwrap_or(0)
            }
            What::Dot(inner, _) | What::Unary(_, inner) => inner.height,
            What::Binary(_, left, right) | What::In(left, right) => left.height.max(right.height),
            _ => 0,
        };
        (below < Bounds::HEIGHT).then_some(Self { what, span, height: below + 1 })
    }
}
