//! Which variables an expression or a clause speaks of.

use std::collections::{BTreeMap, BTreeSet};

use crate::query::{BinaryOp, Clause, Expr, Function, Read, VarNo};

/// Calls `see` with an expression and everything inside it.
pub(crate) fn walk<'e>(expr: &'e Expr, see: &mut dyn FnMut(&'e Expr)) {
    see(expr);
    match expr {
        Expr::Const(_) | Expr::Param(_) | Expr::Var(_) | Expr::Property(..) | Expr::Column(_) => {}
        Expr::Unary(_, of) => walk(of, see),
        Expr::Binary(_, a, b) => {
            walk(a, see);
            walk(b, see);
        }
        Expr::Call(_, args) | Expr::List(args) => args.iter().for_each(|arg| walk(arg, see)),
        Expr::Fold(aggregate) => {
            if let Some(over) = &aggregate.over {
                walk(over, see);
            }
        }
    }
}

/// The variables in an expression.
pub(crate) fn vars_of(expr: &Expr) -> BTreeSet<VarNo> {
    let mut vars = BTreeSet::new();
    walk(expr, &mut |of| match of {
        Expr::Var(var) | Expr::Property(var, _) => _ = vars.insert(*var),
        _ => {}
    });
    vars
}

/// The variables whose properties are in an expression.
pub(crate) fn loaded_vars(expr: &Expr) -> BTreeSet<VarNo> {
    let mut vars = BTreeSet::new();
    walk(expr, &mut |of| {
        if let Expr::Property(var, _) = of {
            vars.insert(*var);
        }
    });
    vars
}

/// Whether evaluating it can be an error rather than a value.
pub(crate) fn can_fail(expr: &Expr) -> bool {
    let mut fails = false;
    walk(expr, &mut |of| {
        fails |= matches!(
            of,
            Expr::Binary(
                BinaryOp::Add
                    | BinaryOp::Subtract
                    | BinaryOp::Multiply
                    | BinaryOp::Divide
                    | BinaryOp::Modulo,
                ..
            ) | Expr::Call(Function::Nearest, _)
        );
    });
    fails
}

/// Every expression of a query, with those of its clauses.
pub(crate) fn expressions(read: &Read) -> Vec<&Expr> {
    let mut all = Vec::new();
    for clause in &read.clauses {
        clause_expressions(clause, &mut all);
    }
    all.extend(read.columns.iter().map(|column| &column.value));
    all.extend(read.having.iter());
    all.extend(read.order.iter().map(|sort| &sort.by));
    all
}

fn clause_expressions<'e>(clause: &'e Clause, all: &mut Vec<&'e Expr>) {
    match clause {
        Clause::Node { with, .. } | Clause::Edge { with, .. } => {
            all.extend(with.iter().map(|(_, expr)| expr));
        }
        Clause::Filter(expr) => all.push(expr),
        Clause::Search { query, .. } => all.push(query),
        Clause::Not(inner) | Clause::Optional(inner) => {
            for clause in inner {
                clause_expressions(clause, all);
            }
        }
        Clause::Or(ways) => {
            ways.iter().flatten().for_each(|clause| clause_expressions(clause, all));
        }
    }
}

/// How often each variable is spoken of in these clauses.
pub(crate) fn mentions(clauses: &[Clause]) -> BTreeMap<VarNo, usize> {
    let mut counts = BTreeMap::new();
    for clause in clauses {
        count(clause, &mut counts);
    }
    counts
}

/// How often each variable is spoken of in a whole query.
pub(crate) fn mentions_in(read: &Read) -> BTreeMap<VarNo, usize> {
    let mut counts = mentions(&read.clauses);
    let rest = read.columns.iter().map(|column| &column.value);
    let rest = rest.chain(&read.having).chain(read.order.iter().map(|sort| &sort.by));
    rest.for_each(|expr| count_in(expr, &mut counts));
    counts
}

fn count(clause: &Clause, counts: &mut BTreeMap<VarNo, usize>) {
    let mut vars = Vec::new();
    match clause {
        Clause::Node { var, .. } | Clause::Search { var, .. } => vars.push(*var),
        Clause::Edge { from, var, to, .. } => {
            vars.extend([*from, *to]);
            vars.extend(*var);
        }
        Clause::Filter(_) => {}
        Clause::Not(inner) | Clause::Optional(inner) => {
            for clause in inner {
                count(clause, counts);
            }
            return;
        }
        Clause::Or(ways) => {
            ways.iter().flatten().for_each(|clause| count(clause, counts));
            return;
        }
    }
    for var in vars {
        *counts.entry(var).or_default() += 1;
    }
    let mut inside = Vec::new();
    clause_expressions(clause, &mut inside);
    for expr in inside {
        count_in(expr, counts);
    }
}

fn count_in(expr: &Expr, counts: &mut BTreeMap<VarNo, usize>) {
    walk(expr, &mut |of| match of {
        Expr::Var(var) | Expr::Property(var, _) => *counts.entry(*var).or_default() += 1,
        _ => {}
    });
}

/// What these clauses find by themselves: the variables that are bound whichever way they hold.
pub(crate) fn binds(clauses: &[Clause]) -> BTreeSet<VarNo> {
    let mut bound = BTreeSet::new();
    for clause in clauses {
        match clause {
            Clause::Node { var, .. } => _ = bound.insert(*var),
            Clause::Edge { from, var, to, .. } => {
                bound.extend([*from, *to]);
                bound.extend(*var);
            }
            Clause::Or(ways) => {
                let each = ways.iter().map(|way| binds(way));
                bound.extend(each.reduce(|a, b| &a & &b).unwrap_or_default());
            }
            Clause::Filter(_) | Clause::Search { .. } | Clause::Not(_) | Clause::Optional(_) => {}
        }
    }
    bound
}
