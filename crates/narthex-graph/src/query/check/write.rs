//! `insert`, `update`, `delete`.

use std::collections::{BTreeMap, BTreeSet};

use super::bindings::nodes;
use super::names::{Bare, Names, Place, Row};
use super::types::Shape;
use super::{Expressions, Query};
use crate::lang::{Ast, What, Word};
use crate::query::ast::{StatementAst, With};
use crate::query::{EdgeNo, Expr, NodeNo, PropertyNo, Statement, VarKind};
use crate::schema::{Kind, Property};
use crate::value::Value;

/// What a statement is about.
#[derive(Clone, Copy)]
enum Target {
    Node(NodeNo),
    Edge(EdgeNo),
}

type Set = Vec<(PropertyNo, Expr)>;

impl<'a> Query<'a, '_, '_> {
    /// Checks statements, all of them even if one is wrong.
    pub(super) fn write(&mut self, asts: &[StatementAst]) -> Option<Vec<Statement>> {
        let checked: Vec<Option<Statement>> = asts.iter().map(|ast| self.statement(ast)).collect();
        checked.into_iter().collect()
    }

    fn statement(&mut self, ast: &StatementAst) -> Option<Statement> {
        match ast {
            StatementAst::Insert { of, set } => match self.target(of)? {
                Target::Node(node) => self.insert_node(node, of, set),
                Target::Edge(edge) => self.insert_edge(edge, of, set),
            },
            StatementAst::Update { of, set, filter } => {
                let target = self.target(of)?;
                let set = self.update_set(target, set);
                let filter = self.filter_of(target, filter);
                let (set, filter) = (set?, filter?);
                Some(match target {
                    Target::Node(node) => Statement::UpdateNode { node, set, filter },
                    Target::Edge(edge) => Statement::UpdateEdge { edge, set, filter },
                })
            }
            StatementAst::Delete { of, filter } => {
                let target = self.target(of)?;
                let filter = self.filter_of(target, filter)?;
                Some(match target {
                    Target::Node(node) => Statement::DeleteNode { node, filter },
                    Target::Edge(edge) => Statement::DeleteEdge { edge, filter },
                })
            }
        }
    }

    /// The type a statement names.
    fn target(&mut self, of: &Word) -> Option<Target> {
        let name = of.name.as_str();
        if let Some(no) = self.schema.nodes.iter().position(|node| node.name == name) {
            return Some(Target::Node(NodeNo(no)));
        }
        if let Some(no) = self.schema.edges.iter().position(|edge| edge.name == name) {
            return Some(Target::Edge(EdgeNo(no)));
        }
        let problem = if self.schema.interface(name).is_some() {
            let problem = self.problems.at(of.span, format!("`{name}` is an interface"));
            problem.help("name one of the node types that have it")
        } else {
            let known = self.schema.nodes.iter().map(|node| node.name.as_str());
            let edges = self.schema.edges.iter().map(|edge| edge.name.as_str());
            let problem = self.problems.at(of.span, format!("there is no type `{name}`"));
            problem.nearest(name, known.chain(edges))
        };
        self.problems.add(problem);
        None
    }

    fn insert_node(&mut self, no: NodeNo, of: &Word, set: &With) -> Option<Statement> {
        let properties = &self.schema.nodes.get(no.0)?.properties;
        let set = self.insert_set(of, properties, set)?;
        Some(Statement::InsertNode { node: no, set })
    }

    fn insert_edge(&mut self, no: EdgeNo, of: &Word, set: &With) -> Option<Statement> {
        let edge = self.schema.edges.get(no.0)?;
        let (ends, rest): (With, With) =
            set.iter().cloned().partition(|(word, _)| word.name == "from" || word.name == "to");
        let mut end = |name: &str, at: &str| {
            let mut given = ends.iter().filter(|(word, _)| word.name == name);
            let first = given.next();
            if let Some((again, _)) = given.next() {
                self.problems.say(again.span, format!("`{name}` is given twice"));
            }
            let Some((_, value)) = first else {
                let message = format!("an edge needs its ends: `{name}` is missing");
                let problem = self.problems.at(of.span, message);
                self.problems.add(problem.help(format!("`{name}:` and the key of a {at}")));
                return None;
            };
            self.end_of(name, at, value)
        };
        let (from, to) = (end("from", &edge.from), end("to", &edge.to));
        let set = self.insert_set(of, &edge.properties, &rest);
        Some(Statement::InsertEdge { edge: no, from: from?, to: to?, set: set? })
    }

    /// The type and key of an end: `$a`, or `Person($a)` where there are several types.
    fn end_of(&mut self, name: &str, at: &str, value: &Ast) -> Option<(NodeNo, Expr)> {
        let can = nodes(self.schema, at).unwrap_or_default();
        let types = can.iter().filter_map(|no| self.schema.nodes.get(no.0));
        let names: Vec<&str> = types.map(|node| node.name.as_str()).collect();
        let (node, value) = match &value.what {
            What::Call { name: of, args, .. } if of.name.starts_with(is_upper) => {
                let [key] = args.as_slice() else {
                    self.problems.say(value.span, format!("write `{}(key)`", of.name));
                    return None;
                };
                let Some(place) = names.iter().position(|known| *known == of.name) else {
                    let message = format!("`{name}` is a {at}, and `{}` is none", of.name);
                    let problem = self.problems.at(of.span, message);
                    self.problems.add(problem.nearest(&of.name, names));
                    return None;
                };
                (can.iter().nth(place), key)
            }
            _ if can.len() == 1 => (can.first(), value),
            _ => {
                let message = format!("`{name}` is a {at}, and it must be said which");
                let problem = self.problems.at(value.span, message);
                let like = names.first().copied().unwrap_or("Type");
                self.problems.add(problem.help(format!("write `{name}: {like}(…)`")));
                return None;
            }
        };
        let node = *node?;
        let key = self.schema.nodes.get(node.0)?.key_property()?;
        let mut check = self.rowwise(&[], Bare::Nothing, Place::Values);
        let expr = check.value_for(key, &format!("`{name}` is"), value)?;
        Some((node, expr))
    }

    /// The values of a new row.
    fn insert_set(&mut self, of: &Word, properties: &[Property], set: &With) -> Option<Set> {
        let mut check = self.rowwise(&[], Bare::Nothing, Place::Values);
        let mut values = check.set(&of.name, properties, set);
        let given: BTreeSet<&str> = set.iter().map(|(word, _)| word.name.as_str()).collect();
        for (no, property) in properties.iter().enumerate() {
            if property.nullable || given.contains(property.name.as_str()) {
                continue;
            }
            let left_out = property.left_out();
            if !left_out.is_null() {
                if let Some(values) = &mut values {
                    values.push((PropertyNo(no), Expr::Const(left_out)));
                }
                continue;
            }
            let message = format!("`{}` needs `{}`", of.name, property.name);
            let help = format!("`{}: …`, a {}", property.name, property.kind);
            values = check.wrong_help(of.span, message, help);
        }
        values
    }

    fn update_set(&mut self, target: Target, set: &With) -> Option<Set> {
        let (name, properties, keys) = match target {
            Target::Node(no) => {
                let node = self.schema.nodes.get(no.0)?;
                (&node.name, &node.properties, vec![node.key])
            }
            Target::Edge(no) => {
                let edge = self.schema.edges.get(no.0)?;
                (&edge.name, &edge.properties, edge.key.clone())
            }
        };
        for (word, _) in set {
            let edge = matches!(target, Target::Edge(_));
            if edge && (word.name == "from" || word.name == "to") {
                let problem = self.problems.at(word.span, "where an edge ends cannot be changed");
                self.problems.add(problem.help("delete it and insert another"));
                return None;
            }
            let no = properties.iter().position(|of| of.name == word.name);
            if no.is_some_and(|no| keys.contains(&no)) {
                let message = format!("`{}` is the key and cannot be changed", word.name);
                let problem = self.problems.at(word.span, message);
                self.problems.add(problem.help("delete the row and insert another"));
                return None;
            }
        }
        let row = self.target_row(target);
        let mut check = self.rowwise(std::slice::from_ref(&row), Bare::Row, Place::Values);
        check.set(name, properties, set)
    }

    /// Which rows.
    fn filter_of(&mut self, target: Target, filter: &Ast) -> Option<Expr> {
        let mut rows = vec![self.target_row(target)];
        let bare = match target {
            Target::Node(_) => Bare::Row,
            Target::Edge(no) => {
                let edge = self.schema.edges.get(no.0)?;
                for end in [&edge.from, &edge.to] {
                    let types = nodes(self.schema, end).unwrap_or_default();
                    rows.push(self.row(&VarKind::Node(types.into_iter().collect()), false));
                }
                Bare::Edge
            }
        };
        self.rowwise(&rows, bare, Place::Where).condition(filter)
    }

    fn target_row(&self, target: Target) -> Row<'a> {
        self.row(
            &match target {
                Target::Node(no) => VarKind::Node(vec![no]),
                Target::Edge(no) => VarKind::Edge(no),
            },
            false,
        )
    }
}

impl<'s> Query<'_, '_, 's> {
    fn rowwise<'x>(
        &'x mut self,
        rows: &'x [Row<'x>],
        bare: Bare<'x>,
        place: Place,
    ) -> Expressions<'x, 'x, 's> {
        let names = Names { params: self.params, rows, vars: NO_VARS, bare, place };
        Expressions { names, problems: self.problems, used: self.used }
    }
}

impl Expressions<'_, '_, '_> {
    /// Values for properties.
    fn set(&mut self, of: &str, properties: &[Property], set: &With) -> Option<Set> {
        let mut seen = BTreeSet::new();
        let mut checked: Vec<Option<(PropertyNo, Expr)>> = Vec::with_capacity(set.len());
        for (word, value) in set {
            if !seen.insert(&word.name) {
                self.problems.say(word.span, format!("`{}` is given twice", word.name));
            }
            let Some(no) = properties.iter().position(|known| known.name == word.name) else {
                let names = properties.iter().map(|known| known.name.as_str());
                let message = format!("{of} has no property `{}`", word.name);
                let problem = self.problems.at(word.span, message);
                checked.push(self.tell(problem.nearest(&word.name, names)));
                continue;
            };
            let property = properties.get(no)?;
            let value = self.value_for(property, &format!("`{}` is", word.name), value);
            checked.push(value.map(|value| (PropertyNo(no), value)));
        }
        checked.into_iter().collect()
    }

    /// A value for a property.
    fn value_for(&mut self, property: &Property, what: &str, value: &Ast) -> Option<Expr> {
        if let (What::Name(word), Kind::Enum(words), Bare::Nothing) =
            (&value.what, &property.kind, self.names.bare)
            && words.contains(word)
        {
            let message = format!("`{word}` is a word of {}", property.kind);
            return self.wrong_help(value.span, message, format!("write it in quotes: \"{word}\""));
        }
        let typed = self.typed(value)?;
        let typed = self.fitted(typed, &property.kind, what)?;
        if typed.nullable && !property.nullable {
            let is_null = typed.expr == Expr::Const(Value::Null);
            let message = if is_null {
                format!("`{}` cannot be null", property.name)
            } else {
                format!("this may be null, and `{}` may not", property.name)
            };
            return match typed.shape {
                Shape::Of(_) if !is_null => {
                    self.wrong_help(typed.span, message, "`coalesce(a, b)` gives it a value")
                }
                _ => self.wrong(typed.span, message),
            };
        }
        Some(typed.expr)
    }
}

fn is_upper(letter: char) -> bool {
    letter.is_ascii_uppercase()
}

/// Statements have no variables.
static NO_VARS: &BTreeMap<String, crate::query::VarNo> = &BTreeMap::new();
