//! What columns are called, and what an answer in groups can still speak of.

use super::call::has_fold;
use crate::lang::{Ast, Bounds, What};
use crate::query::{Column, Expr};

/// What a column is called that has no alias. None: it needs one.
pub(super) fn name_of(ast: &Ast) -> Option<String> {
    let name = match &ast.what {
        What::Var(name) | What::Name(name) => name.clone(),
        What::Dot(of, property) => format!("{}.{}", name_of(of)?, property.name),
        What::Call { name, distinct, args } => {
            let args: Vec<String> = args.iter().map(name_of).collect::<Option<_>>()?;
            let distinct = if *distinct { "distinct " } else { "" };
            format!("{}({distinct}{})", name.name, args.join(", "))
        }
        _ => return None,
    };
    (name.chars().count() <= Bounds::COLUMN_CHARS).then_some(name)
}

/// An expression in which columns stand for what they are.
pub(super) fn by_columns(expr: Expr, columns: &[Column]) -> Expr {
    let same = |column: &Column| column.value == expr;
    let plain = matches!(expr, Expr::Const(_) | Expr::Param(_) | Expr::Column(_));
    if let Some(no) = columns.iter().position(same).filter(|_| !plain) {
        return Expr::Column(no);
    }
    match expr {
        Expr::Unary(op, inner) => Expr::Unary(op, Box::new(by_columns(*inner, columns))),
        Expr::Binary(op, left, right) => Expr::Binary(
            op,
            Box::new(by_columns(*left, columns)),
            Box::new(by_columns(*right, columns)),
        ),
        Expr::Call(function, args) => {
            Expr::Call(function, args.into_iter().map(|arg| by_columns(arg, columns)).collect())
        }
        Expr::List(items) => {
            Expr::List(items.into_iter().map(|item| by_columns(item, columns)).collect())
        }
        other => other,
    }
}

/// The columns that groups are made by.
pub(super) fn keys(columns: &[Column]) -> Vec<Column> {
    columns.iter().filter(|column| !has_fold(&column.value)).cloned().collect()
}
