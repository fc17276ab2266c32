//! Ranges and conditions: values and expressions within a schema.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Kind, Property, Range};
use crate::Span;
use crate::lang::{Ast, Problems, What};
use crate::query::Expr;
use crate::query::check::{Bare, Expressions, Names, Place, Row};
use crate::value::{Value, parse_date, parse_moment};

/// A condition over the properties of a row.
pub(super) fn condition(
    ast: &Ast,
    label: &str,
    properties: &[Property],
    problems: &mut Problems<'_>,
) -> Option<Expr> {
    let row = Row {
        name: None,
        label: label.to_owned(),
        called: Vec::new(),
        types: vec![properties],
        keys: Vec::new(),
        edge: false,
        nullable: false,
    };
    expressions(std::slice::from_ref(&row), Bare::Row, problems, |check| check.condition(ast))
}

/// The range of a property.
pub(super) fn range(
    of: &Property,
    (low, high): (Option<&Ast>, Option<&Ast>),
    span: Span,
    problems: &mut Problems<'_>,
) -> Option<Range> {
    if !of.kind.is_number() && !matches!(of.kind, Kind::Date | Kind::DateTime) {
        let message = format!("`@range` is for numbers, Date and DateTime; this is {}", of.kind);
        problems.say(span, message);
        return None;
    }
    let low = end(low, of, problems)?;
    let high = end(high, of, problems)?;
    if let (Some(low), Some(high)) = (&low, &high)
        && above(low, high)
    {
        problems.say(span, "the range ends before it begins");
        return None;
    }
    Some(Range { low, high })
}

/// An end of a range, if it has one.
#[expect(clippy::option_option, reason = "wrong is another thing than not there")]
fn end(ast: Option<&Ast>, of: &Property, problems: &mut Problems<'_>) -> Option<Option<Value>> {
    let Some(ast) = ast else { return Some(None) };
    // Days and moments are plain texts here: there is nothing else they could be.
    let plain = match (&of.kind, &ast.what) {
        (Kind::Date, What::Text(text)) => parse_date(text).map(Value::Date),
        (Kind::DateTime, What::Text(text)) => parse_moment(text).map(Value::DateTime),
        _ => None,
    };
    if plain.is_some() {
        return Some(plain);
    }
    let typed = expressions(&[], Bare::Nothing, problems, |check| {
        let typed = check.typed(ast)?;
        check.fitted(typed, &of.kind, &format!("`{}` is", of.name))
    })?;
    match typed.expr {
        Expr::Const(value) if value != Value::Null => Some(Some(value)),
        _ => {
            problems.say(ast.span, "an end of a range is a value");
            None
        }
    }
}

fn above(low: &Value, high: &Value) -> bool {
    match (low, high) {
        (Value::Int(low), Value::Int(high)) => low > high,
        (Value::Float(low), Value::Float(high)) => low > high,
        (Value::Date(low), Value::Date(high)) => low > high,
        (Value::DateTime(low), Value::DateTime(high)) => low > high,
        _ => false,
    }
}

fn expressions<T>(
    rows: &[Row<'_>],
    bare: Bare<'_>,
    problems: &mut Problems<'_>,
    check: impl FnOnce(&mut Expressions<'_, '_, '_>) -> Option<T>,
) -> Option<T> {
    let (vars, mut used) = (BTreeMap::new(), BTreeSet::new());
    let names = Names { params: &[], rows, vars: &vars, bare, place: Place::Check };
    check(&mut Expressions { names, problems, used: &mut used })
}
