//! A schema as text, from its structure.

use std::fmt::Write as _;

use super::{Card, Check, EdgeType, Interface, Kind, NodeType, Property, Range, Schema};
use crate::query::{Expr, Function, UnaryOp};
use crate::value::{Value, date_text, moment_text};

impl Schema {
    /// Its text in one form, whatever it was read from: comments are gone, and what a node has of
    /// its interfaces is said there again. What things are stored under is not in it.
    pub fn to_source(&self) -> String {
        let interfaces = self.interfaces.iter().map(interface);
        let nodes = self.nodes.iter().map(node);
        let edges = self.edges.iter().map(edge);
        interfaces.chain(nodes).chain(edges).collect::<Vec<_>>().join("\n")
    }
}

impl Check {
    /// The condition, in which properties are called by their slots: the same for the same
    /// condition, whatever its properties are called.
    pub(crate) fn by_slots(&self, properties: &[Property]) -> String {
        expression(&self.holds, &|at| properties.get(at).map(|of| of.slot.clone()))
    }

    /// The condition as text, in which properties are called by these names.
    pub(crate) fn by_names(&self, name: &dyn Fn(usize) -> Option<String>) -> String {
        expression(&self.holds, name)
    }

    /// The numbers of the properties it is about.
    pub(crate) fn properties(&self) -> Vec<usize> {
        let mut found = Vec::new();
        collect(&self.holds, &mut found);
        found
    }
}

fn interface(of: &Interface) -> String {
    let mut text = format!("interface {} {{\n", of.name);
    for property in &of.properties {
        line(&mut text, property, &[]);
    }
    described(&mut text, of.description.as_deref());
    text.push_str("}\n");
    text
}

fn node(of: &NodeType) -> String {
    let mut text = format!("node {}", of.name);
    if !of.interfaces.is_empty() {
        let _ = write!(text, " implements {}", of.interfaces.join(", "));
    }
    text.push_str(" {\n");
    let alone = alone(&of.uniques);
    for (at, property) in of.properties.iter().enumerate() {
        let key = (at == of.key).then_some("@key");
        let unique = of.uniques.iter().take(alone).any(|unique| *unique == [at]);
        let notes: Vec<&str> = key.into_iter().chain(unique.then_some("@unique")).collect();
        line(&mut text, property, &notes);
    }
    whole(&mut text, &of.properties, of.uniques.get(alone..).unwrap_or_default(), &of.checks);
    described(&mut text, of.description.as_deref());
    text.push_str("}\n");
    text
}

fn edge(of: &EdgeType) -> String {
    let mut text = format!("edge {}: {} -> {}", of.name, of.from, of.to);
    if let Some(card) = of.card {
        let _ = write!(text, " @card({})", card_text(card));
    }
    if let Some(description) = &of.description {
        let _ = write!(text, " @description({})", quoted(description));
    }
    if of.properties.is_empty() && of.checks.is_empty() {
        text.push('\n');
        return text;
    }
    text.push_str(" {\n");
    let alone = alone(&of.uniques);
    let in_order = of.key.is_sorted();
    for (at, property) in of.properties.iter().enumerate() {
        let key = (in_order && of.key.contains(&at)).then_some("@key");
        let unique = of.uniques.iter().take(alone).any(|unique| *unique == [at]);
        let notes: Vec<&str> = key.into_iter().chain(unique.then_some("@unique")).collect();
        line(&mut text, property, &notes);
    }
    if !in_order {
        let _ = writeln!(text, "    @key({})", names(&of.properties, &of.key));
    }
    whole(&mut text, &of.properties, of.uniques.get(alone..).unwrap_or_default(), &of.checks);
    text.push_str("}\n");
    text
}

/// How many of these can be said beside their property and come out in the same order.
fn alone(uniques: &[Vec<usize>]) -> usize {
    let single = |unique: &Vec<usize>| match unique.as_slice() {
        [at] => Some(*at),
        _ => None,
    };
    let singles: Vec<usize> = uniques.iter().map_while(single).collect();
    singles.chunk_by(|one, next| one < next).next().map_or(0, <[usize]>::len)
}

fn line(text: &mut String, of: &Property, notes: &[&str]) {
    let null = if of.nullable { "?" } else { "" };
    let _ = write!(text, "    {}: {}{null}", of.name, kind(&of.kind));
    for note in notes {
        let _ = write!(text, " {note}");
    }
    if of.index.is_some() {
        text.push_str(" @index");
    }
    if let Some(range) = &of.range {
        let _ = write!(text, " @range({})", range_text(range));
    }
    if let Some(embed) = &of.embed {
        let _ = write!(text, " @embed({embed})");
    }
    if let Some(description) = &of.description {
        let _ = write!(text, " @description({})", quoted(description));
    }
    text.push('\n');
}

/// What is said of a type as a whole.
fn whole(text: &mut String, properties: &[Property], uniques: &[Vec<usize>], checks: &[Check]) {
    for unique in uniques {
        let _ = writeln!(text, "    @unique({})", names(properties, unique));
    }
    for check in checks {
        let _ = writeln!(text, "    @check({})", condition(&check.source));
    }
}

fn described(text: &mut String, description: Option<&str>) {
    if let Some(description) = description {
        let _ = writeln!(text, "    @description({})", quoted(description));
    }
}

fn names(properties: &[Property], numbers: &[usize]) -> String {
    let named = numbers.iter().filter_map(|at| properties.get(*at));
    named.map(|of| of.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn kind(kind: &Kind) -> String {
    kind.to_string()
}

/// A condition as it was written; in quotes, where it would not end at its bracket.
fn condition(source: &str) -> String {
    let plain = !source.contains("//") && !source.contains("/*") && !source.contains('\n');
    if plain { source.to_owned() } else { quoted(source) }
}

pub(super) fn range_text(range: &Range) -> String {
    let end = |value: &Option<Value>| value.as_ref().map(range_end).unwrap_or_default();
    format!("{}..{}", end(&range.low), end(&range.high))
}

fn range_end(value: &Value) -> String {
    match value {
        Value::Date(day) => quoted(&date_text(*day)),
        Value::DateTime(moment) => quoted(&moment_text(*moment)),
        other => literal(other),
    }
}

fn card_text(card: Card) -> String {
    match card.max {
        Some(max) => format!("{}..{max}", card.min),
        None => format!("{}..", card.min),
    }
}

/// A text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            control if control.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(yes) => yes.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Text(text) => quoted(text),
        Value::Date(day) => format!("date({})", quoted(&date_text(*day))),
        Value::DateTime(moment) => format!("datetime({})", quoted(&moment_text(*moment))),
        Value::List(items) => list(items.iter().map(literal)),
        Value::Vector(items) => list(items.iter().map(|item| format!("{item:?}"))),
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// An expression over the properties of one row as text, every operation in brackets.
fn expression(of: &Expr, name: &dyn Fn(usize) -> Option<String>) -> String {
    let inner = |of: &Expr| match of {
        Expr::Unary(..) | Expr::Binary(..) => format!("({})", expression(of, name)),
        _ => expression(of, name),
    };
    match of {
        Expr::Const(value) => literal(value),
        Expr::Property(_, property) => {
            property.0.first().and_then(|at| name(at.0)).unwrap_or_default()
        }
        Expr::Unary(UnaryOp::Not, of) => format!("not {}", inner(of)),
        Expr::Unary(UnaryOp::Minus, of) => format!("-{}", inner(of)),
        Expr::Unary(UnaryOp::IsNull, of) => format!("{} is null", inner(of)),
        Expr::Binary(op, left, right) => format!("{} {} {}", inner(left), op.sign(), inner(right)),
        Expr::List(items) => list(items.iter().map(|item| expression(item, name))),
        Expr::Call(function, of) => {
            let of: Vec<String> = of.iter().map(|of| expression(of, name)).collect();
            format!("{}({})", called(*function), of.join(", "))
        }
        // A condition of a schema is about one row, and has none of these.
        Expr::Param(_) | Expr::Var(_) | Expr::Column(_) | Expr::Fold(_) => String::new(),
    }
}

fn collect(of: &Expr, found: &mut Vec<usize>) {
    match of {
        Expr::Property(_, property) => found.extend(property.0.first().map(|at| at.0)),
        Expr::Unary(_, of) => collect(of, found),
        Expr::Binary(_, left, right) => {
            collect(left, found);
            collect(right, found);
        }
        Expr::Call(_, of) | Expr::List(of) => of.iter().for_each(|of| collect(of, found)),
        Expr::Const(_) | Expr::Param(_) | Expr::Var(_) | Expr::Column(_) | Expr::Fold(_) => {}
    }
}

const fn called(function: Function) -> &'static str {
    match function {
        Function::StartsWith => "starts_with",
        Function::Contains => "contains",
        Function::MatchText => "match_text",
        Function::Fuzzy => "fuzzy",
        Function::Bm25 => "bm25",
        Function::Nearest => "nearest",
        Function::Rrf => "rrf",
        Function::Now => "now",
        Function::Lower => "lower",
        Function::Upper => "upper",
        Function::Length => "length",
        Function::Coalesce => "coalesce",
    }
}
