//! Queries: `.gq` in, a checked plan out.
//!
//! [`read`] takes a file of queries, [`read_one`] one of them. Where a change must not be accepted,
//! [`read_reading`] gives a [`Reading`], which has no place for one; where one is meant,
//! [`read_writing`] gives a [`Writing`].

mod ast;
pub(crate) mod check;
mod parse;
mod plan;
mod select;
#[cfg(test)]
mod tests;

pub use plan::{
    Aggregate, BinaryOp, Body, Clause, Column, Direction, EdgeNo, Expr, Fold, Function, NodeNo,
    Param, Plan, PropertyNo, PropertyRef, Read, SearchHow, Sort, Statement, UnaryOp, Var, VarKind,
    VarNo,
};
pub use select::{
    Outline, Reading, Writing, parse_only, read, read_one, read_reading, read_writing,
};
