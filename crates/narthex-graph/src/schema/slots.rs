//! What rows and values are stored under.

use std::collections::{BTreeMap, BTreeSet};

use super::ast::{Decl, Says};
use super::stored::StoredType;
use super::{Property, Schema};
use crate::lang::{Problems, Word};

/// What was there before.
#[derive(Debug, Clone, Copy)]
pub(super) enum Origin<'a> {
    /// Nothing.
    New,
    /// This schema.
    After(&'a Schema),
    /// The very same: nothing is assigned, all is known.
    Stored(&'a BTreeMap<String, StoredType>, &'a BTreeSet<String>),
}

/// What types and properties were called before, by their new names.
#[derive(Debug, Default)]
pub(super) struct Renames {
    types: BTreeMap<String, Word>,
    properties: BTreeMap<(String, String), Word>,
}

impl Renames {
    /// Takes down what a declaration says of it.
    pub(super) fn note(&mut self, decl: &Decl, built: &super::check::Built<'_>) {
        let name = &decl.name.name;
        for note in &decl.notes {
            if let Says::RenameFrom(word) = &note.says {
                self.types.insert(name.clone(), word.clone());
            }
        }
        for (property, was) in built.properties.iter().zip(&built.renamed) {
            if let Some(was) = was {
                self.properties.insert((name.clone(), property.name.clone()), (*was).clone());
            }
        }
    }
}

/// Says what everything in a schema is stored under.
pub(super) fn assign(
    schema: &mut Schema,
    renames: &Renames,
    origin: Origin<'_>,
    problems: &mut Problems<'_>,
) {
    let before = match origin {
        Origin::New => &Schema::default(),
        Origin::After(before) => before,
        Origin::Stored(types, slots) => {
            restore(schema, types);
            return schema.set_slots(slots.clone());
        }
    };
    let fresh = matches!(origin, Origin::New);
    let nodes = schema.nodes.iter_mut().map(|node| OneType {
        name: &node.name,
        slot: &mut node.slot,
        properties: &mut node.properties,
        uniques: &node.uniques,
        before: before
            .nodes
            .iter()
            .map(|old| Old::new(&old.name, &old.slot, &old.properties, &old.uniques))
            .collect(),
    });
    let edges = schema.edges.iter_mut().map(|edge| OneType {
        name: &edge.name,
        slot: &mut edge.slot,
        properties: &mut edge.properties,
        uniques: &edge.uniques,
        before: before
            .edges
            .iter()
            .map(|old| Old::new(&old.name, &old.slot, &old.properties, &old.uniques))
            .collect(),
    });
    let mut slots = before.slots.clone();
    let mut assigning =
        Assigning { slots: &mut slots, renames, taken: BTreeSet::new(), fresh, problems };
    let mut all: Vec<OneType<'_>> = nodes.chain(edges).collect();
    let names: BTreeSet<String> = all.iter().map(|one| one.name.to_owned()).collect();
    for one in &mut all {
        assigning.type_slot(one, &names);
    }
    schema.set_slots(slots);
}

impl Schema {
    /// The same with other slots known.
    pub(super) fn with_slots(mut self, slots: BTreeSet<String>) -> Self {
        self.set_slots(slots);
        self
    }

    /// What was ever used, and what of that is so in each property.
    fn set_slots(&mut self, slots: BTreeSet<String>) {
        let nodes = self.nodes.iter_mut().map(|one| (&one.slot, &mut one.properties));
        let edges = self.edges.iter_mut().map(|one| (&one.slot, &mut one.properties));
        for (slot, properties) in nodes.chain(edges) {
            for property in properties {
                property.lapsed = most(&slots, &format!("{slot}.{}!", property.slot));
            }
        }
        self.slots = slots;
    }
}

/// A type whose slots are said.
struct OneType<'s> {
    name: &'s str,
    slot: &'s mut String,
    properties: &'s mut Vec<Property>,
    uniques: &'s [Vec<usize>],
    before: Vec<Old<'s>>,
}

/// A type as it was.
#[derive(Clone, Copy)]
struct Old<'s> {
    name: &'s str,
    slot: &'s str,
    properties: &'s [Property],
    uniques: &'s [Vec<usize>],
}

impl<'s> Old<'s> {
    const fn new(
        name: &'s str,
        slot: &'s str,
        properties: &'s [Property],
        uniques: &'s [Vec<usize>],
    ) -> Self {
        Self { name, slot, properties, uniques }
    }
}

struct Assigning<'a, 'p, 's> {
    slots: &'a mut BTreeSet<String>,
    renames: &'a Renames,
    /// Old names that something has taken over.
    taken: BTreeSet<String>,
    fresh: bool,
    problems: &'p mut Problems<'s>,
}

impl Assigning<'_, '_, '_> {
    fn type_slot(&mut self, one: &mut OneType<'_>, names: &BTreeSet<String>) {
        let renamed = self.renames.types.get(one.name).filter(|_| !self.fresh);
        let known = one.before.iter().map(|old| old.name);
        let was = self.was(("", one.name), renamed, known, names);
        let old = was.and_then(|was| one.before.iter().find(|old| old.name == was).copied());
        *one.slot = match old {
            Some(old) => old.slot.to_owned(),
            None => self.new_slot("", one.name),
        };
        self.slots.insert(one.slot.clone());
        let before = old.map_or(&[][..], |old| old.properties);
        self.property_slots(one, before);
        if let Some(old) = old {
            self.lapse(one, old);
        }
    }

    /// Where a `@unique` goes, or reads a property otherwise than it did, the index behind it is not
    /// kept up, and must not be taken for what it was when there is such a rule again.
    fn lapse(&mut self, one: &OneType<'_>, old: Old<'_>) {
        let named = |properties: &[Property], unique: &Vec<usize>| {
            let of = unique.iter().filter_map(|at| properties.get(*at));
            let mut of: Vec<_> = of.map(|of| (of.slot.clone(), of.kind.clone())).collect();
            of.sort_unstable_by(|one, other| one.0.cmp(&other.0));
            of
        };
        let now: Vec<_> = one.uniques.iter().map(|unique| named(one.properties, unique)).collect();
        for unique in old.uniques {
            let was = named(old.properties, unique);
            if now.contains(&was) {
                continue;
            }
            for (slot, _) in was {
                let prefix = format!("{}.{slot}!", one.slot);
                let next = most(self.slots, &prefix).saturating_add(1);
                self.slots.insert(format!("{prefix}{next}"));
            }
        }
    }

    fn property_slots(&mut self, one: &mut OneType<'_>, before: &[Property]) {
        let names: BTreeSet<String> = one.properties.iter().map(|p| p.name.clone()).collect();
        // What a renamed type's properties were called is only known if it was there.
        let fresh = self.fresh || before.is_empty();
        let prefix = format!("{}.", one.slot);
        for property in one.properties.iter_mut() {
            let of = (one.name.to_owned(), property.name.clone());
            let renamed = self.renames.properties.get(&of).filter(|_| !fresh);
            let known = before.iter().map(|old| old.name.as_str());
            let was = self.was((&prefix, &property.name), renamed, known, &names);
            let old = was.and_then(|was| before.iter().find(|old| old.name == was));
            property.slot = match old {
                Some(old) => old.slot.clone(),
                None => self.new_slot(&prefix, &property.name),
            };
            let slot = format!("{prefix}{}", property.slot);
            if property.index.is_some() {
                let kept = old.filter(|old| old.kind == property.kind).and_then(|old| old.index);
                let index = kept.unwrap_or_else(|| self.next_index(&slot));
                self.slots.insert(format!("{slot}#{index}"));
                property.index = Some(index);
            }
            self.slots.insert(slot);
        }
    }

    /// What something was called before: the same, or what it says it was.
    fn was<'n>(
        &mut self,
        (prefix, name): (&str, &'n str),
        renamed: Option<&'n Word>,
        known: impl Iterator<Item = &'n str> + Clone,
        names: &BTreeSet<String>,
    ) -> Option<&'n str> {
        if known.clone().any(|old| old == name) {
            // INVARIANT: what is still called the same keeps its slot, whatever else is said: an
            // annotation left from an earlier change does nothing.
            return Some(name);
        }
        let from = renamed?;
        if !known.clone().any(|old| old == from.name) {
            let message = format!("there was no `{}` that could be renamed", from.name);
            let problem = self.problems.at(from.span, message);
            self.problems.add(problem.nearest(&from.name, known));
            return None;
        }
        if names.contains(&from.name) {
            let message = format!("`{}` is still there and cannot be `{name}` too", from.name);
            self.problems.say(from.span, message);
            return None;
        }
        if !self.taken.insert(format!("{prefix}{}", from.name)) {
            self.problems.say(from.span, format!("two are renamed from `{}`", from.name));
        }
        Some(&from.name)
    }

    /// A slot that was never used: the name, or that with a number after it.
    fn new_slot(&self, prefix: &str, name: &str) -> String {
        let free = |slot: &String| !self.slots.contains(&format!("{prefix}{slot}"));
        let numbered = (2_u64..).map(|number| format!("{name}~{number}"));
        std::iter::once(name.to_owned()).chain(numbered).find(free).unwrap_or_default()
    }

    /// The number of the next index over a slot.
    fn next_index(&self, slot: &str) -> u32 {
        most(self.slots, &format!("{slot}#")).saturating_add(1)
    }
}

/// The greatest number that something was used with; 0 if it never was.
fn most(slots: &BTreeSet<String>, prefix: &str) -> u32 {
    let used = slots.range(prefix.to_owned()..).take_while(|used| used.starts_with(prefix));
    let numbers = used.filter_map(|used| used.get(prefix.len()..)?.parse::<u32>().ok());
    numbers.max().unwrap_or(0)
}

/// Everything as it is stored. What is not there stays without a slot, which the reader refuses.
fn restore(schema: &mut Schema, types: &BTreeMap<String, StoredType>) {
    let nodes = schema.nodes.iter_mut().map(|one| (&one.name, &mut one.slot, &mut one.properties));
    let edges = schema.edges.iter_mut().map(|one| (&one.name, &mut one.slot, &mut one.properties));
    for (name, slot, properties) in nodes.chain(edges) {
        let Some(stored) = types.get(name) else { continue };
        slot.clone_from(&stored.slot);
        for property in properties {
            let Some(known) = stored.properties.get(&property.name) else { continue };
            property.slot.clone_from(&known.slot);
            property.index = property.index.and(known.index);
        }
    }
}
