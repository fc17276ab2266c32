//! What fits what: comparisons, and values for properties and parameters.

use super::expr::{Expressions, both, is_of};
use super::types::{Misfit, Shape, Typed, fit, named};
use crate::Span;
use crate::query::{BinaryOp, Expr, Function, UnaryOp};
use crate::schema::Kind;
use crate::value::Value;

impl Expressions<'_, '_, '_> {
    /// A value that is to be of a kind. `what` is before the kind in the message: "`age` is".
    pub(crate) fn fitted(&mut self, typed: Typed, kind: &Kind, what: &str) -> Option<Typed> {
        let shape = Shape::Of(kind.clone());
        let problem = match &typed.shape {
            Shape::Null => return Some(Typed { shape, ..typed }),
            Shape::Literal => match fit(typed.literal()?, kind) {
                Ok(value) => return Some(Typed { expr: Expr::Const(value), shape, ..typed }),
                Err(Misfit { message, help }) => {
                    let wants = is_of(what, kind);
                    let problem = self.problems.at(typed.span, format!("{wants}: {message}"));
                    match help {
                        Some(help) => problem.help(help),
                        None => problem,
                    }
                }
            },
            Shape::Of(got) if widens(got, kind) => return Some(Typed { shape, ..typed }),
            _ => {
                let message = format!("{}, and this is {}", is_of(what, kind), typed.described());
                self.problems.at(typed.span, message)
            }
        };
        self.tell(problem)
    }

    /// `=`, `<` and the like.
    pub(super) fn comparison(
        &mut self,
        op: BinaryOp,
        left: Typed,
        right: Typed,
        span: Span,
    ) -> Option<Typed> {
        let equality = matches!(op, BinaryOp::Equal | BinaryOp::NotEqual);
        let (null, entity) = (Shape::Null, [Shape::Node, Shape::Edge]);
        if left.shape == null || right.shape == null {
            let of = if left.shape == null { right } else { left };
            return self.null_test(op, of, span);
        }
        if entity.contains(&left.shape) || entity.contains(&right.shape) {
            if !equality || left.shape != right.shape {
                let message = format!("`{}` cannot compare {}", op.sign(), both(&left, &right));
                return self.wrong_help(span, message, "compare properties: `$p.slug`");
            }
            return Some(compared(op, left, right, span));
        }
        let (left, right) = self.alike(op, left, right)?;
        let kinds = (left.kind(), right.kind());
        let (Some(a), Some(b)) = kinds else {
            let message = format!("`{}` cannot compare {}", op.sign(), both(&left, &right));
            return self.wrong(span, message);
        };
        let fits = comparable(&a, &b) && (equality || (ordered(&a) && ordered(&b)));
        if !fits {
            let message = format!("`{}` cannot compare {}", op.sign(), both(&left, &right));
            return match (&a, &b) {
                (Kind::Date, Kind::DateTime) | (Kind::DateTime, Kind::Date) => {
                    self.wrong_help(span, message, "one is a day, the other a moment")
                }
                (Kind::List(_), _) => {
                    self.wrong_help(span, message, "write `contains(list, item)`")
                }
                _ => self.wrong(span, message),
            };
        }
        Some(compared(op, left, right, span))
    }

    fn null_test(&mut self, op: BinaryOp, of: Typed, span: Span) -> Option<Typed> {
        let is_null = Expr::Unary(UnaryOp::IsNull, Box::new(of.expr));
        let expr = match op {
            BinaryOp::Equal => is_null,
            BinaryOp::NotEqual => Expr::Unary(UnaryOp::Not, Box::new(is_null)),
            _ => {
                let message = format!("`{}` cannot compare anything with null", op.sign());
                return self.wrong_help(span, message, "write `is null` or `is not null`");
            }
        };
        Some(Typed::of(expr, Kind::Bool, span))
    }

    /// A literal beside something of a kind becomes of that kind.
    fn alike(&mut self, op: BinaryOp, left: Typed, right: Typed) -> Option<(Typed, Typed)> {
        match (&left.shape, &right.shape) {
            (Shape::Literal, Shape::Of(kind)) => {
                let kind = kind.clone();
                Some((self.beside(op, left, &kind)?, right))
            }
            (Shape::Of(kind), Shape::Literal) => {
                let kind = kind.clone();
                let right = self.beside(op, right, &kind)?;
                Some((left, right))
            }
            _ => Some((left, right)),
        }
    }

    fn beside(&mut self, op: BinaryOp, literal: Typed, kind: &Kind) -> Option<Typed> {
        // A number with a fraction may be compared with whole ones: it lies between two of them.
        let between = matches!(literal.expr, Expr::Const(Value::Float(_))) && kind.is_whole();
        if between {
            return Some(literal);
        }
        self.fitted(literal, kind, &format!("`{}` compares with", op.sign()))
    }

    /// Whether a list (or a text) has an item (or a part).
    pub(super) fn contains(&mut self, list: Typed, item: Typed, span: Span) -> Option<Typed> {
        let nullable = list.nullable || item.nullable;
        if item.shape == Shape::Null {
            return self.wrong_help(item.span, "null is in no list", "write `is null`");
        }
        let (list, item) = match (&list.shape, &item.shape) {
            // `$p.stage in ["lead"]`: the list becomes one of what is looked for.
            (Shape::Literal, Shape::Of(kind)) if matches!(list.literal(), Some(Value::List(_))) => {
                let kind = Kind::List(Box::new(kind.clone()));
                (self.fitted(list, &kind, "this is looked for in a list of kind")?, item)
            }
            (Shape::Of(Kind::List(kind)), _) => {
                let kind = (**kind).clone();
                let item = match &item.shape {
                    Shape::Of(got) if comparable(got, &kind) => item,
                    _ => self.fitted(item, &kind, "the list holds")?,
                };
                (list, item)
            }
            _ if is_text(&list) && is_text(&item) => {
                let list = self.fitted(list, &Kind::String, "a text is")?;
                let item = self.fitted(item, &Kind::String, "a text is")?;
                (list, item)
            }
            _ if matches!(list.kind(), Some(Kind::List(_))) => {
                let kind = list.kind()?;
                let list = self.fitted(list, &kind, "this is")?;
                return self.contains(list, item, span);
            }
            _ => {
                let message = format!("{} cannot contain {}", list.described(), item.described());
                return self.wrong(span, message);
            }
        };
        let expr = Expr::Call(Function::Contains, vec![list.expr, item.expr]);
        Some(Typed { nullable, ..Typed::of(expr, Kind::Bool, span) })
    }
}

fn compared(op: BinaryOp, left: Typed, right: Typed, span: Span) -> Typed {
    let nullable = left.nullable || right.nullable;
    let expr = Expr::Binary(op, Box::new(left.expr), Box::new(right.expr));
    Typed { nullable, ..Typed::of(expr, Kind::Bool, span) }
}

/// Whether it is a text, a word of an enum or a URI.
pub(super) fn is_text(typed: &Typed) -> bool {
    typed.kind().is_some_and(|kind| text(&kind))
}

const fn text(kind: &Kind) -> bool {
    matches!(kind, Kind::String | Kind::Enum(_) | Kind::Blob)
}

/// Whether there is a less and a more.
pub(super) const fn ordered(kind: &Kind) -> bool {
    kind.is_number() || matches!(kind, Kind::String | Kind::Date | Kind::DateTime)
}

/// Whether rows can be put in order by it.
pub(super) const fn sortable(kind: &Kind) -> bool {
    ordered(kind) || matches!(kind, Kind::Bool | Kind::Enum(_) | Kind::Blob)
}

/// Whether two values can be equal.
fn comparable(left: &Kind, right: &Kind) -> bool {
    match (left, right) {
        (Kind::Enum(a), Kind::Enum(b)) => a.iter().any(|word| b.contains(word)),
        (Kind::List(a), Kind::List(b)) => comparable(a, b),
        (Kind::Vector(_), _) => false,
        _ => {
            left == right || (left.is_number() && right.is_number()) || (text(left) && text(right))
        }
    }
}

/// Whether every value of one kind is one of the other, or (a text for a word or a URI) it is seen
/// when it is written.
fn widens(from: &Kind, to: &Kind) -> bool {
    match (from, to) {
        (Kind::Enum(a), Kind::Enum(b)) => a.iter().all(|word| b.contains(word)),
        (Kind::List(a), Kind::List(b)) => widens(a, b),
        (Kind::I32, Kind::I64 | Kind::F64)
        | (Kind::U32, Kind::I64 | Kind::U64 | Kind::F64)
        | (Kind::F32, Kind::F64) => true,
        _ => from == to || (text(from) && text(to)),
    }
}

impl Typed {
    /// What its kind is called, for a message about where it goes.
    pub(super) fn called(&self) -> String {
        self.kind().as_ref().map_or_else(|| self.described(), named)
    }
}
