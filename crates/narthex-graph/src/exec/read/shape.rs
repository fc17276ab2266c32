//! What an answer is made of: which columns make groups, which aggregates and rankings there are.

use crate::exec::ExecError;
use crate::query::{Aggregate, Expr, Function, Read};

use super::vars::walk;

/// The make-up of an answer.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// What the columns are; in groups, the aggregates among them speak of columns only.
    pub(super) columns: Vec<Expr>,
    pub(super) having: Option<Expr>,
    pub(super) order: Vec<(Expr, bool)>,
    /// All aggregates. Without any there are no groups.
    pub(super) folds: Vec<Aggregate>,
    /// All `rrf`, by their arguments.
    pub(super) fusions: Vec<Vec<Expr>>,
}

impl Shape {
    pub(super) fn of(read: &Read) -> Result<Self, ExecError> {
        let mut shape = Self {
            columns: read.columns.iter().map(|column| column.value.clone()).collect(),
            having: read.having.clone(),
            order: read.order.iter().map(|sort| (sort.by.clone(), sort.descending)).collect(),
            folds: Vec::new(),
            fusions: Vec::new(),
        };
        let all = shape.columns.iter().chain(&shape.having);
        for expr in all.chain(shape.order.iter().map(|(by, _)| by)) {
            walk(expr, &mut |of| match of {
                Expr::Fold(aggregate) if !shape.folds.contains(aggregate) => {
                    shape.folds.push((**aggregate).clone());
                }
                Expr::Call(Function::Rrf, args) if !shape.fusions.contains(args) => {
                    shape.fusions.push(args.clone());
                }
                _ => {}
            });
        }
        if !shape.folds.is_empty() {
            shape.regroup()?;
        }
        Ok(shape)
    }

    /// Whether rows are put together.
    pub(super) fn is_grouped(&self) -> bool {
        !self.folds.is_empty()
    }

    /// The number of the ranking that an expression is, by itself or as a column.
    pub(super) fn fusion(&self, expr: &Expr) -> Option<usize> {
        match expr {
            Expr::Call(Function::Rrf, args) => self.fusions.iter().position(|of| of == args),
            Expr::Column(number) => match self.columns.get(*number)? {
                Expr::Column(_) => None,
                column => self.fusion(column),
            },
            _ => None,
        }
    }

    /// Of a group, only its columns and aggregates are left to speak of.
    fn regroup(&mut self) -> Result<(), ExecError> {
        if !self.fusions.is_empty() {
            return Err(ExecError::Unsupported("rrf ranks rows, not groups of them".to_owned()));
        }
        let keys: Vec<(usize, Expr)> =
            self.columns.iter().cloned().enumerate().filter(|(_, of)| !has_fold(of)).collect();
        let regroup = |expr: &Expr| {
            let expr = replaced(expr, &keys);
            if speaks_of_rows(&expr) {
                return Err(ExecError::Unsupported(
                    "beside an aggregate only what is a column by itself can be used, as that is \
                     what groups are made by"
                        .to_owned(),
                ));
            }
            Ok(expr)
        };
        for column in &mut self.columns {
            if has_fold(column) {
                *column = regroup(column)?;
            }
        }
        self.having = self.having.as_ref().map(regroup).transpose()?;
        for (by, _) in &mut self.order {
            *by = regroup(by)?;
        }
        Ok(())
    }
}

/// Whether there is an aggregate in it. In groups, the columns without one are what they are made by.
pub(super) fn has_fold(expr: &Expr) -> bool {
    let mut has = false;
    walk(expr, &mut |of| has |= matches!(of, Expr::Fold(_)));
    has
}

/// Whether something outside of aggregates is a property or a whole row.
fn speaks_of_rows(expr: &Expr) -> bool {
    match expr {
        Expr::Var(_) | Expr::Property(..) => true,
        Expr::Const(_) | Expr::Param(_) | Expr::Column(_) | Expr::Fold(_) => false,
        Expr::Unary(_, of) => speaks_of_rows(of),
        Expr::Binary(_, a, b) => speaks_of_rows(a) || speaks_of_rows(b),
        Expr::Call(_, args) | Expr::List(args) => args.iter().any(speaks_of_rows),
    }
}

/// An expression in which columns stand for what they are.
fn replaced(expr: &Expr, columns: &[(usize, Expr)]) -> Expr {
    if let Some((number, _)) = columns.iter().find(|(_, column)| column == expr) {
        return Expr::Column(*number);
    }
    let again = |of: &Expr| replaced(of, columns);
    match expr {
        Expr::Unary(op, of) => Expr::Unary(*op, Box::new(again(of))),
        Expr::Binary(op, a, b) => Expr::Binary(*op, Box::new(again(a)), Box::new(again(b))),
        Expr::Call(function, args) => Expr::Call(*function, args.iter().map(again).collect()),
        Expr::List(items) => Expr::List(items.iter().map(again).collect()),
        other => other.clone(),
    }
}
