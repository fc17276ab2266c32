//! In which order the clauses of a pattern are carried out.
//!
//! Chosen once, from the query and the schema alone: the same query over the same data takes the
//! same way, so that what comes out has the same order even where none was asked for. Conditions
//! come as soon as what they speak of is bound; then the step that is likely to find the least.

use std::collections::{BTreeMap, BTreeSet};

use super::access::{Access, access};
use super::level::{EdgeStep, Level};
use super::vars::{binds, mentions, mentions_in};
use crate::exec::ExecError;
use crate::query::{
    BinaryOp, Clause, Expr, NodeNo, PropertyRef, Read, UnaryOp, Var, VarKind, VarNo,
};
use crate::schema::Schema;

/// A step. All of them work on a whole table of bindings at once.
#[derive(Debug, PartialEq)]
pub(super) enum Op {
    /// Finds a node. With `join`, only where this property is equal to that.
    Bind { var: VarNo, access: Access, join: Option<(PropertyRef, Expr)> },
    /// Follows an edge from a bound variable; its other end may be bound too.
    Follow(EdgeStep),
    /// Follows several in a row.
    Path(EdgeStep, (u32, u32)),
    /// Finds an edge with both its ends.
    Edges(EdgeStep),
    /// Keeps where it holds.
    Filter(Expr),
    /// Keeps where nothing is found.
    Not(Vec<Op>),
    /// Finds more, or leaves these null.
    Optional(Vec<Op>, Vec<VarNo>),
    /// Finds in any of these ways; the variables that are null where a way does not bind them, and
    /// those nobody asks for outside.
    Or(Vec<Vec<Op>>, Vec<VarNo>, Vec<VarNo>),
}

/// A pattern, ready to be looked for.
#[derive(Debug)]
pub(super) struct Pattern {
    /// The query's variables, and some for edges that have none.
    pub(super) vars: Vec<Var>,
    pub(super) ops: Vec<Op>,
}

/// Puts a query's clauses in order.
pub(super) fn pattern(schema: &Schema, read: &Read) -> Result<Pattern, ExecError> {
    let mut orderer = Orderer { schema, vars: read.vars.clone(), mentions: mentions_in(read) };
    let ops = orderer.level(&read.clauses, &mut BTreeSet::new())?;
    Ok(Pattern { vars: orderer.vars, ops })
}

struct Orderer<'a> {
    schema: &'a Schema,
    vars: Vec<Var>,
    mentions: BTreeMap<VarNo, usize>,
}

/// What comes next, the better the lower.
enum Next {
    Bind(VarNo, Access),
    Edge(usize),
    Or(usize),
}

impl Orderer<'_> {
    fn level(
        &mut self,
        clauses: &[Clause],
        bound: &mut BTreeSet<VarNo>,
    ) -> Result<Vec<Op>, ExecError> {
        let mut level = Level::of(clauses, &mut self.vars);
        let mut ops = Vec::new();
        for var in level.binds.iter().filter(|var| bound.contains(var)) {
            // Bound outside, but perhaps to nothing.
            let null = Expr::Unary(UnaryOp::IsNull, Box::new(Expr::Var(*var)));
            ops.push(Op::Filter(Expr::Unary(UnaryOp::Not, Box::new(null))));
        }
        loop {
            settle(&mut level, bound, &mut ops, false);
            self.nots(&mut level, bound, &mut ops)?;
            if let Some(next) = self.next(&level, bound) {
                self.take(next, &mut level, bound, &mut ops)?;
                continue;
            }
            settle(&mut level, bound, &mut ops, true);
            if level.optionals.is_empty() {
                break;
            }
            let inner = level.optionals.remove(0);
            let mut found = bound.clone();
            let inner_ops = self.level(inner.clauses, &mut found)?;
            let new = found.difference(bound).copied().collect();
            ops.push(Op::Optional(inner_ops, new));
            *bound = found;
        }
        if level.filters.is_empty() && level.nots.is_empty() {
            Ok(ops)
        } else {
            Err(ExecError::Plan("a condition on a variable that is never bound"))
        }
    }

    /// `not` comes once all it shares with what is around it is bound.
    fn nots(
        &mut self,
        level: &mut Level<'_>,
        bound: &BTreeSet<VarNo>,
        ops: &mut Vec<Op>,
    ) -> Result<(), ExecError> {
        let later: BTreeSet<VarNo> = level.later();
        let (now, wait) = std::mem::take(&mut level.nots).into_iter().partition(|not| {
            not.vars.iter().all(|var| bound.contains(var) || !later.contains(var))
        });
        level.nots = wait;
        let now: Vec<super::level::Sub<&[Clause]>> = now;
        for not in now {
            ops.push(Op::Not(self.level(not.clauses, &mut bound.clone())?));
        }
        Ok(())
    }

    fn next(&self, level: &Level<'_>, bound: &BTreeSet<VarNo>) -> Option<Next> {
        let mut best: Option<(u8, Next)> = None;
        let mut offer = |rank: u8, next: Next| {
            if best.as_ref().is_none_or(|(other, _)| rank < *other) {
                best = Some((rank, next));
            }
        };
        for (number, step) in level.edges.iter().enumerate() {
            match (bound.contains(&step.from) || bound.contains(&step.to), step.hops) {
                _ if bound.contains(&step.from) && bound.contains(&step.to) => {
                    offer(0, Next::Edge(number));
                }
                (true, None) => offer(2, Next::Edge(number)),
                (true, Some(_)) => offer(3, Next::Edge(number)),
                (false, None) => offer(SCAN_EDGES, Next::Edge(number)),
                (false, Some(_)) => {}
            }
        }
        for var in level.nodes().into_iter().filter(|var| !bound.contains(var)) {
            let conditions = level.filters.iter().map(|filter| &filter.expr);
            let access = access(self.schema, var, self.types(var), conditions, bound);
            let alone = |vars: &BTreeSet<VarNo>| vars.contains(&var) && vars.len() == 1;
            let rank = match &access {
                Access::Key(_) | Access::Keys(_) => 1,
                Access::Scan if level.filters.iter().any(|filter| alone(&filter.vars)) => {
                    SCAN_EDGES - 1
                }
                Access::Scan => SCAN_EDGES + 1,
                better => 4 + better.rank(),
            };
            offer(rank, Next::Bind(var, access));
        }
        for (number, or) in level.ors.iter().enumerate() {
            let rank = if is_early(or.clauses, level, number, bound) { OR } else { u8::MAX };
            offer(rank, Next::Or(number));
        }
        best.map(|(_, next)| next)
    }

    fn take(
        &mut self,
        next: Next,
        level: &mut Level<'_>,
        bound: &mut BTreeSet<VarNo>,
        ops: &mut Vec<Op>,
    ) -> Result<(), ExecError> {
        match next {
            Next::Bind(var, access) => {
                let join = match access {
                    Access::Key(_) => None,
                    _ => level.filters.iter().find_map(|filter| joined(var, &filter.expr, bound)),
                };
                ops.push(Op::Bind { var, access, join });
                bound.insert(var);
            }
            Next::Edge(number) => {
                let step = level.edges.remove(number);
                bound.extend(step.var);
                let (from, to) = (bound.insert(step.from), bound.insert(step.to));
                // Both are new if both were put in; a loop puts in one.
                let neither = from && (to || step.from == step.to);
                ops.push(match (neither, step.hops) {
                    (true, _) => Op::Edges(step),
                    (_, None) if from => Op::Follow(step.turned()),
                    (_, None) => Op::Follow(step),
                    (_, Some(hops)) if from => Op::Path(step.turned(), hops),
                    (_, Some(hops)) => Op::Path(step, hops),
                });
            }
            Next::Or(number) => {
                let or = level.ors.remove(number);
                let mut found = bound.clone();
                let mut ways = Vec::new();
                for way in or.clauses {
                    let mut inner = bound.clone();
                    ways.push(self.level(way, &mut inner)?);
                    found.extend(inner);
                }
                let new: Vec<VarNo> = found.difference(bound).copied().collect();
                let mut inside: BTreeMap<VarNo, usize> = BTreeMap::new();
                for (var, count) in or.clauses.iter().flat_map(|way| mentions(way)) {
                    *inside.entry(var).or_default() += count;
                }
                let (hidden, new) =
                    new.into_iter().partition(|var| self.mentions.get(var) == inside.get(var));
                ops.push(Op::Or(ways, new, hidden));
                *bound = found;
            }
        }
        Ok(())
    }

    fn types(&self, var: VarNo) -> &[NodeNo] {
        match self.vars.get(var.0).map(|var| &var.kind) {
            Some(VarKind::Node(types)) => types,
            _ => &[],
        }
    }
}

impl Level<'_> {
    /// What is still to be bound by this level.
    fn later(&self) -> BTreeSet<VarNo> {
        let mut later = self.nodes();
        later.extend(self.edges.iter().filter_map(|step| step.var));
        later.extend(self.ors.iter().flat_map(|or| &or.vars));
        later.extend(self.optionals.iter().flat_map(|optional| &optional.vars));
        later
    }
}

/// Conditions whose variables are bound; at last also those that may fail.
fn settle(level: &mut Level<'_>, bound: &BTreeSet<VarNo>, ops: &mut Vec<Op>, all: bool) {
    let (now, wait): (Vec<_>, Vec<_>) = std::mem::take(&mut level.filters)
        .into_iter()
        .partition(|filter| filter.vars.is_subset(bound) && (all || !filter.fails));
    level.filters = wait;
    ops.extend(now.into_iter().map(|filter| Op::Filter(filter.expr)));
}

/// Whether an `or` can come before other steps without meaning something else: each of its ways
/// binds the same of what others speak of too, and waits for nothing.
fn is_early(
    ways: &[Vec<Clause>],
    level: &Level<'_>,
    number: usize,
    bound: &BTreeSet<VarNo>,
) -> bool {
    // One within another may wait for what the outer one has not bound yet.
    if ways.iter().flatten().any(|clause| matches!(clause, Clause::Or(_))) {
        return false;
    }
    let mut shared = level.nodes();
    shared.extend(level.edges.iter().filter_map(|step| step.var));
    let others = level.ors.iter().enumerate().filter(|(other, _)| *other != number);
    shared.extend(others.flat_map(|(_, or)| &or.vars));
    shared.extend(level.optionals.iter().flat_map(|optional| &optional.vars));
    shared.retain(|var| !bound.contains(var));
    let mut bindings = ways.iter().map(|way| &binds(way) & &shared);
    let Some(first) = bindings.next() else { return true };
    let alike = bindings.all(|other| other == first);
    let waits = ways.iter().flat_map(|way| mentions(way).into_keys());
    alike && waits.into_iter().all(|var| !shared.contains(&var) || first.contains(&var))
}

/// The property that a condition says is equal to something that is bound.
fn joined(var: VarNo, expr: &Expr, bound: &BTreeSet<VarNo>) -> Option<(PropertyRef, Expr)> {
    let Expr::Binary(BinaryOp::Equal, a, b) = expr else { return None };
    let side = |this: &Expr, that: &Expr| match this {
        Expr::Property(of, property) if *of == var => {
            let vars = super::vars::vars_of(that);
            let known = !vars.is_empty() && vars.is_subset(bound);
            known.then(|| (property.clone(), that.clone()))
        }
        _ => None,
    };
    side(a, b).or_else(|| side(b, a))
}

const OR: u8 = 50;
const SCAN_EDGES: u8 = 101;
