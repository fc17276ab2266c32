//! Queries as they are written.

use super::Direction;
use crate::Span;
use crate::lang::{Ast, Word};
use crate::schema::Kind;

/// A query.
#[derive(Debug, Clone)]
pub(crate) struct QueryAst {
    /// Its name; of one without a name, `query`.
    pub(crate) name: Word,
    /// What it is told.
    pub(crate) params: Vec<ParamAst>,
    /// `@description("…")`.
    pub(crate) description: Option<String>,
    /// `@instruction("…")`.
    pub(crate) instruction: Option<String>,
    /// What it does.
    pub(crate) body: BodyAst,
}

/// A parameter.
#[derive(Debug, Clone)]
pub(crate) struct ParamAst {
    /// Its name, without the `$`.
    pub(crate) name: Word,
    /// What its values are.
    pub(crate) kind: Kind,
    /// Whether it may be null.
    pub(crate) nullable: bool,
    /// What it is if it is left out.
    pub(crate) default: Option<Ast>,
}

/// What a query does: the grammar has no way to do both.
#[derive(Debug, Clone)]
pub(crate) enum BodyAst {
    /// It looks.
    Read(ReadAst),
    /// It changes; where its first statement is, for the message.
    Write(Vec<StatementAst>, Span),
}

/// A query that looks.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadAst {
    /// What must be found.
    pub(crate) clauses: Vec<ClauseAst>,
    /// Whether equal rows come out once.
    pub(crate) distinct: bool,
    /// What comes out.
    pub(crate) columns: Vec<ColumnAst>,
    /// What must hold for a group, all of it.
    pub(crate) having: Vec<Ast>,
    /// In which order.
    pub(crate) order: Vec<SortAst>,
    /// How many.
    pub(crate) limit: Option<Ast>,
}

/// Values for properties.
pub(crate) type With = Vec<(Word, Ast)>;

/// A part of a pattern.
#[derive(Debug, Clone)]
pub(crate) enum ClauseAst {
    /// `$p: Person { slug: $slug }`.
    Node { var: Word, of: Word, with: With },
    /// `$p $k:knows $f`.
    Edge(Box<EdgeAst>),
    /// A condition.
    Filter(Ast),
    /// `not { … }`.
    Not(Vec<ClauseAst>),
    /// `optional { … }`.
    Optional(Vec<ClauseAst>),
    /// `{ … } or { … }`.
    Or(Vec<Vec<ClauseAst>>),
}

/// `$p $k:knows {1,3} $f`.
#[derive(Debug, Clone)]
pub(crate) struct EdgeAst {
    /// Where it begins.
    pub(crate) from: Word,
    /// The name of the edge, beginning lower case.
    pub(crate) edge: Word,
    /// Which way.
    pub(crate) direction: Direction,
    /// How many in a row.
    pub(crate) hops: Option<(u32, u32)>,
    /// Its variable.
    pub(crate) var: Option<Word>,
    /// What it must have.
    pub(crate) with: With,
    /// The other end.
    pub(crate) to: Word,
}

/// A column.
#[derive(Debug, Clone)]
pub(crate) struct ColumnAst {
    /// What it is.
    pub(crate) value: Ast,
    /// `as name`.
    pub(crate) alias: Option<Word>,
}

/// A part of an order.
#[derive(Debug, Clone)]
pub(crate) struct SortAst {
    /// By what.
    pub(crate) by: Ast,
    /// `desc`.
    pub(crate) descending: bool,
}

/// A statement that changes something.
#[derive(Debug, Clone)]
pub(crate) enum StatementAst {
    /// `insert Person { … }`.
    Insert { of: Word, set: With },
    /// `update Person set { … } where …`.
    Update { of: Word, set: With, filter: Ast },
    /// `delete Person where …`.
    Delete { of: Word, filter: Ast },
}
