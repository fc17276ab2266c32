//! Types and their properties, one by one.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::kinds::{KindChange, keeps_names, kind_change};
use super::{Build, Change, Migration, Step, Verify};
use crate::rows::unique_tag;
use crate::schema::{Card, Check, EdgeType, NodeType, Property, Range, Schema};
use crate::value::Value;

pub(super) fn interfaces(before: &Schema, after: &Schema, to: &mut Migration) {
    for new in &after.interfaces {
        let name = &new.name;
        match before.interface(name) {
            None => {
                let sentence = format!("interface `{name}` is added");
                to.push(Step::additive(Change::AddInterface, name, sentence));
            }
            Some(old) if old != new => {
                let sentence = format!("interface `{name}` asks for something else");
                to.push(Step::additive(Change::ChangeInterfaces, name, sentence));
            }
            Some(_) => {}
        }
    }
    for old in before.interfaces.iter().filter(|old| after.interface(&old.name).is_none()) {
        let sentence = format!("interface `{}` is removed", old.name);
        to.push(Step::additive(Change::DropInterface, &old.name, sentence));
    }
}

pub(super) fn nodes(before: &Schema, after: &Schema, to: &mut Migration) {
    for new in &after.nodes {
        match before.nodes.iter().find(|old| old.slot == new.slot) {
            None => {
                let sentence = format!("node `{}` is added", new.name);
                to.push(Step::additive(Change::AddNode, &new.name, sentence));
            }
            Some(old) => node(old, new, to),
        }
    }
    for old in &before.nodes {
        if after.nodes.iter().all(|new| new.slot != old.slot) {
            let sentence = format!("node `{}` is removed with all its rows", old.name);
            to.push(Step::destructive(Change::DropNode, &old.name, sentence));
        }
    }
}

pub(super) fn edges(before: &Schema, after: &Schema, to: &mut Migration) {
    for new in &after.edges {
        match before.edges.iter().find(|old| old.slot == new.slot) {
            None => {
                let sentence = format!("edge `{}` is added", new.name);
                to.push(Step::additive(Change::AddEdge, &new.name, sentence));
                if let Some(card) = new.card.filter(|card| card.min > 0) {
                    let sentence = format!("`{}` must begin {} at each node", new.name, of(card));
                    to.push(Step::checked(Change::AddCard, &new.name, sentence, card_holds(new)));
                }
            }
            Some(old) => {
                edge(old, new, to);
                ends(before, after, old, new, to);
            }
        }
    }
    for old in &before.edges {
        if after.edges.iter().all(|new| new.slot != old.slot) {
            let sentence = format!("edge `{}` is removed with all its rows", old.name);
            to.push(Step::destructive(Change::DropEdge, &old.name, sentence));
        }
    }
}

fn node(old: &NodeType, new: &NodeType, to: &mut Migration) {
    let key = |node: &NodeType| node.key_property().map(|key| key.slot.clone());
    let (old_key, new_key) = (key(old), key(new));
    let shape = |node| Shape::of_node(node);
    rename(&old.name, &new.name, to);
    if old_key != new_key {
        let sentence = format!("`{}` would have another key", new.name);
        to.push(Step::refused(Change::ChangeKey, &new.name, sentence, KEY_ADVICE));
    }
    common(&shape(old), &shape(new), to);
    let interfaces = |node: &NodeType| node.interfaces.iter().cloned().collect::<BTreeSet<_>>();
    if interfaces(old) != interfaces(new) {
        let sentence = format!("`{}` implements other interfaces", new.name);
        to.push(Step::additive(Change::ChangeInterfaces, &new.name, sentence));
    }
}

fn edge(old: &EdgeType, new: &EdgeType, to: &mut Migration) {
    rename(&old.name, &new.name, to);
    let (old_shape, new_shape) = (Shape::of_edge(old), Shape::of_edge(new));
    if old_shape.key != new_shape.key {
        let sentence = format!("`{}` would have another key", new.name);
        to.push(Step::refused(Change::ChangeKey, &new.name, sentence, KEY_ADVICE));
    }
    common(&old_shape, &new_shape, to);
    card(old, new, to);
}

/// What nodes and edges have in common.
struct Shape<'a> {
    name: &'a str,
    slot: &'a str,
    properties: &'a [Property],
    key: Vec<&'a str>,
    uniques: &'a [Vec<usize>],
    checks: &'a [Check],
    description: Option<&'a str>,
    edge: bool,
}

impl<'a> Shape<'a> {
    fn of_node(node: &'a NodeType) -> Self {
        Self {
            name: &node.name,
            slot: &node.slot,
            properties: &node.properties,
            key: node.key_property().map(|key| key.slot.as_str()).into_iter().collect(),
            uniques: &node.uniques,
            checks: &node.checks,
            description: node.description.as_deref(),
            edge: false,
        }
    }

    fn of_edge(edge: &'a EdgeType) -> Self {
        let keys = edge.key.iter().filter_map(|at| edge.properties.get(*at));
        let mut key: Vec<&str> = keys.map(|key| key.slot.as_str()).collect();
        key.sort_unstable();
        Self {
            name: &edge.name,
            slot: &edge.slot,
            properties: &edge.properties,
            key,
            uniques: &edge.uniques,
            checks: &edge.checks,
            description: edge.description.as_deref(),
            edge: true,
        }
    }

    /// A set of properties by their slots, in order.
    fn slots(&self, numbers: &[usize]) -> Vec<String> {
        let properties = numbers.iter().filter_map(|at| self.properties.get(*at));
        let mut slots: Vec<String> = properties.map(|of| of.slot.clone()).collect();
        slots.sort_unstable();
        slots
    }

    fn names(&self, numbers: &[usize]) -> String {
        let properties = numbers.iter().filter_map(|at| self.properties.get(*at));
        properties.map(|of| of.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn at(&self, property: &Property) -> String {
        format!("{}.{}", self.name, property.name)
    }
}

fn rename(old: &str, new: &str, to: &mut Migration) {
    if old != new {
        let sentence = format!("`{old}` is called `{new}`");
        to.push(Step::additive(Change::RenameType, new, sentence));
    }
}

fn common(old: &Shape<'_>, new: &Shape<'_>, to: &mut Migration) {
    for property in new.properties {
        match old.properties.iter().find(|was| was.slot == property.slot) {
            Some(was) => changed(old, new, was, property, to),
            None => added(new, property, to),
        }
        let built = old.properties.iter().find(|was| was.slot == property.slot);
        if let Some(index) = property.index_tag(new.slot)
            && built.and_then(|was| was.index) != property.index
        {
            let slots = vec![property.slot.clone()];
            to.builds.push(Build { type_slot: new.slot.to_owned(), slots, index, unique: false });
        }
    }
    uniques(old, new, to);
    checks(old, new, to);
    if old.description != new.description {
        let sentence = format!("`{}` is described otherwise", new.name);
        to.push(Step::additive(Change::ChangeDescription, new.name, sentence));
    }
    for property in old.properties {
        if new.properties.iter().all(|is| is.slot != property.slot) {
            let sentence = format!("`{}` is removed with all its values", old.at(property));
            to.push(Step::destructive(Change::DropProperty, &old.at(property), sentence));
        }
    }
}

/// A property that is new to its type.
fn added(of: &Shape<'_>, property: &Property, to: &mut Migration) {
    let at = of.at(property);
    if property.nullable {
        to.push(Step::additive(Change::AddProperty, &at, format!("`{at}` is added")));
    } else {
        let sentence = format!("`{at}` is added and must be there, so no `{}` may be", of.name);
        let verify = Verify::NoRows { type_slot: of.slot.to_owned() };
        let step = Step::checked(Change::AddProperty, &at, sentence, verify);
        to.push(step.advice("add it with `?`, fill it in, and take the `?` away then"));
    }
    if property.index.is_some() {
        to.push(Step::additive(Change::AddIndex, &at, format!("`{at}` is indexed")));
    }
}

fn changed(old: &Shape<'_>, new: &Shape<'_>, was: &Property, is: &Property, to: &mut Migration) {
    let at = new.at(is);
    let (type_slot, slot) = (new.slot.to_owned(), is.slot.clone());
    if was.name != is.name {
        let sentence = format!("`{}` is called `{}`", old.at(was), is.name);
        to.push(Step::additive(Change::RenameProperty, &at, sentence));
    }
    kind(new, was, is, to);
    if !was.nullable && is.nullable {
        let sentence = format!("`{at}` may be null");
        to.push(Step::additive(Change::AllowNull, &at, sentence));
    } else if was.nullable && !is.nullable {
        let sentence = format!("`{at}` must be there");
        let verify = Verify::NotNull { type_slot: type_slot.clone(), slot: slot.clone() };
        to.push(Step::checked(Change::ForbidNull, &at, sentence, verify));
    }
    match (was.index, is.index) {
        (None, Some(_)) => {
            to.push(Step::additive(Change::AddIndex, &at, format!("`{at}` is indexed")));
        }
        (Some(_), None) => {
            let sentence = format!("`{at}` is no longer indexed");
            to.push(Step::additive(Change::DropIndex, &at, sentence));
        }
        (None, None) | (Some(_), Some(_)) => {}
    }
    range(&at, was, is, Verify::InRange { type_slot, slot }, to);
    if was.embed != is.embed {
        let sentence = format!("the vectors of `{at}` are made of something else");
        let step = Step::additive(Change::ChangeEmbed, &at, sentence);
        to.push(step.advice("vectors that are there stay as they are until they are made again"));
    }
    if was.description != is.description {
        let sentence = format!("`{at}` is described otherwise");
        to.push(Step::additive(Change::ChangeDescription, &at, sentence));
    }
}

fn kind(of: &Shape<'_>, was: &Property, is: &Property, to: &mut Migration) {
    let at = of.at(is);
    let sentence = format!("`{at}` becomes {}, from {}", is.kind, was.kind);
    let change = kind_change(&was.kind, &is.kind);
    let names = of.key.contains(&is.slot.as_str())
        && change != KindChange::Same
        && !keeps_names(&was.kind, &is.kind, of.edge);
    to.steps.extend(match change {
        KindChange::Same => None,
        _ if names => Some(Step::refused(Change::ChangeKey, &at, sentence, KEY_ADVICE)),
        KindChange::Widens => Some(Step::additive(Change::ChangeKind, &at, sentence)),
        KindChange::MayFit => {
            let (type_slot, slot) = (of.slot.to_owned(), is.slot.clone());
            let verify = Verify::Fits { type_slot, slot, kind: is.kind.clone() };
            Some(Step::checked(Change::ChangeKind, &at, sentence, verify))
        }
        KindChange::Never => Some(Step::refused(Change::ChangeKind, &at, sentence, KIND_ADVICE)),
    });
}

fn range(at: &str, was: &Property, is: &Property, verify: Verify, to: &mut Migration) {
    to.steps.extend(match (&was.range, &is.range) {
        (None, None) => None,
        (None, Some(_)) => {
            let sentence = format!("`{at}` gets a range");
            Some(Step::checked(Change::AddRange, at, sentence, verify))
        }
        (Some(_), None) => {
            let sentence = format!("`{at}` no longer has a range");
            Some(Step::additive(Change::DropRange, at, sentence))
        }
        (Some(old), Some(new)) if old == new => None,
        (Some(old), Some(new)) if is_within(old, new) => {
            let sentence = format!("the range of `{at}` is wider");
            Some(Step::additive(Change::WidenRange, at, sentence))
        }
        (Some(_), Some(_)) => {
            let sentence = format!("the range of `{at}` leaves out what it had");
            Some(Step::checked(Change::NarrowRange, at, sentence, verify))
        }
    });
}

/// Whether all of one range is in another.
fn is_within(inner: &Range, outer: &Range) -> bool {
    let not_beyond =
        |inner: &Option<Value>, outer: &Option<Value>, beyond: Ordering| match (inner, outer) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(inner), Some(outer)) => inner.total(outer) != beyond,
        };
    not_beyond(&inner.low, &outer.low, Ordering::Less)
        && not_beyond(&inner.high, &outer.high, Ordering::Greater)
}

fn uniques(old: &Shape<'_>, new: &Shape<'_>, to: &mut Migration) {
    let slots_of = |shape: &Shape<'_>| -> Vec<Vec<String>> {
        shape.uniques.iter().map(|unique| shape.slots(unique)).collect()
    };
    let (had, has) = (slots_of(old), slots_of(new));
    for (unique, slots) in new.uniques.iter().zip(&has) {
        let is_new = !had.contains(slots);
        if is_new {
            let sentence = format!("no two `{}` may be alike in {}", new.name, new.names(unique));
            let type_slot = new.slot.to_owned();
            let verify = Verify::Unique { type_slot, slots: slots.clone() };
            to.push(Step::checked(Change::AddUnique, new.name, sentence, verify));
        }
        let before = had.iter().position(|had| had == slots).and_then(|at| old.uniques.get(at));
        let before = before.and_then(|unique| unique_tag(old.slot, old.properties, unique));
        if let Some(index) = unique_tag(new.slot, new.properties, unique)
            && (is_new || before != Some(index) || reads_otherwise(old, new, slots))
        {
            let (type_slot, slots) = (new.slot.to_owned(), slots.clone());
            to.builds.push(Build { type_slot, slots, index, unique: true });
        }
    }
    for (unique, slots) in old.uniques.iter().zip(&had) {
        if !has.contains(slots) {
            let sentence = format!("`{}` may be alike in {}", new.name, old.names(unique));
            to.push(Step::additive(Change::DropUnique, new.name, sentence));
        }
    }
}

/// Whether what an index behind `@unique` has of these properties is written otherwise now: a day
/// and the text of a day are two things there.
fn reads_otherwise(old: &Shape<'_>, new: &Shape<'_>, slots: &[String]) -> bool {
    let kind = |shape: &Shape<'_>, slot: &String| {
        shape.properties.iter().find(|of| of.slot == *slot).map(|of| of.kind.clone())
    };
    slots.iter().any(|slot| match (kind(old, slot), kind(new, slot)) {
        (Some(old), Some(new)) => old != new && !keeps_names(&old, &new, true),
        _ => false,
    })
}

fn checks(old: &Shape<'_>, new: &Shape<'_>, to: &mut Migration) {
    let said = |shape: &Shape<'_>| -> Vec<String> {
        shape.checks.iter().map(|check| check.by_slots(shape.properties)).collect()
    };
    let (had, has) = (said(old), said(new));
    for (check, said) in new.checks.iter().zip(&has) {
        if !had.contains(said) {
            let sentence = format!("`{}` must hold for every `{}`", check.source, new.name);
            let type_slot = new.slot.to_owned();
            let verify = Verify::Holds { type_slot, check: check.source.clone() };
            to.push(Step::checked(Change::AddCheck, new.name, sentence, verify));
        }
    }
    for (check, said) in old.checks.iter().zip(&had) {
        if !has.contains(said) {
            let sentence = format!("`{}` need not hold for `{}`", check.source, new.name);
            to.push(Step::additive(Change::DropCheck, new.name, sentence));
        }
    }
}

fn card(old: &EdgeType, new: &EdgeType, to: &mut Migration) {
    let (was, is) = (old.card.unwrap_or(ANY), new.card.unwrap_or(ANY));
    if old.card == new.card {
        return;
    }
    let looser =
        is.min <= was.min && is.max.is_none_or(|max| was.max.is_some_and(|was| was <= max));
    let sentence = format!("`{}` begin {} at each node", new.name, of(is));
    let change = match (old.card, new.card) {
        (None, _) => Change::AddCard,
        (Some(_), None) => Change::DropCard,
        (Some(_), Some(_)) if looser => Change::LoosenCard,
        (Some(_), Some(_)) => Change::TightenCard,
    };
    to.push(if looser {
        Step::additive(change, &new.name, sentence)
    } else {
        Step::checked(change, &new.name, sentence, card_holds(new))
    });
}

fn card_holds(edge: &EdgeType) -> Verify {
    Verify::Cardinality { edge_slot: edge.slot.clone() }
}

fn of(card: Card) -> String {
    match card.max {
        Some(max) => format!("{} to {max}", card.min),
        None => format!("{} or more", card.min),
    }
}

/// Where edges may begin and end. A type that goes or leaves an interface counts as well.
fn ends(before: &Schema, after: &Schema, old: &EdgeType, new: &EdgeType, to: &mut Migration) {
    let slots = |schema: &Schema, name: &str| -> BTreeSet<String> {
        schema.nodes_of(name).map(|node| node.slot.clone()).collect()
    };
    let pairs = [(&old.from, &new.from), (&old.to, &new.to)];
    let sets = pairs.map(|(old, new)| (slots(before, old), slots(after, new)));
    if sets.iter().all(|(was, is)| was == is) {
        return;
    }
    let at = &new.name;
    to.push(if sets.iter().all(|(was, is)| was.is_subset(is)) {
        let sentence = format!("`{at}` may begin or end at more types of nodes");
        Step::additive(Change::ChangeEnds, at, sentence)
    } else {
        let sentence = format!("`{at}` may no longer begin or end at some types of nodes");
        let verify = Verify::Ends { edge_slot: new.slot.clone() };
        Step::checked(Change::ChangeEnds, at, sentence, verify)
    });
}

const ANY: Card = Card { min: 0, max: None };

const KEY_ADVICE: &str =
    "rows are known by their keys: add a new type, copy the rows over, and remove this one";
const KIND_ADVICE: &str =
    "values are not rewritten: add a property of the new kind, fill it in, and remove this one";
