//! From declarations to a schema: every name known, every annotation where it belongs.

mod build;
mod property;

use std::collections::BTreeMap;

use super::ast::{Decl, DeclWhat, PropertyDecl};
use super::slots::{Origin, Renames, assign};
use super::{Check, EdgeType, Interface, NodeType, Schema};
use crate::Diagnostic;
use crate::diagnostic::nearest;
use crate::lang::{Problems, Word};
pub(super) use build::Built;
use build::build;

/// A schema out of its declarations.
pub(super) fn checked(
    source: &str,
    decls: &[Decl],
    origin: Origin<'_>,
) -> Result<Schema, Vec<Diagnostic>> {
    let mut problems = Problems::new(source);
    let types = by_name(decls, &mut problems);
    let mut schema = Schema { source: source.to_owned(), ..Schema::default() };
    let mut renames = Renames::default();
    for decl in decls {
        match &decl.what {
            DeclWhat::Interface => {
                let built = build(decl, &[], &mut problems);
                schema.interfaces.push(interface(decl, built));
            }
            DeclWhat::Node { interfaces } => {
                let interfaces = implemented(decl, interfaces, &types, &mut problems);
                let built = build(decl, &interfaces, &mut problems);
                renames.note(decl, &built);
                let names = interfaces.iter().map(|of| of.name.name.clone()).collect();
                schema.nodes.extend(node(decl, names, built, &mut problems));
            }
            DeclWhat::Edge { from, to } => {
                for end in [from, to] {
                    known_end(end, &types, &mut problems);
                }
                not_a_word(decl, &mut problems);
                let built = build(decl, &[], &mut problems);
                renames.note(decl, &built);
                schema.edges.push(edge(decl, from, to, built, &mut problems));
            }
        }
    }
    if problems.is_empty() {
        assign(&mut schema, &renames, origin, &mut problems);
    }
    problems.unless(|| schema)
}

type Types<'d> = BTreeMap<&'d str, &'d Decl>;

fn by_name<'d>(decls: &'d [Decl], problems: &mut Problems<'_>) -> Types<'d> {
    let mut types = Types::new();
    for decl in decls {
        if types.insert(&decl.name.name, decl).is_some() {
            problems.say(decl.name.span, format!("there are two types `{}`", decl.name.name));
        }
    }
    types
}

/// The interfaces of a node.
fn implemented<'d>(
    node: &Decl,
    names: &[Word],
    types: &Types<'d>,
    problems: &mut Problems<'_>,
) -> Vec<&'d Decl> {
    let mut found: Vec<&Decl> = Vec::new();
    for word in names {
        let name = word.name.as_str();
        let decl = types.get(name).filter(|decl| matches!(decl.what, DeclWhat::Interface));
        match decl {
            Some(decl) if found.iter().any(|other| other.name.name == decl.name.name) => {
                problems.say(word.span, format!("`{name}` is named twice"));
            }
            Some(decl) => {
                satisfied(node, decl, problems);
                found.push(decl);
            }
            None => {
                let interfaces = types
                    .values()
                    .filter(|decl| matches!(decl.what, DeclWhat::Interface))
                    .map(|decl| decl.name.name.as_str());
                let problem = problems.at(word.span, format!("there is no interface `{name}`"));
                problems.add(problem.nearest(name, interfaces));
            }
        }
    }
    found
}

/// What a node repeats of an interface must be the same there.
fn satisfied(node: &Decl, interface: &Decl, problems: &mut Problems<'_>) {
    let own = |name: &str| node.properties.iter().find(|own| own.name.name == name);
    for asked in &interface.properties {
        let Some(own) = own(&asked.name.name) else { continue };
        let (name, of) = (&asked.name.name, &interface.name.name);
        if own.kind != asked.kind {
            let message = format!("`{name}` is {} here, but {} in `{of}`", own.kind, asked.kind);
            problems.say(own.name.span, message);
        } else if own.nullable && !asked.nullable {
            let message = format!("`{name}` may be null here, but not in `{of}`");
            problems.say(own.name.span, message);
        }
    }
}

fn known_end(end: &Word, types: &Types<'_>, problems: &mut Problems<'_>) {
    let is_end = |decl: &Decl| !matches!(decl.what, DeclWhat::Edge { .. });
    let problem = match types.get(end.name.as_str()) {
        Some(decl) if is_end(decl) => return,
        Some(_) => problems.at(end.span, format!("`{}` is an edge, and no end of one", end.name)),
        None => {
            let known = types.iter().filter(|(_, decl)| is_end(decl)).map(|(name, _)| *name);
            let problem = problems.at(end.span, format!("there is no node `{}`", end.name));
            problem.nearest(&end.name, known)
        }
    };
    problems.add(problem);
}

/// An edge is followed by its name, which cannot mean something else there.
fn not_a_word(decl: &Decl, problems: &mut Problems<'_>) {
    let step = decl.name.name.to_lowercase();
    if ["and", "or", "not", "in", "is"].contains(&step.as_str()) {
        let message = format!("an edge cannot be called `{}`: `{step}` is a word", decl.name.name);
        problems.say(decl.name.span, message);
    }
    for PropertyDecl { name, .. } in &decl.properties {
        if name.name == "from" || name.name == "to" {
            problems.say(name.span, format!("`{}` is where an edge ends", name.name));
        }
    }
}

fn interface(decl: &Decl, built: Built<'_>) -> Interface {
    Interface {
        name: decl.name.name.clone(),
        properties: built.properties,
        description: built.description,
    }
}

fn node(
    decl: &Decl,
    interfaces: Vec<String>,
    built: Built<'_>,
    problems: &mut Problems<'_>,
) -> Option<NodeType> {
    let name = &decl.name.name;
    let checks = conditions(decl, &built, problems);
    let key = match built.key.as_slice() {
        [key] => *key,
        [] => {
            let problem = problems.at(decl.name.span, format!("`{name}` has no key"));
            problems.add(problem.help("mark one of its properties `@key`"));
            return None;
        }
        _ => {
            let problem = problems.at(decl.name.span, format!("`{name}` has several keys"));
            problems.add(problem.help("keep one `@key`; others together are `@unique(a, b)`"));
            return None;
        }
    };
    Some(NodeType {
        name: name.clone(),
        slot: String::new(),
        interfaces,
        properties: built.properties,
        key,
        uniques: built.uniques,
        checks,
        description: built.description,
    })
}

fn edge(
    decl: &Decl,
    from: &Word,
    to: &Word,
    built: Built<'_>,
    problems: &mut Problems<'_>,
) -> EdgeType {
    let checks = conditions(decl, &built, problems);
    EdgeType {
        name: decl.name.name.clone(),
        slot: String::new(),
        from: from.name.clone(),
        to: to.name.clone(),
        properties: built.properties,
        key: built.key,
        uniques: built.uniques,
        checks,
        card: built.card,
        description: built.description,
    }
}

/// What must hold for each row, typed over its properties.
fn conditions(decl: &Decl, built: &Built<'_>, problems: &mut Problems<'_>) -> Vec<Check> {
    let label = &decl.name.name;
    let typed = built.checks.iter().filter_map(|(ast, text)| {
        let holds = property::condition(ast, label, &built.properties, problems)?;
        Some(Check { source: (*text).to_owned(), holds })
    });
    typed.collect()
}

/// The property of this name.
fn find(word: &Word, built: &Built<'_>, problems: &mut Problems<'_>) -> Option<usize> {
    let names = || built.properties.iter().map(|property| property.name.as_str());
    let found = names().position(|name| name == word.name);
    if found.is_none() {
        let problem = problems.at(word.span, format!("there is no property `{}`", word.name));
        problems.add(match nearest(&word.name, names()) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem,
        });
    }
    found
}
