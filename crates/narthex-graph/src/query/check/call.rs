//! Functions and aggregates.

use super::compare::{is_text, ordered};
use super::expr::Expressions;
use super::names::Place;
use super::types::{Shape, Typed};
use crate::Span;
use crate::lang::{Ast, What, Word};
use crate::query::{Aggregate, Expr, Fold, Function, PropertyRef, VarNo};
use crate::schema::Kind;
use crate::value::{Value, parse_date, parse_moment};

impl Expressions<'_, '_, '_> {
    /// A function or an aggregate.
    pub(super) fn call(
        &mut self,
        name: &Word,
        distinct: bool,
        args: &[Ast],
        span: Span,
    ) -> Option<Typed> {
        if let Some((_, fold)) = FOLDS.iter().find(|(known, _)| *known == name.name) {
            return self.fold(*fold, name, distinct, args, span);
        }
        if distinct {
            return self
                .wrong(span, format!("`{}` is no aggregate: nothing is distinct", name.name));
        }
        let Some((_, takes, allowed)) = FUNCTIONS.iter().find(|(known, ..)| *known == name.name)
        else {
            let known = FUNCTIONS.iter().map(|(known, ..)| *known);
            let known = known.chain(FOLDS.iter().map(|(known, _)| *known));
            let message = format!("there is no function `{}`", name.name);
            let problem = self.problems.at(name.span, message).nearest(&name.name, known);
            return self.tell(problem);
        };
        let place = self.names.place;
        if !allowed.contains(&place) {
            let message = format!("`{}` has no place in {}", name.name, place.name());
            return match name.name.as_str() {
                "bm25" | "rrf" if place == Place::Match => {
                    self.wrong_help(span, message, "`search(…)` finds; this ranks, in `order`")
                }
                _ => self.wrong(span, message),
            };
        }
        if !takes.contains(&args.len()) {
            let message = match (takes.start(), takes.end()) {
                (0, 0) => format!("`{}` takes nothing", name.name),
                (1, 1) => format!("`{}` takes one value, not {}", name.name, args.len()),
                (a, b) if a == b => {
                    format!("`{}` takes {a} values, not {}", name.name, args.len())
                }
                (a, _) => {
                    format!("`{}` takes {a} or more values, not {}", name.name, args.len())
                }
            };
            return self.wrong(span, message);
        }
        self.function(name, args, span)
    }

    fn function(&mut self, name: &Word, args: &[Ast], span: Span) -> Option<Typed> {
        let what = name.name.as_str();
        match what {
            "date" | "datetime" => self.moment(what, args.first()?, span),
            "now" => Some(Typed::of(Expr::Call(Function::Now, vec![]), Kind::DateTime, span)),
            "starts_with" => self.texts(Function::StartsWith, what, args, span),
            "match_text" => self.texts(Function::MatchText, what, args, span),
            "fuzzy" => self.texts(Function::Fuzzy, what, args, span),
            "lower" => self.texts(Function::Lower, what, args, span),
            "upper" => self.texts(Function::Upper, what, args, span),
            "contains" => {
                let [list, item] = args else { return None };
                let (list, item) = (self.typed(list), self.typed(item));
                self.contains(list?, item?, span)
            }
            "search" | "bm25" => self.searched(what, args, span),
            "nearest" => self.near(args, span),
            "rrf" => self.fused(args, span),
            "length" => self.length(args.first()?, span),
            _ => self.coalesce(args, span),
        }
    }

    /// `date("…")`: a value, known at once.
    fn moment(&mut self, what: &str, arg: &Ast, span: Span) -> Option<Typed> {
        let What::Text(text) = &arg.what else {
            let kind = if what == "date" { "Date" } else { "DateTime" };
            let message = format!("`{what}` takes a text in quotes");
            let help = format!("declare a parameter as `{kind}` and write it alone");
            return self.wrong_help(arg.span, message, help);
        };
        let read = match what {
            "date" => parse_date(text).map(|day| (Value::Date(day), Kind::Date)),
            _ => parse_moment(text).map(|moment| (Value::DateTime(moment), Kind::DateTime)),
        };
        let Some((value, kind)) = read else {
            let (shape, example) = match what {
                "date" => ("a day", "2026-01-31"),
                _ => ("a moment to the microsecond", "2026-01-31T12:00:00Z"),
            };
            return self.wrong_help(
                arg.span,
                format!("this is not {shape}"),
                format!("like \"{example}\""),
            );
        };
        Some(Typed::of(Expr::Const(value), kind, span))
    }

    /// Functions of texts alone.
    fn texts(&mut self, function: Function, what: &str, args: &[Ast], span: Span) -> Option<Typed> {
        let typed: Vec<Option<Typed>> = args.iter().map(|arg| self.typed(arg)).collect();
        let typed: Vec<Typed> = typed.into_iter().collect::<Option<_>>()?;
        let nullable = typed.iter().any(|arg| arg.nullable);
        if let Some(other) = typed.iter().find(|arg| !is_text(arg)) {
            let message = format!("`{what}` takes String, and this is {}", other.called());
            return self.wrong(other.span, message);
        }
        let kind = match function {
            Function::Lower | Function::Upper => Kind::String,
            _ => Kind::Bool,
        };
        let args = typed.into_iter().map(|arg| arg.expr).collect();
        Some(Typed { nullable, ..Typed::of(Expr::Call(function, args), kind, span) })
    }

    /// `search` and `bm25`: of an indexed text.
    fn searched(&mut self, what: &str, args: &[Ast], span: Span) -> Option<Typed> {
        let [of, query] = args else { return None };
        let (of, query) = (self.own_property(what, of), self.typed(query));
        let (of, query) = (of?, query?);
        let query = self.fitted(query, &Kind::String, "what is searched for is")?;
        if !matches!(of.shape, Shape::Of(Kind::String)) {
            let message = format!("`{what}` takes a String property, and this is {}", of.called());
            return self.wrong(of.span, message);
        }
        if !self.is_indexed(&of.expr) {
            let message = format!("`{what}` needs an index on this property");
            return self.wrong_help(of.span, message, "mark it `@index` in the schema");
        }
        let (function, kind, nullable) = match what {
            "bm25" => (Function::Bm25, Kind::F64, true),
            _ => (Function::MatchText, Kind::Bool, of.nullable || query.nullable),
        };
        let expr = Expr::Call(function, vec![of.expr, query.expr]);
        Some(Typed { nullable, ..Typed::of(expr, kind, span) })
    }

    /// A property of a variable, and nothing made of one.
    fn own_property(&mut self, what: &str, arg: &Ast) -> Option<Typed> {
        let typed = self.typed(arg)?;
        if matches!(typed.expr, Expr::Property(..)) {
            return Some(typed);
        }
        self.wrong_help(arg.span, format!("`{what}` takes a property"), "like `$p.bio`")
    }

    /// Whether a property is searched by words in every type it can be of.
    pub(super) fn is_indexed(&self, expr: &Expr) -> bool {
        let Expr::Property(VarNo(var), PropertyRef(numbers)) = expr else { return false };
        self.names.rows.get(*var).is_some_and(|row| {
            let mut each = row.types.iter().zip(numbers);
            each.all(|(all, no)| all.get(no.0).is_some_and(crate::schema::Property::is_searched))
        })
    }

    fn near(&mut self, args: &[Ast], span: Span) -> Option<Typed> {
        let [of, to] = args else { return None };
        let (of, to) = (self.own_property("nearest", of), self.typed(to));
        let (of, to) = (of?, to?);
        let Shape::Of(kind @ Kind::Vector(_)) = &of.shape else {
            let message = format!("`nearest` takes a Vector property, and this is {}", of.called());
            return self.wrong(of.span, message);
        };
        let to = self.fitted(to, kind, "the property is")?;
        let nullable = of.nullable || to.nullable;
        let expr = Expr::Call(Function::Nearest, vec![of.expr, to.expr]);
        Some(Typed { nullable, ..Typed::of(expr, Kind::F64, span) })
    }

    fn fused(&mut self, args: &[Ast], span: Span) -> Option<Typed> {
        let typed: Vec<Option<Typed>> = args.iter().map(|arg| self.typed(arg)).collect();
        let typed: Vec<Typed> = typed.into_iter().collect::<Option<_>>()?;
        let ranks =
            |arg: &&Typed| !matches!(arg.expr, Expr::Call(Function::Nearest | Function::Bm25, _));
        if let Some(other) = typed.iter().find(ranks) {
            return self.wrong(other.span, "`rrf` takes `nearest(…)` and `bm25(…)`");
        }
        let args = typed.into_iter().map(|arg| arg.expr).collect();
        Some(Typed::of(Expr::Call(Function::Rrf, args), Kind::F64, span))
    }

    fn length(&mut self, arg: &Ast, span: Span) -> Option<Typed> {
        let typed = self.typed(arg)?;
        if !is_text(&typed) && !matches!(typed.kind(), Some(Kind::List(_))) {
            let message =
                format!("`length` takes a text or a list, and this is {}", typed.called());
            return self.wrong(typed.span, message);
        }
        let expr = Expr::Call(Function::Length, vec![typed.expr]);
        Some(Typed { nullable: typed.nullable, ..Typed::of(expr, Kind::I64, span) })
    }

    fn coalesce(&mut self, args: &[Ast], span: Span) -> Option<Typed> {
        let typed: Vec<Option<Typed>> = args.iter().map(|arg| self.typed(arg)).collect();
        let typed: Vec<Typed> = typed.into_iter().collect::<Option<_>>()?;
        let known = typed.iter().find(|arg| matches!(arg.shape, Shape::Of(_)));
        let Some(kind) = known.or_else(|| typed.first()).and_then(Typed::kind) else {
            return self.wrong(span, "`coalesce` takes values of one kind");
        };
        let nullable = typed.iter().all(|arg| arg.nullable);
        let mut exprs = Vec::with_capacity(typed.len());
        for arg in typed {
            exprs.push(self.fitted(arg, &kind, "the first of these is")?.expr);
        }
        let expr = Expr::Call(Function::Coalesce, exprs);
        Some(Typed { nullable, ..Typed::of(expr, kind, span) })
    }

    fn fold(
        &mut self,
        fold: Fold,
        name: &Word,
        distinct: bool,
        args: &[Ast],
        span: Span,
    ) -> Option<Typed> {
        let (what, place) = (name.name.as_str(), self.names.place);
        if !matches!(place, Place::Return | Place::Order | Place::Having) {
            let message = format!("the aggregate `{what}` has no place in {}", place.name());
            let help = "aggregates go in `return` and `having`";
            return self.wrong_help(span, message, help);
        }
        let over = match args {
            [] if fold == Fold::Count && !distinct => None,
            [over] => Some(self.typed(over)?),
            _ => {
                return self
                    .wrong(span, format!("`{what}` takes one value, like `{what}($p.age)`"));
            }
        };
        if over.as_ref().is_some_and(|over| has_fold(&over.expr)) {
            return self.wrong(span, "an aggregate cannot be over an aggregate");
        }
        if over.as_ref().is_some_and(|over| has_rank(&over.expr)) {
            return self.wrong(span, "an aggregate cannot be over a rank");
        }
        let kind = match (fold, over.as_ref().and_then(Typed::kind)) {
            (Fold::Count, _) => Kind::I64,
            (Fold::Avg, Some(kind)) if kind.is_number() => Kind::F64,
            (Fold::Sum, Some(Kind::U32 | Kind::U64)) => Kind::U64,
            (Fold::Sum, Some(kind)) if kind.is_whole() => Kind::I64,
            (Fold::Sum, Some(kind)) if kind.is_number() => Kind::F64,
            (Fold::Min | Fold::Max, Some(kind)) if ordered(&kind) => kind,
            _ => {
                let got = over.map_or_else(|| "nothing".to_owned(), |over| over.called());
                let wants = match fold {
                    Fold::Min | Fold::Max => "numbers, texts, days or moments",
                    _ => "numbers",
                };
                return self.wrong(span, format!("`{what}` takes {wants}, and this is {got}"));
            }
        };
        let over = over.map(|over| over.expr);
        let expr = Expr::Fold(Box::new(Aggregate { fold, over, distinct }));
        Some(Typed { nullable: fold != Fold::Count, ..Typed::of(expr, kind, span) })
    }
}

/// Whether an aggregate is in it.
pub(super) fn has_fold(expr: &Expr) -> bool {
    any(expr, &|expr| matches!(expr, Expr::Fold(_)))
}

/// Whether something that only ranks is in it.
fn has_rank(expr: &Expr) -> bool {
    any(expr, &|expr| matches!(expr, Expr::Call(Function::Bm25 | Function::Rrf, _)))
}

/// Whether any part of it is like this. What is under an aggregate is not looked at.
pub(super) fn any(expr: &Expr, like: &impl Fn(&Expr) -> bool) -> bool {
    like(expr)
        || match expr {
            Expr::Unary(_, inner) => any(inner, like),
            Expr::Binary(_, left, right) => any(left, like) || any(right, like),
            Expr::Call(_, args) | Expr::List(args) => args.iter().any(|arg| any(arg, like)),
            _ => false,
        }
}

const FOLDS: [(&str, Fold); 5] = [
    ("count", Fold::Count),
    ("sum", Fold::Sum),
    ("avg", Fold::Avg),
    ("min", Fold::Min),
    ("max", Fold::Max),
];

/// A function: its name, how many arguments it takes, and where it may stand.
type Known = (&'static str, std::ops::RangeInclusive<usize>, &'static [Place]);

const FUNCTIONS: [Known; 15] = [
    ("starts_with", 2..=2, EVERYWHERE),
    ("contains", 2..=2, EVERYWHERE),
    ("match_text", 2..=2, EVERYWHERE),
    ("fuzzy", 2..=2, EVERYWHERE),
    ("search", 2..=2, &[Place::Match, Place::Where]),
    ("bm25", 2..=2, RANKED),
    ("nearest", 2..=2, &[Place::Match, Place::Return, Place::Order]),
    ("rrf", 2..=8, RANKED),
    ("now", 0..=0, IN_QUERIES),
    ("date", 1..=1, EVERYWHERE),
    ("datetime", 1..=1, EVERYWHERE),
    ("lower", 1..=1, EVERYWHERE),
    ("upper", 1..=1, EVERYWHERE),
    ("length", 1..=1, EVERYWHERE),
    ("coalesce", 1..=8, EVERYWHERE),
];

const RANKED: &[Place] = &[Place::Return, Place::Order];
const IN_QUERIES: &[Place] =
    &[Place::Match, Place::Return, Place::Order, Place::Having, Place::Values, Place::Where];
const EVERYWHERE: &[Place] = &[
    Place::Match,
    Place::Return,
    Place::Order,
    Place::Having,
    Place::Values,
    Place::Where,
    Place::Check,
];
