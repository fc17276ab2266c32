//! Typing expressions.
//!
//! Nothing is returned where something is wrong: it has been said then, and whatever the expression
//! is part of is silent about it.

use std::collections::BTreeSet;

use super::names::Names;
use super::types::{Shape, Typed, named};
use crate::lang::{Ast, Bounds, Problems, What};
use crate::query::{BinaryOp, Expr, UnaryOp};
use crate::schema::Kind;
use crate::value::Value;
use crate::{Diagnostic, Span};

/// Types expressions that stand in one place.
#[derive(Debug)]
pub(crate) struct Expressions<'a, 'p, 's> {
    /// What names mean there.
    pub(crate) names: Names<'a>,
    /// Where problems go.
    pub(crate) problems: &'p mut Problems<'s>,
    /// The parameters that were spoken of.
    pub(crate) used: &'p mut BTreeSet<usize>,
}

impl Expressions<'_, '_, '_> {
    /// Types an expression.
    pub(crate) fn typed(&mut self, ast: &Ast) -> Option<Typed> {
        let literal = |value: Value| Typed {
            expr: Expr::Const(value),
            shape: Shape::Literal,
            nullable: false,
            span: ast.span,
        };
        match &ast.what {
            What::Null => {
                Some(Typed { shape: Shape::Null, nullable: true, ..literal(Value::Null) })
            }
            What::Bool(yes) => {
                Some(Typed::of(Expr::Const(Value::Bool(*yes)), Kind::Bool, ast.span))
            }
            What::Int(number) => Some(literal(Value::Int(*number))),
            What::Float(number) => Some(literal(Value::Float(*number))),
            What::Text(text) => Some(literal(Value::Text(text.clone()))),
            What::List(items) => self.list(items, ast.span),
            What::Name(name) => self.bare(name, ast.span),
            What::Var(name) => self.var(name, ast.span),
            What::Dot(of, property) => self.dot(of, property, ast.span),
            What::Unary(op, inner) => self.unary(*op, inner, ast.span),
            What::Binary(op, left, right) => self.binary(*op, left, right, ast.span),
            What::In(item, list) => self.within(item, list, ast.span),
            What::Call { name, distinct, args } => self.call(name, *distinct, args, ast.span),
        }
    }

    /// Types a condition.
    pub(crate) fn condition(&mut self, ast: &Ast) -> Option<Expr> {
        let typed = self.typed(ast)?;
        self.as_bool(typed, "a condition is")
    }

    /// Something is wrong here.
    pub(crate) fn wrong<T>(&mut self, span: Span, message: impl Into<String>) -> Option<T> {
        self.problems.say(span, message);
        None
    }

    /// Something is wrong here, and this is what to do.
    pub(crate) fn wrong_help<T>(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Option<T> {
        let problem = self.problems.at(span, message).help(help);
        self.tell(problem)
    }

    /// This is wrong.
    pub(crate) fn tell<T>(&mut self, problem: Diagnostic) -> Option<T> {
        self.problems.add(problem);
        None
    }

    fn as_bool(&mut self, typed: Typed, what: &str) -> Option<Expr> {
        if typed.shape == Shape::Of(Kind::Bool) {
            return Some(typed.expr);
        }
        let message = format!("{what} Bool, and this is {}", typed.described());
        self.wrong(typed.span, message)
    }

    fn list(&mut self, items: &[Ast], span: Span) -> Option<Typed> {
        let typed: Vec<Typed> = items.iter().map(|item| self.typed(item)).collect::<Option<_>>()?;
        let constant = |item: &Typed| match &item.expr {
            Expr::Const(value) if item.shape != Shape::Null => Some(value.clone()),
            _ => None,
        };
        if let Some(values) = typed.iter().map(constant).collect::<Option<Vec<_>>>() {
            let expr = Expr::Const(Value::List(values));
            return Some(Typed { expr, shape: Shape::Literal, nullable: false, span });
        }
        if typed.len() > Bounds::LIST {
            return self.wrong(span, format!("a list has at most {} items", Bounds::LIST));
        }
        let kind = typed.iter().find_map(|item| match &item.shape {
            Shape::Of(kind) => Some(kind.clone()),
            _ => None,
        });
        let Some(kind) = kind.filter(|kind| !matches!(kind, Kind::List(_) | Kind::Vector(_)))
        else {
            return self.wrong(span, "a list holds values that are neither null nor lists");
        };
        let fitted = typed.into_iter().map(|item| self.fitted(item, &kind, "this list holds"));
        let items = fitted.collect::<Vec<_>>().into_iter().collect::<Option<Vec<Typed>>>()?;
        if let Some(item) = items.iter().find(|item| item.nullable) {
            return self.wrong(item.span, "what is in a list cannot be null, and this may be");
        }
        let exprs = items.into_iter().map(|item| item.expr).collect();
        Some(Typed::of(Expr::List(exprs), Kind::List(Box::new(kind)), span))
    }

    fn unary(&mut self, op: UnaryOp, inner: &Ast, span: Span) -> Option<Typed> {
        let typed = self.typed(inner)?;
        match op {
            UnaryOp::Not => {
                let nullable = typed.nullable;
                let inner = self.as_bool(typed, "`not` takes a")?;
                let expr = Expr::Unary(op, Box::new(inner));
                Some(Typed { nullable, ..Typed::of(expr, Kind::Bool, span) })
            }
            UnaryOp::IsNull => {
                Some(Typed::of(Expr::Unary(op, Box::new(typed.expr)), Kind::Bool, span))
            }
            UnaryOp::Minus => self.minus(typed, span),
        }
    }

    fn minus(&mut self, typed: Typed, span: Span) -> Option<Typed> {
        let negative = match typed.literal() {
            Some(Value::Int(number)) => number.checked_neg().map(Value::Int),
            Some(Value::Float(number)) => Some(Value::Float(-number)),
            _ => None,
        };
        if let Some(value) = negative {
            return Some(Typed { expr: Expr::Const(value), span, ..typed });
        }
        let kind = match typed.kind() {
            Some(Kind::U32 | Kind::U64) => Kind::I64,
            Some(kind) if kind.is_number() => kind,
            _ => {
                let message = format!("`-` takes a number, and this is {}", typed.described());
                return self.wrong(typed.span, message);
            }
        };
        let expr = Expr::Unary(UnaryOp::Minus, Box::new(typed.expr));
        Some(Typed { nullable: typed.nullable, ..Typed::of(expr, kind, span) })
    }

    fn binary(&mut self, op: BinaryOp, left: &Ast, right: &Ast, span: Span) -> Option<Typed> {
        if let Some(end) = self.end_of_type(op, left, right, span) {
            return end;
        }
        // Both are looked at, so that what is wrong with either is said at once.
        let (left, right) = (self.typed(left), self.typed(right));
        let (left, right) = (left?, right?);
        match op {
            BinaryOp::And | BinaryOp::Or => {
                let nullable = left.nullable || right.nullable;
                let takes = if op == BinaryOp::And { "`and` takes" } else { "`or` takes" };
                let (left, right) = (self.as_bool(left, takes), self.as_bool(right, takes));
                let expr = Expr::Binary(op, Box::new(left?), Box::new(right?));
                Some(Typed { nullable, ..Typed::of(expr, Kind::Bool, span) })
            }
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Modulo => self.arithmetic(op, left, right, span),
            _ => self.comparison(op, left, right, span),
        }
    }

    fn arithmetic(&mut self, op: BinaryOp, left: Typed, right: Typed, span: Span) -> Option<Typed> {
        let (kinds, literal) =
            ((left.kind(), right.kind()), (left.literal().is_some(), right.literal().is_some()));
        let kind = match kinds {
            (Some(a), Some(b)) if a.is_number() && b.is_number() => sum_kind(&a, &b, literal),
            _ => {
                let (a, b) = (left.described(), right.described());
                let message = format!("`{}` takes numbers, and these are {a} and {b}", op.sign());
                return self.wrong(span, message);
            }
        };
        let by_zero = matches!(right.expr, Expr::Const(Value::Int(0)));
        if by_zero && matches!(op, BinaryOp::Divide | BinaryOp::Modulo) {
            return self.wrong(right.span, "nothing can be divided by zero");
        }
        let nullable = left.nullable || right.nullable;
        let expr = Expr::Binary(op, Box::new(left.expr), Box::new(right.expr));
        Some(Typed { nullable, ..Typed::of(expr, kind, span) })
    }

    /// `x in xs`.
    fn within(&mut self, item: &Ast, list: &Ast, span: Span) -> Option<Typed> {
        let (item, list) = (self.typed(item), self.typed(list));
        self.contains(list?, item?, span)
    }
}

/// What comes of two numbers. A literal takes the other's kind if it can.
fn sum_kind(left: &Kind, right: &Kind, literal: (bool, bool)) -> Kind {
    let float = |kind: &Kind| !kind.is_whole();
    match (left, right, literal) {
        _ if left == right => left.clone(),
        (kind, other, (false, true)) | (other, kind, (true, false))
            if float(kind) || !float(other) =>
        {
            kind.clone()
        }
        _ if float(left) || float(right) => Kind::F64,
        (Kind::U32 | Kind::U64, Kind::U32 | Kind::U64, _) => Kind::U64,
        _ => Kind::I64,
    }
}

/// Both kinds, for a message.
pub(super) fn both(left: &Typed, right: &Typed) -> String {
    format!("{} with {}", left.described(), right.described())
}

/// The name of what an expression is set to be, for a message.
pub(super) fn is_of(what: &str, kind: &Kind) -> String {
    format!("{what} {}", named(kind))
}
