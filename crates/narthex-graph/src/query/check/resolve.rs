//! What names in expressions stand for.

use super::Expressions;
use super::names::{Bare, Place};
use super::types::{Shape, Typed};
use crate::Span;
use crate::lang::{Ast, What, Word};
use crate::query::{Expr, PropertyNo, PropertyRef, VarNo};
use crate::schema::Property;

impl Expressions<'_, '_, '_> {
    /// A name without `$`.
    pub(super) fn bare(&mut self, name: &str, span: Span) -> Option<Typed> {
        let word = Word { name: name.to_owned(), span };
        match self.names.bare {
            Bare::Row => self.property(VarNo(0), &word, span),
            Bare::Edge => match end(name) {
                Some(end) => self.key(end, name, span),
                None => self.property(VarNo(0), &word, span),
            },
            Bare::Columns(columns) => {
                let found = columns.iter().position(|column| column.name == name);
                let Some((no, column)) = found.and_then(|no| Some((no, columns.get(no)?))) else {
                    let names = columns.iter().map(|column| column.name.as_str());
                    let message = format!("there is no column `{name}`");
                    let problem = self.problems.at(span, message).nearest(name, names);
                    return self.tell(problem);
                };
                let shape = match (&column.kind, &column.value) {
                    (Some(kind), _) => Shape::Of(kind.clone()),
                    (None, Expr::Var(var)) if self.is_edge(*var) => Shape::Edge,
                    _ => Shape::Node,
                };
                Some(Typed { expr: Expr::Column(no), shape, nullable: column.nullable, span })
            }
            Bare::Nothing => {
                let help = format!("a text goes in quotes, \"{name}\"; a variable begins with `$`");
                self.wrong_help(span, format!("`{name}` means nothing here"), help)
            }
        }
    }

    fn is_edge(&self, var: VarNo) -> bool {
        self.names.rows.get(var.0).is_some_and(|row| row.edge)
    }

    /// A variable or a parameter.
    pub(super) fn var(&mut self, name: &str, span: Span) -> Option<Typed> {
        if let Some(no) = self.names.params.iter().position(|param| param.name == name) {
            let param = self.names.params.get(no)?;
            self.used.insert(no);
            let shape = Shape::Of(param.kind.clone());
            return Some(Typed { expr: Expr::Param(no), shape, nullable: param.nullable, span });
        }
        let var = self.variable(name, span)?;
        let row = self.names.rows.get(var.0)?;
        let shape = if row.edge { Shape::Edge } else { Shape::Node };
        Some(Typed { expr: Expr::Var(var), shape, nullable: row.nullable, span })
    }

    fn variable(&mut self, name: &str, span: Span) -> Option<VarNo> {
        if let Some(var) = self.names.vars.get(name) {
            return Some(*var);
        }
        if name == "_" {
            return self.wrong(span, "`$_` is whatever is there, and cannot be spoken of");
        }
        let params = self.names.params.iter().map(|param| &param.name);
        let known = self.names.vars.keys().chain(params).map(String::as_str);
        let problem = match self.names.place {
            Place::Check => self.problems.at(span, "a check knows no variables"),
            _ => self.problems.at(span, format!("there is no `${name}` here")),
        };
        let hidden = self.names.rows.iter().any(|row| row.name.as_deref() == Some(name));
        let problem = match crate::diagnostic::nearest(name, known) {
            _ if hidden => problem.help(HIDDEN),
            Some(near) => problem.help(format!("did you mean `${near}`?")),
            None if self.names.place == Place::Check => {
                problem.help("write a property's name alone")
            }
            None => problem.help(BINDS),
        };
        self.tell(problem)
    }

    pub(super) fn dot(&mut self, of: &Ast, property: &Word, span: Span) -> Option<Typed> {
        match &of.what {
            What::Var(name) => {
                if self.names.params.iter().any(|param| param.name == *name) {
                    let message = format!("`${name}` is a parameter and has no properties");
                    return self.wrong(span, message);
                }
                let var = self.variable(name, of.span)?;
                self.property(var, property, span)
            }
            What::Name(name) if matches!(self.names.bare, Bare::Edge) => match end(name) {
                Some(end) => self.property(end, property, span),
                None => self.wrong_help(
                    of.span,
                    format!("`{name}` has no properties"),
                    "an edge's ends are `from` and `to`",
                ),
            },
            What::Name(name) => {
                let help = format!("did you mean `${name}.{}`?", property.name);
                self.wrong_help(of.span, format!("`{name}` has no properties"), help)
            }
            _ => self.wrong(span, "only a variable has properties"),
        }
    }

    /// A property of a variable.
    pub(crate) fn property(&mut self, var: VarNo, word: &Word, span: Span) -> Option<Typed> {
        let row = self.names.rows.get(var.0)?;
        let mut found: Vec<(PropertyNo, &Property)> = Vec::with_capacity(row.types.len());
        for properties in &row.types {
            let Some(no) = properties.iter().position(|property| property.name == word.name) else {
                let names = properties.iter().map(|property| property.name.as_str());
                let message = if row.types.len() > 1 {
                    format!("not all of {} have a property `{}`", row.label, word.name)
                } else {
                    format!("{} has no property `{}`", row.label, word.name)
                };
                let problem = self.problems.at(word.span, message);
                return self.tell(problem.nearest(&word.name, names));
            };
            found.push((PropertyNo(no), properties.get(no)?));
        }
        let first = found.first()?.1;
        if found.iter().any(|(_, other)| other.kind != first.kind) {
            let message = format!("`{}` is not of one kind in {}", word.name, row.label);
            return self.wrong(word.span, message);
        }
        let nullable = row.nullable || found.iter().any(|(_, property)| property.nullable);
        let shape = Shape::Of(first.kind.clone());
        let numbers = PropertyRef(found.into_iter().map(|(no, _)| no).collect());
        Some(Typed { expr: Expr::Property(var, numbers), shape, nullable, span })
    }

    /// An end of an edge by its key.
    fn key(&mut self, var: VarNo, name: &str, span: Span) -> Option<Typed> {
        let row = self.names.rows.get(var.0)?;
        let keys = row.types.iter().zip(&row.keys);
        let keys: Vec<&Property> = keys.filter_map(|(all, key)| all.get(*key)).collect();
        let kind = keys.first()?.kind.clone();
        if keys.iter().any(|key| key.kind != kind) {
            let message = format!("the keys of {} are not of one kind", row.label);
            return self.wrong_help(span, message, format!("write `{name}.<property>`"));
        }
        let numbers = PropertyRef(row.keys.iter().map(|key| PropertyNo(*key)).collect());
        Some(Typed::of(Expr::Property(var, numbers), kind, span))
    }
}

/// The variable an edge's end is.
pub(super) fn end(name: &str) -> Option<VarNo> {
    match name {
        "from" => Some(VarNo(1)),
        "to" => Some(VarNo(2)),
        _ => None,
    }
}

const HIDDEN: &str = "what is bound in `not`, or in one way of an `or` alone, is seen only there";
const BINDS: &str =
    "a variable is bound in `match`, a parameter by the query: `query name($x: String) { … }`";
