//! `return`, `having`, `order`, `limit`.

use std::collections::BTreeSet;

use super::call::{any, has_fold};
use super::columns::{by_columns, keys, name_of};
use super::compare::sortable;
use super::names::{Bare, Names, Place};
use super::pattern::{Vars, Visible};
use super::types::{Shape, Typed};
use super::{Expressions, Query};
use crate::lang::{Ast, Bounds};
use crate::query::ast::{ColumnAst, ReadAst, SortAst};
use crate::query::{BinaryOp, Column, Expr, Function, Read, Sort};
use crate::schema::Kind;
use crate::value::Value;

impl<'a, 's> Query<'a, '_, 's> {
    /// Checks a query that looks.
    pub(super) fn read(&mut self, ast: &ReadAst) -> Option<Read> {
        let mut vars = Vars::default();
        let (clauses, visible) = self.block(&ast.clauses, &Visible::new(), &mut vars);
        let columns = self.columns(&ast.columns, &visible, &vars)?;
        let having = self.having(&ast.having, &columns, &visible, &vars);
        let folded = columns.iter().any(|column| has_fold(&column.value))
            || having.as_ref().is_some_and(|having| having.as_ref().is_some_and(has_fold));
        if folded {
            self.grouped(&ast.columns, &columns);
        }
        let answer = Answer { columns: &columns, folded, distinct: ast.distinct };
        let order = self.order(&ast.order, &answer, &visible, &vars);
        let limit = match &ast.limit {
            Some(limit) => Some(self.limit(limit)?),
            None => None,
        };
        let (having, order) = (having?, order?);
        let vars = vars.vars;
        Some(Read { vars, clauses, columns, distinct: ast.distinct, having, order, limit })
    }

    fn behind<'x>(
        &'x mut self,
        place: Place,
        bare: Bare<'x>,
        visible: &'x Visible,
        vars: &'x Vars<'a>,
    ) -> Expressions<'x, 'x, 's> {
        let names = Names { params: self.params, rows: &vars.rows, vars: visible, bare, place };
        Expressions { names, problems: self.problems, used: self.used }
    }

    fn columns(
        &mut self,
        asts: &[ColumnAst],
        visible: &Visible,
        vars: &Vars<'a>,
    ) -> Option<Vec<Column>> {
        let mut check = self.behind(Place::Return, Bare::Nothing, visible, vars);
        let checked: Vec<Option<Column>> = asts.iter().map(|ast| check.column(ast)).collect();
        let columns: Vec<Column> = checked.into_iter().collect::<Option<_>>()?;
        let mut seen = BTreeSet::new();
        for (column, ast) in columns.iter().zip(asts) {
            if !seen.insert(&column.name) {
                let span = ast.alias.as_ref().map_or(ast.value.span, |alias| alias.span);
                let message = format!("there are two columns `{}`", column.name);
                let problem = self.problems.at(span, message);
                self.problems.add(problem.help("name one of them with `as`"));
            }
        }
        Some(columns)
    }

    /// Beside an aggregate, only what groups are made by can be spoken of.
    fn grouped(&mut self, asts: &[ColumnAst], columns: &[Column]) {
        let keys = keys(columns);
        for (column, ast) in columns.iter().zip(asts) {
            let value = column.value.clone();
            let mixed = has_fold(&value) && any(&by_columns(value, &keys), &is_row);
            if mixed {
                let message = "beside an aggregate only what is a column of its own can be used";
                self.problems.say(ast.value.span, message);
            }
            if any(&column.value, &is_fusion) {
                self.problems.say(ast.value.span, "`rrf` ranks rows, not groups of them");
            }
        }
    }

    /// Nothing, where there is none; and none at all where it is wrong.
    #[expect(clippy::option_option, reason = "wrong is another thing than not there")]
    fn having(
        &mut self,
        asts: &[Ast],
        columns: &[Column],
        visible: &Visible,
        vars: &Vars<'a>,
    ) -> Option<Option<Expr>> {
        let mut check = self.behind(Place::Having, Bare::Columns(columns), visible, vars);
        let mut all: Option<Expr> = None;
        let (mut good, mut rows) = (true, Vec::new());
        let mut folds = columns.iter().any(|column| has_fold(&column.value));
        for ast in asts {
            let Some(expr) = check.condition(ast) else {
                good = false;
                continue;
            };
            folds |= has_fold(&expr);
            let expr = by_columns(expr, columns);
            rows.extend(any(&expr, &is_row).then_some(ast.span));
            all = Some(match all {
                Some(other) => Expr::Binary(BinaryOp::And, Box::new(other), Box::new(expr)),
                None => expr,
            });
        }
        if let (Some(first), false) = (asts.first(), folds) {
            let message = "`having` is for groups, and there is no aggregate";
            return check.wrong_help(first.span, message, "conditions on rows go in `match`");
        }
        for span in &rows {
            let message = "`having` speaks of columns and aggregates, and this is neither";
            check.problems.say(*span, message);
        }
        (good && rows.is_empty()).then_some(all)
    }

    fn order(
        &mut self,
        asts: &[SortAst],
        answer: &Answer<'_>,
        visible: &Visible,
        vars: &Vars<'a>,
    ) -> Option<Vec<Sort>> {
        let bare = Bare::Columns(answer.columns);
        let mut check = self.behind(Place::Order, bare, visible, vars);
        let checked: Vec<Option<Sort>> = asts.iter().map(|ast| check.sort(ast, answer)).collect();
        checked.into_iter().collect()
    }

    fn limit(&mut self, ast: &Ast) -> Option<Expr> {
        let (visible, vars) = (Visible::new(), Vars::default());
        let mut check = self.behind(Place::Order, Bare::Nothing, &visible, &vars);
        let typed = check.typed(ast)?;
        match (&typed.expr, &typed.shape) {
            (Expr::Const(Value::Int(number)), Shape::Literal) => {
                if (1..=i128::from(Bounds::LIMIT)).contains(number) {
                    return Some(typed.expr);
                }
                let message = format!("`limit` is 1 to {}", Bounds::LIMIT);
                check.wrong_help(ast.span, message, "more come page by page, with a cursor")
            }
            (Expr::Param(_), Shape::Of(kind)) if kind.is_whole() && !typed.nullable => {
                Some(typed.expr)
            }
            (Expr::Param(_), _) => {
                let message = "`limit` takes a whole number that is not null";
                let null = if typed.nullable { "?" } else { "" };
                let got = typed.described();
                check.wrong(ast.span, format!("{message}, and this is {got}{null}"))
            }
            _ => check.wrong(ast.span, "`limit` takes a whole number or a parameter"),
        }
    }
}

/// What comes out, as far as an order depends on it.
struct Answer<'x> {
    columns: &'x [Column],
    folded: bool,
    distinct: bool,
}

impl Expressions<'_, '_, '_> {
    fn column(&mut self, ast: &ColumnAst) -> Option<Column> {
        let typed = self.typed(&ast.value)?;
        self.stands_alone(&typed)?;
        let name = match &ast.alias {
            Some(alias) => alias.name.clone(),
            None => match name_of(&ast.value) {
                Some(name) => name,
                None => {
                    return self.wrong_help(typed.span, "this column has no name", "add `as name`");
                }
            },
        };
        let kind = match typed.shape {
            Shape::Node | Shape::Edge => None,
            _ => Some(match typed.kind() {
                Some(kind) => kind,
                None => return self.wrong(typed.span, "it cannot be told what kind this is"),
            }),
        };
        let value = match &kind {
            Some(kind) if typed.shape == Shape::Literal => {
                self.fitted(typed.clone(), kind, "this is")?.expr
            }
            _ => typed.expr,
        };
        Some(Column { name, value, kind, nullable: typed.nullable })
    }

    /// `rrf` is a rank among all rows: nothing can be made of it row by row.
    fn stands_alone(&mut self, typed: &Typed) -> Option<()> {
        let alone = matches!(typed.expr, Expr::Call(Function::Rrf, _));
        if !alone && any(&typed.expr, &is_fusion) {
            return self.wrong(typed.span, "`rrf` stands alone, as a column or in `order`");
        }
        Some(())
    }

    fn sort(&mut self, ast: &SortAst, answer: &Answer<'_>) -> Option<Sort> {
        let typed = self.typed(&ast.by)?;
        self.stands_alone(&typed)?;
        let fits = match (&typed.shape, typed.kind()) {
            (Shape::Of(_), Some(kind)) => sortable(&kind),
            _ => false,
        };
        if !fits {
            let message = format!("rows cannot be put in order by {}", typed.called());
            return match typed.kind() {
                Some(Kind::Vector(_)) => self.wrong_help(ast.by.span, message, "use `nearest(…)`"),
                _ => self.wrong(ast.by.span, message),
            };
        }
        let mut by = typed.expr;
        if answer.folded || answer.distinct {
            by = by_columns(by, answer.columns);
            if any(&by, &|expr| is_row(expr) || matches!(expr, Expr::Fold(_))) {
                let message = if answer.folded {
                    "groups can be put in order only by what is returned"
                } else {
                    "distinct rows can be put in order only by what is returned"
                };
                return self.wrong_help(ast.by.span, message, "add it to `return`");
            }
        } else if has_fold(&by) {
            let message = "this is an aggregate, and nothing that is returned is one";
            return self.wrong_help(ast.by.span, message, "add it to `return`");
        }
        Some(Sort { by, descending: ast.descending })
    }
}

fn is_row(expr: &Expr) -> bool {
    matches!(expr, Expr::Var(_) | Expr::Property(..))
}

fn is_fusion(expr: &Expr) -> bool {
    matches!(expr, Expr::Call(Function::Rrf, _))
}
