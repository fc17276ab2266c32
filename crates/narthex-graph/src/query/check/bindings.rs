//! Which variables a block binds, and what they can be.
//!
//! This says nothing of what is wrong: where two clauses cannot both hold, the first is believed,
//! and the second is told off when it is checked.

use std::collections::BTreeSet;

use super::super::ast::{ClauseAst, EdgeAst};
use super::super::{Direction, EdgeNo, NodeNo};
use crate::lang::Word;
use crate::schema::{EdgeType, Schema};

/// A variable that is visible behind the block that binds it.
#[derive(Debug, Clone)]
pub(super) struct Binding {
    /// Its name.
    pub(super) name: String,
    /// What it is.
    pub(super) what: Bound,
    /// Whether it is bound in `optional` alone.
    pub(super) optional: bool,
}

/// What a variable is bound to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Bound {
    /// A node of one of these; nothing is known where a name was wrong.
    Node(Option<BTreeSet<NodeNo>>),
    /// An edge.
    Edge(Option<EdgeNo>),
}

/// The variables a block binds for what comes behind it, in the order they are first seen.
pub(super) fn bindings(schema: &Schema, clauses: &[ClauseAst]) -> Vec<Binding> {
    let mut all = Bindings(Vec::new());
    for clause in clauses {
        match clause {
            ClauseAst::Node { var, of, .. } => {
                all.add(var, Bound::Node(nodes(schema, &of.name)), false);
            }
            ClauseAst::Edge(edge) => all.edge(schema, edge),
            ClauseAst::Filter(_) | ClauseAst::Not(_) => {}
            ClauseAst::Optional(inner) => {
                for found in bindings(schema, inner) {
                    all.add_named(&found.name, found.what, true);
                }
            }
            ClauseAst::Or(ways) => {
                for found in in_every(ways.iter().map(|way| bindings(schema, way))) {
                    all.add_named(&found.name, found.what, found.optional);
                }
            }
        }
    }
    all.0
}

/// What every way binds, as any of what they bind it to.
fn in_every(mut ways: impl Iterator<Item = Vec<Binding>>) -> Vec<Binding> {
    let mut all = ways.next().unwrap_or_default();
    for way in ways {
        all.retain_mut(|one| {
            let Some(other) = way.iter().find(|other| other.name == one.name) else { return false };
            if let (Bound::Node(Some(types)), Bound::Node(Some(more))) =
                (&mut one.what, &other.what)
            {
                types.extend(more);
            }
            one.optional |= other.optional;
            true
        });
    }
    all
}

struct Bindings(Vec<Binding>);

impl Bindings {
    fn edge(&mut self, schema: &Schema, edge: &EdgeAst) {
        let found = step(schema, &edge.edge.name);
        let (from, to) = match found {
            Some((_, found)) => ends(schema, found, edge.direction),
            None => (None, None),
        };
        self.add(&edge.from, Bound::Node(from), false);
        if let Some(var) = &edge.var {
            self.add(var, Bound::Edge(found.map(|(no, _)| no)), false);
        }
        self.add(&edge.to, Bound::Node(to), false);
    }

    fn add(&mut self, word: &Word, what: Bound, optional: bool) {
        if word.name != "_" {
            self.add_named(&word.name, what, optional);
        }
    }

    fn add_named(&mut self, name: &str, what: Bound, optional: bool) {
        let Some(known) = self.0.iter_mut().find(|known| known.name == name) else {
            self.0.push(Binding { name: name.to_owned(), what, optional });
            return;
        };
        match (known.optional, optional) {
            // What is looked for only optionally makes nothing narrower around it.
            (_, true) => {}
            (true, false) => {
                known.what = what;
                known.optional = false;
            }
            (false, false) => narrow(&mut known.what, what),
        }
    }
}

fn narrow(known: &mut Bound, more: Bound) {
    match (known, more) {
        (Bound::Node(Some(types)), Bound::Node(Some(more))) => {
            let common: BTreeSet<NodeNo> = types.intersection(&more).copied().collect();
            if !common.is_empty() {
                *types = common;
            }
        }
        (Bound::Node(types @ None), Bound::Node(more)) => *types = more,
        _ => {}
    }
}

/// The node types that a name stands for. None: there is no such name, or nothing has it.
pub(super) fn nodes(schema: &Schema, name: &str) -> Option<BTreeSet<NodeNo>> {
    let of = |node: &crate::schema::NodeType| {
        node.name == name || node.interfaces.iter().any(|interface| interface == name)
    };
    let found = schema.nodes.iter().enumerate().filter(|(_, node)| of(node));
    let found: BTreeSet<NodeNo> = found.map(|(no, _)| NodeNo(no)).collect();
    (!found.is_empty()).then_some(found)
}

/// The edge that is followed by this name.
pub(super) fn step<'a>(schema: &'a Schema, name: &str) -> Option<(EdgeNo, &'a EdgeType)> {
    let found = schema.edges.iter().position(|edge| edge.step() == name)?;
    Some((EdgeNo(found), schema.edges.get(found)?))
}

/// What can be on the left and on the right of an edge that is followed this way.
pub(super) fn ends(
    schema: &Schema,
    edge: &EdgeType,
    direction: Direction,
) -> (Option<BTreeSet<NodeNo>>, Option<BTreeSet<NodeNo>>) {
    let (from, to) = (nodes(schema, &edge.from), nodes(schema, &edge.to));
    match direction {
        Direction::Out => (from, to),
        Direction::In => (to, from),
        Direction::Both => {
            let either = match (from, to) {
                (Some(mut from), Some(to)) => {
                    from.extend(to);
                    Some(from)
                }
                (from, to) => from.or(to),
            };
            (either.clone(), either)
        }
    }
}
