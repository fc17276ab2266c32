//! A checked query: every name resolved against one schema, every expression typed.
//!
//! A plan holds numbers, not names: [`NodeNo`] and [`EdgeNo`] count the schema's types in their
//! order, [`PropertyNo`] a type's properties. It is good for the schema it was checked against.

use crate::schema::Kind;
use crate::value::Value;

/// The number of a node type in the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeNo(pub usize);

/// The number of an edge type in the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EdgeNo(pub usize);

/// The number of a property in its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PropertyNo(pub usize);

impl PropertyNo {
    /// None of them: always null.
    pub const NONE: Self = Self(usize::MAX);
}

/// The number of a variable in its query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarNo(pub usize);

/// A checked query.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// What it is told.
    pub params: Vec<Param>,
    /// What it is (`@description`).
    pub description: Option<String>,
    /// How a model should use it (`@instruction`).
    pub instruction: Option<String>,
    /// What it does.
    pub body: Body,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    /// Its name, without the `$`.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
    /// Whether it may be null. Such a one may be left out.
    pub nullable: bool,
    /// What it is if it is left out.
    pub default: Option<Value>,
}

/// What a query does. By the grammar it is one or the other.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// It looks.
    Read(Read),
    /// It changes, all of it in one commit.
    Write(Vec<Statement>),
}

/// A variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Var {
    /// Its name, without the `$`; `_` and what has no name have none.
    pub name: Option<String>,
    /// What it stands for.
    pub kind: VarKind,
}

/// What a variable stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum VarKind {
    /// A node of one of these types. Several: those of an interface, whose properties alone can be
    /// used then.
    Node(Vec<NodeNo>),
    /// An edge.
    Edge(EdgeNo),
}

/// A query that looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// Its variables, those inside `not`, `or` and `optional` too.
    pub vars: Vec<Var>,
    /// What must be found, all of it.
    pub clauses: Vec<Clause>,
    /// What comes out.
    pub columns: Vec<Column>,
    /// Whether equal rows come out once.
    pub distinct: bool,
    /// What must hold for a group. Refers to columns and aggregates.
    pub having: Option<Expr>,
    /// In which order. Without any, the order is still the same for the same data.
    pub order: Vec<Sort>,
    /// How many at most: a number, or a parameter.
    pub limit: Option<Expr>,
}

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq)]
pub enum Clause {
    /// `$p: Person { slug: $slug }`. The properties are equal to these.
    Node {
        /// Which variable; its types are the variable's.
        var: VarNo,
        /// What it must have.
        with: Vec<(PropertyRef, Expr)>,
    },
    /// `$p $k:knows{1,3} $f`.
    Edge {
        /// Where it begins (for [`Direction::In`]: ends).
        from: VarNo,
        /// The type.
        edge: EdgeNo,
        /// Which way.
        direction: Direction,
        /// How many in a row, at least and at most; one if none. No edge is taken twice on one way.
        hops: Option<(u32, u32)>,
        /// The variable of the edge itself; only of a single one.
        var: Option<VarNo>,
        /// What the edge must have; only of a single one.
        with: Vec<(PropertyRef, Expr)>,
        /// The other end.
        to: VarNo,
    },
    /// A condition.
    Filter(Expr),
    /// `search($p.bio, $q)`: the text has all the words.
    Search {
        /// Of which variable.
        var: VarNo,
        /// Which property.
        property: PropertyRef,
        /// What is looked for.
        query: Expr,
        /// How.
        how: SearchHow,
    },
    /// `not { … }`: nothing like this is there.
    Not(Vec<Clause>),
    /// `optional { … }`: its variables are null where nothing like this is there.
    Optional(Vec<Clause>),
    /// `{ … } or { … }`: found in any of these ways, once each.
    Or(Vec<Vec<Clause>>),
}

/// How a text is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SearchHow {
    /// All the words, each as a whole (`search`, `match_text`).
    Words,
    /// All the words, each within a typing error or two (`fuzzy`).
    Fuzzy,
}

/// A property of a variable: one number for each type the variable can have, in that order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PropertyRef(pub Vec<PropertyNo>);

/// Which way an edge is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// As it points: `$a knows $b`.
    Out,
    /// Against it: `$a <knows $b`.
    In,
    /// Either: `$a <knows> $b`.
    Both,
}

/// A column of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name: the alias, or what was written (`f.slug`).
    pub name: String,
    /// What it is.
    pub value: Expr,
    /// What its values are; none for a whole node or edge.
    pub kind: Option<Kind>,
    /// Whether it may be null.
    pub nullable: bool,
}

/// A part of the order.
#[derive(Debug, Clone, PartialEq)]
pub struct Sort {
    /// By what. May be `nearest(…)`, `bm25(…)` or `rrf(…)`.
    pub by: Expr,
    /// From the highest down. Nulls come last either way.
    pub descending: bool,
}

/// An expression. It has been typed: every operation fits its operands.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A value.
    Const(Value),
    /// The n-th parameter.
    Param(usize),
    /// A whole node or edge.
    Var(VarNo),
    /// A property; null if the variable is.
    Property(VarNo, PropertyRef),
    /// The n-th column of the answer: `order` and `having` may speak of those.
    Column(usize),
    /// One operand.
    Unary(UnaryOp, Box<Expr>),
    /// Two.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// A function.
    Call(Function, Vec<Expr>),
    /// A list of these; one that is known beforehand is a [`Expr::Const`].
    List(Vec<Expr>),
    /// Over all rows of a group; the columns without one are what groups are made by.
    Fold(Box<Aggregate>),
}

/// An aggregate.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// Which.
    pub fold: Fold,
    /// Over what; `count()` counts rows.
    pub over: Option<Expr>,
    /// Whether equal values count once.
    pub distinct: bool,
}

/// Aggregates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fold {
    /// How many that are not null; an I64.
    Count,
    /// Null of nothing.
    Sum,
    /// An F64; null of nothing.
    Avg,
    /// Null of nothing.
    Min,
    /// Null of nothing.
    Max,
}

/// Operations on one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Not; null stays null.
    Not,
    /// The negative.
    Minus,
    /// Whether there is none: `$x.age = null`, `is null`.
    IsNull,
}

/// Operations on two values. A comparison or a sum with null is null; a row whose condition is null
/// is not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is what it is called")]
pub enum BinaryOp {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    And,
    Or,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

impl BinaryOp {
    /// How it is written.
    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::And => "and",
            Self::Or => "or",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
        }
    }
}

/// Functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// `starts_with(text, text)`.
    StartsWith,
    /// `contains(text, text)` or `contains(list, item)`.
    Contains,
    /// `match_text(text, words)`, as a condition.
    MatchText,
    /// `fuzzy(text, words)`, as a condition.
    Fuzzy,
    /// `bm25($p.bio, words)`: higher is better, null where it does not match.
    Bm25,
    /// `nearest($p.embedding, vector)`: the cosine distance, lower is better.
    Nearest,
    /// `rrf(a, b, …)`: reciprocal rank fusion of rankings, higher is better.
    Rrf,
    /// `now()`: the moment of the query, the same all over it.
    Now,
    /// `lower(text)`.
    Lower,
    /// `upper(text)`.
    Upper,
    /// `length(text or list)`.
    Length,
    /// `coalesce(a, b, …)`: the first that is not null.
    Coalesce,
}

/// A statement that changes something. Later ones see what earlier ones did.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// `insert Person { … }`: refused if the key is there.
    InsertNode {
        /// The type.
        node: NodeNo,
        /// The values.
        set: Vec<(PropertyNo, Expr)>,
    },
    /// `insert Knows { from: …, to: …, … }`: refused if the edge is there, or an end is not.
    InsertEdge {
        /// The type.
        edge: EdgeNo,
        /// The type and key of where it begins.
        from: (NodeNo, Expr),
        /// And of where it ends.
        to: (NodeNo, Expr),
        /// The values.
        set: Vec<(PropertyNo, Expr)>,
    },
    /// `update Person set { … } where …`. The row is variable 0 in all expressions.
    UpdateNode {
        /// The type.
        node: NodeNo,
        /// The new values; never the key.
        set: Vec<(PropertyNo, Expr)>,
        /// Which ones. There is always a condition.
        filter: Expr,
    },
    /// `update Knows set { … } where from = … and to = …`. In the condition the edge is variable 0,
    /// the node it begins at variable 1, the one it ends at variable 2.
    UpdateEdge {
        /// The type.
        edge: EdgeNo,
        /// The new values; never those of its key.
        set: Vec<(PropertyNo, Expr)>,
        /// Which ones.
        filter: Expr,
    },
    /// `delete Person where …`: its edges go with it.
    DeleteNode {
        /// The type.
        node: NodeNo,
        /// Which ones.
        filter: Expr,
    },
    /// `delete Knows where …`, with the variables of [`Statement::UpdateEdge`].
    DeleteEdge {
        /// The type.
        edge: EdgeNo,
        /// Which ones.
        filter: Expr,
    },
}
