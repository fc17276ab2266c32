//! One conjunction of clauses, taken apart into what can be ordered freely.

use std::collections::BTreeSet;

use super::vars::{can_fail, mentions, vars_of};
use crate::query::{
    BinaryOp, Clause, Direction, EdgeNo, Expr, Function, PropertyRef, SearchHow, Var, VarKind,
    VarNo,
};

/// A conjunction.
#[derive(Debug, Default)]
pub(super) struct Level<'c> {
    /// Nodes that must be found.
    pub(super) binds: BTreeSet<VarNo>,
    pub(super) edges: Vec<EdgeStep>,
    pub(super) filters: Vec<Filter>,
    pub(super) ors: Vec<Sub<&'c [Vec<Clause>]>>,
    pub(super) nots: Vec<Sub<&'c [Clause]>>,
    pub(super) optionals: Vec<Sub<&'c [Clause]>>,
}

/// An edge, or several in a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EdgeStep {
    pub(super) from: VarNo,
    pub(super) edge: EdgeNo,
    pub(super) direction: Direction,
    pub(super) hops: Option<(u32, u32)>,
    pub(super) var: Option<VarNo>,
    pub(super) to: VarNo,
}

impl EdgeStep {
    /// The same from its other end.
    pub(super) fn turned(self) -> Self {
        let direction = match self.direction {
            Direction::Out => Direction::In,
            Direction::In => Direction::Out,
            Direction::Both => Direction::Both,
        };
        Self { from: self.to, to: self.from, direction, ..self }
    }
}

/// A condition.
#[derive(Debug)]
pub(super) struct Filter {
    pub(super) expr: Expr,
    pub(super) vars: BTreeSet<VarNo>,
    /// Such a one comes last: another condition may keep it from failing.
    pub(super) fails: bool,
}

/// A pattern within, with all the variables it speaks of.
#[derive(Debug)]
pub(super) struct Sub<T> {
    pub(super) clauses: T,
    pub(super) vars: BTreeSet<VarNo>,
}

impl<'c> Level<'c> {
    /// Takes clauses apart. An edge that must have something gets a variable if it has none.
    pub(super) fn of(clauses: &'c [Clause], vars: &mut Vec<Var>) -> Self {
        let mut level = Self::default();
        for clause in clauses {
            match clause {
                Clause::Node { var, with } => {
                    level.binds.insert(*var);
                    level.with(*var, with);
                }
                Clause::Edge { from, edge, direction, hops, var, with, to } => {
                    let mut var = *var;
                    if !with.is_empty() {
                        let named = var.unwrap_or_else(|| {
                            vars.push(Var { name: None, kind: VarKind::Edge(*edge) });
                            VarNo(vars.len() - 1)
                        });
                        level.with(named, with);
                        var = Some(named);
                    }
                    level.edges.push(EdgeStep {
                        from: *from,
                        edge: *edge,
                        direction: *direction,
                        hops: *hops,
                        var,
                        to: *to,
                    });
                }
                Clause::Filter(expr) => level.condition(expr),
                Clause::Search { var, property, query, how } => {
                    let function = match how {
                        SearchHow::Words => Function::MatchText,
                        SearchHow::Fuzzy => Function::Fuzzy,
                    };
                    let text = Expr::Property(*var, property.clone());
                    level.filter(Expr::Call(function, vec![text, query.clone()]));
                }
                Clause::Not(inner) => level.nots.push(Sub::of(inner)),
                Clause::Optional(inner) => level.optionals.push(Sub::of(inner)),
                Clause::Or(ways) => {
                    let vars = ways.iter().flat_map(|way| mentions(way).into_keys()).collect();
                    level.ors.push(Sub { clauses: ways.as_slice(), vars });
                }
            }
        }
        level
    }

    fn with(&mut self, var: VarNo, with: &[(PropertyRef, Expr)]) {
        for (property, value) in with {
            let property = Box::new(Expr::Property(var, property.clone()));
            self.filter(Expr::Binary(BinaryOp::Equal, property, Box::new(value.clone())));
        }
    }

    /// A condition, in parts where it is made of parts. One that may fail keeps those before it, as
    /// they may keep it from failing.
    fn condition(&mut self, expr: &Expr) {
        let mut parts = Vec::new();
        conjuncts(expr, &mut parts);
        let mut before: Option<Expr> = None;
        for part in parts {
            let so_far = match before.take() {
                Some(before) => {
                    Expr::Binary(BinaryOp::And, Box::new(before), Box::new(part.clone()))
                }
                None => part.clone(),
            };
            self.filter(if can_fail(part) { so_far.clone() } else { part.clone() });
            before = Some(so_far);
        }
    }

    fn filter(&mut self, expr: Expr) {
        let (vars, fails) = (vars_of(&expr), can_fail(&expr));
        self.filters.push(Filter { expr, vars, fails });
    }

    /// Everything that edges and nodes of this level can bind.
    pub(super) fn nodes(&self) -> BTreeSet<VarNo> {
        let ends = self.edges.iter().flat_map(|step| [step.from, step.to]);
        self.binds.iter().copied().chain(ends).collect()
    }
}

impl<'c> Sub<&'c [Clause]> {
    fn of(clauses: &'c [Clause]) -> Self {
        Self { clauses, vars: mentions(clauses).into_keys().collect() }
    }
}

/// The parts of a condition that all must hold.
pub(crate) fn conjuncts<'e>(expr: &'e Expr, parts: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Binary(BinaryOp::And, a, b) => {
            conjuncts(a, parts);
            conjuncts(b, parts);
        }
        part => parts.push(part),
    }
}
