//! Three schemas, part by part.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Card, Property, Range};
use super::SchemaConflict;
use super::shape::{End, InterfaceShape, Shape, TypeShape};
use crate::merge::Side;

/// Merges two schemas that were taken apart.
pub(super) fn merged(
    base: &Shape,
    ours: &Shape,
    theirs: &Shape,
) -> Result<Shape, Vec<SchemaConflict>> {
    let mut merging = Merging { base, ours, theirs, conflicts: Vec::new(), slots: Vec::new() };
    let mut shape = Shape {
        types: merging.types(),
        interfaces: merging.interfaces(),
        slots: ours.slots.union(&theirs.slots).cloned().collect(),
        order: order(base, ours, theirs),
        written: theirs.written.clone(),
    };
    shape.written.extend(ours.written.clone());
    shape.slots.extend(merging.slots.drain(..));
    merging.names(&shape);
    merging.needs(&shape);
    inherit(&mut shape);
    if merging.conflicts.is_empty() { Ok(shape) } else { Err(merging.conflicts) }
}

struct Merging<'a> {
    base: &'a Shape,
    ours: &'a Shape,
    theirs: &'a Shape,
    conflicts: Vec<SchemaConflict>,
    /// Slots that come into use.
    slots: Vec<String>,
}

impl Merging<'_> {
    fn types(&mut self) -> BTreeMap<String, TypeShape> {
        let (base, ours, theirs) = (self.base, self.ours, self.theirs);
        let mut merged = BTreeMap::new();
        for slot in keys(&base.types, &ours.types, &theirs.types) {
            let (was, our, their) =
                (base.types.get(slot), ours.types.get(slot), theirs.types.get(slot));
            let name = our.or(their).map_or(slot.as_str(), |of| of.name.as_str()).to_owned();
            let of = match (our, their) {
                (Some(our), Some(their)) => Some(self.type_of(slot, was, our, their)),
                _ => self.alone(&name, slot, was, our, their),
            };
            merged.extend(of.map(|of| (slot.clone(), of)));
        }
        merged
    }

    fn interfaces(&mut self) -> BTreeMap<String, InterfaceShape> {
        let (base, ours, theirs) = (self.base, self.ours, self.theirs);
        let mut merged = BTreeMap::new();
        for name in keys(&base.interfaces, &ours.interfaces, &theirs.interfaces) {
            let (was, our, their) =
                (base.interfaces.get(name), ours.interfaces.get(name), theirs.interfaces.get(name));
            let of = match (our, their) {
                (Some(our), Some(their)) => Some(InterfaceShape {
                    properties: self.properties(
                        (name, ""),
                        was.map(|of| &of.properties),
                        &our.properties,
                        &their.properties,
                    ),
                    description: self.description(
                        name,
                        was.map(|of| &of.description),
                        &our.description,
                        &their.description,
                    ),
                }),
                _ => self.alone(name, "", was, our, their),
            };
            merged.extend(of.map(|of| (name.clone(), of)));
        }
        merged
    }

    /// What at most one side has: added by it, removed by the other, or both gone.
    fn alone<T: PartialEq + Clone>(
        &mut self,
        at: &str,
        slot: &str,
        was: Option<&T>,
        our: Option<&T>,
        their: Option<&T>,
    ) -> Option<T> {
        let (has, removed_by) = match (our, their) {
            (Some(our), _) => (our, Side::Theirs),
            (None, Some(their)) => (their, Side::Ours),
            (None, None) => return None,
        };
        let without = if removed_by == Side::Ours { self.ours } else { self.theirs };
        // Added and removed again there: rows may still hold what that was.
        let dropped = was.is_none()
            && !slot.is_empty()
            && without.slots.contains(slot)
            && !self.base.slots.contains(slot);
        if dropped || was.is_some_and(|was| was != has) {
            let at = at.to_owned();
            self.conflicts.push(SchemaConflict::RemovedAgainstChanged { at, removed_by });
        }
        was.is_none().then(|| has.clone())
    }

    fn type_of(
        &mut self,
        slot: &str,
        was: Option<&TypeShape>,
        our: &TypeShape,
        their: &TypeShape,
    ) -> TypeShape {
        let at = our.name.as_str();
        if our.ends.is_some() != their.ends.is_some() {
            self.conflicts.push(SchemaConflict::OneName { name: our.name.clone() });
            return our.clone();
        }
        TypeShape {
            name: self.name(was.map(|of| &of.name), &our.name, &their.name),
            ends: self.aspect(at, "ends", was.map(|of| &of.ends), &our.ends, &their.ends, ends),
            interfaces: set(was.map(|of| &of.interfaces), &our.interfaces, &their.interfaces),
            key: self.aspect(at, "key", was.map(|of| &of.key), &our.key, &their.key, |key| {
                key.join(", ")
            }),
            uniques: set(was.map(|of| &of.uniques), &our.uniques, &their.uniques),
            checks: set(was.map(|of| &of.checks), &our.checks, &their.checks),
            card: self.aspect(at, "@card", was.map(|of| &of.card), &our.card, &their.card, card),
            description: self.description(
                at,
                was.map(|of| &of.description),
                &our.description,
                &their.description,
            ),
            properties: self.properties(
                (at, slot),
                was.map(|of| &of.properties),
                &our.properties,
                &their.properties,
            ),
        }
    }

    fn properties(
        &mut self,
        (owner, slot): (&str, &str),
        was: Option<&BTreeMap<String, Property>>,
        our: &BTreeMap<String, Property>,
        their: &BTreeMap<String, Property>,
    ) -> BTreeMap<String, Property> {
        let none = BTreeMap::new();
        let was = was.unwrap_or(&none);
        let mut merged = BTreeMap::new();
        for key in keys(was, our, their) {
            let (was, our, their) = (was.get(key), our.get(key), their.get(key));
            let name = our.or(their).map_or(key.as_str(), |of| of.name.as_str());
            let at = format!("{owner}.{name}");
            let path = if slot.is_empty() { String::new() } else { format!("{slot}.{key}") };
            let of = match (our, their) {
                (Some(our), Some(their)) => Some(self.property((&at, &path), was, our, their)),
                _ => self.alone(&at, &path, was, our, their),
            };
            merged.extend(of.map(|of| (key.clone(), of)));
        }
        merged
    }

    fn property(
        &mut self,
        (at, path): (&str, &str),
        was: Option<&Property>,
        our: &Property,
        their: &Property,
    ) -> Property {
        let yes = |yes: &bool| if *yes { "yes" } else { "no" }.to_owned();
        Property {
            name: self.name(was.map(|of| &of.name), &our.name, &their.name),
            slot: our.slot.clone(),
            lapsed: 0,
            kind: self.aspect(
                at,
                "kind",
                was.map(|of| &of.kind),
                &our.kind,
                &their.kind,
                ToString::to_string,
            ),
            nullable: self.aspect(
                at,
                "being nullable",
                was.map(|of| &of.nullable),
                &our.nullable,
                &their.nullable,
                yes,
            ),
            index: self.index(path, was, our, their),
            range: self.aspect(
                at,
                "@range",
                was.map(|of| &of.range),
                &our.range,
                &their.range,
                range,
            ),
            embed: self.aspect(
                at,
                "@embed",
                was.map(|of| &of.embed),
                &our.embed,
                &their.embed,
                or_none,
            ),
            description: self.description(
                at,
                was.map(|of| &of.description),
                &our.description,
                &their.description,
            ),
        }
    }

    /// Of two indexes over one slot the later one holds: the other was given up on its side. One
    /// that a side has given up is never taken up again, for its rows were not kept in it since:
    /// then it is a new one.
    fn index(
        &mut self,
        path: &str,
        was: Option<&Property>,
        our: &Property,
        their: &Property,
    ) -> Option<u32> {
        let merged = three(was.map(|of| &of.index), &our.index, &their.index);
        let index = merged.unwrap_or_else(|| our.index.max(their.index))?;
        let name = |index: u32| format!("{path}#{index}");
        let given_up = |side: &Shape, has: Option<u32>| {
            has != Some(index) && side.slots.contains(&name(index))
        };
        if path.is_empty()
            || !(given_up(self.ours, our.index) || given_up(self.theirs, their.index))
        {
            return Some(index);
        }
        let used = |index: &u32| {
            [self.ours, self.theirs].iter().any(|side| side.slots.contains(&name(*index)))
        };
        let next = (index..=u32::MAX).find(|index| !used(index))?;
        self.slots.push(name(next));
        Some(next)
    }

    fn name(&mut self, was: Option<&String>, our: &String, their: &String) -> String {
        three(was, our, their).unwrap_or_else(|| {
            let (ours, theirs) = (our.clone(), their.clone());
            self.conflicts.push(SchemaConflict::TwoNames { ours, theirs });
            our.clone()
        })
    }

    #[expect(clippy::ref_option, reason = "compared as it is kept")]
    fn description(
        &mut self,
        at: &str,
        was: Option<&Option<String>>,
        our: &Option<String>,
        their: &Option<String>,
    ) -> Option<String> {
        self.aspect(at, "@description", was, our, their, or_none)
    }

    fn aspect<T: PartialEq + Clone>(
        &mut self,
        at: &str,
        aspect: &'static str,
        was: Option<&T>,
        our: &T,
        their: &T,
        show: impl Fn(&T) -> String,
    ) -> T {
        three(was, our, their).unwrap_or_else(|| {
            let (at, ours, theirs) = (at.to_owned(), show(our), show(their));
            self.conflicts.push(match was {
                None => SchemaConflict::DivergentAdd { at, aspect, ours, theirs },
                Some(_) => SchemaConflict::DivergentChange { at, aspect, ours, theirs },
            });
            our.clone()
        })
    }

    /// No two things may have one name.
    fn names(&mut self, shape: &Shape) {
        let mut seen = BTreeSet::new();
        let types = shape.types.values().map(|of| &of.name);
        for name in types.chain(shape.interfaces.keys()) {
            if !seen.insert(name.clone()) {
                self.conflicts.push(SchemaConflict::OneName { name: name.clone() });
            }
        }
        for of in shape.types.values() {
            let mut seen = BTreeSet::new();
            for property in of.properties.values() {
                if !seen.insert(&property.name) {
                    let name = format!("{}.{}", of.name, property.name);
                    self.conflicts.push(SchemaConflict::OneName { name });
                }
            }
        }
    }

    /// What is used must be there.
    fn needs(&mut self, shape: &Shape) {
        for (slot, of) in &shape.types {
            for end in of.ends.iter().flat_map(|(from, to)| [from, to]) {
                if shape.end(end).is_none() {
                    self.dangling(&of.name, &type_name(self, end), |side| side.end(end).is_some());
                }
            }
            for name in of.interfaces.iter().filter(|name| !shape.interfaces.contains_key(*name)) {
                self.dangling(&of.name, name, |side| side.interfaces.contains_key(name));
            }
            let uniques = of.uniques.iter().flatten().cloned();
            let checks = of.checks.iter().flat_map(|said| shape.about(slot, said));
            let embeds = of.properties.values().filter_map(|property| property.embed.clone());
            let used: BTreeSet<String> =
                of.key.iter().cloned().chain(uniques).chain(checks).chain(embeds).collect();
            for property in used.iter().filter(|used| !of.properties.contains_key(*used)) {
                let has = |side: &Shape| {
                    side.types.get(slot).is_some_and(|of| of.properties.contains_key(property))
                };
                self.dangling(&of.name, &format!("{}.{property}", of.name), has);
            }
        }
    }

    fn dangling(&mut self, at: &str, needs: &str, has: impl Fn(&Shape) -> bool) {
        let removed_by = if has(self.ours) { Side::Theirs } else { Side::Ours };
        let (at, needs) = (at.to_owned(), needs.to_owned());
        let conflict = SchemaConflict::Dangling { at, needs, removed_by };
        if !self.conflicts.contains(&conflict) {
            self.conflicts.push(conflict);
        }
    }
}

/// What an end is called on the side that has it.
fn type_name(merging: &Merging<'_>, end: &End) -> String {
    let sides = [merging.ours, merging.theirs, merging.base];
    let found = sides.iter().find_map(|side| side.end(end));
    found.unwrap_or_else(|| match end {
        End::Node(name) | End::Interface(name) => name.clone(),
    })
}

/// What a node's interfaces ask for and it does not have yet, because one side gave it the
/// interface, or the interface the property.
fn inherit(shape: &mut Shape) {
    let interfaces = shape.interfaces.clone();
    for (slot, of) in &mut shape.types {
        let asked = of.interfaces.iter().filter_map(|name| interfaces.get(name));
        for property in asked.flat_map(|interface| interface.properties.values()) {
            if of.properties.values().any(|has| has.name == property.name) {
                continue;
            }
            let path = |key: &str| format!("{slot}.{key}");
            let numbered = (2_u32..).map(|number| format!("{}~{number}", property.name));
            let free = |key: &String| !shape.slots.contains(&path(key));
            let names = std::iter::once(property.name.clone()).chain(numbered);
            let key = names.into_iter().find(free).unwrap_or_default();
            shape.slots.insert(path(&key));
            if property.index.is_some() {
                shape.slots.insert(format!("{}#1", path(&key)));
            }
            let index = property.index.map(|_| 1);
            let inherited = Property { slot: key.clone(), index, ..property.clone() };
            of.properties.insert(key, inherited);
        }
    }
}

/// As the base has it, and then what was added, by name: the same whichever side is ours.
fn order(base: &Shape, ours: &Shape, theirs: &Shape) -> Vec<String> {
    let known: BTreeSet<&String> = base.order.iter().collect();
    let added: BTreeSet<&String> =
        ours.order.iter().chain(&theirs.order).filter(|name| !known.contains(name)).collect();
    base.order.iter().chain(added).cloned().collect()
}

/// What one side alone changed, or both alike.
fn three<T: PartialEq + Clone>(was: Option<&T>, our: &T, their: &T) -> Option<T> {
    if our == their || was == Some(their) {
        Some(our.clone())
    } else if was == Some(our) {
        Some(their.clone())
    } else {
        None
    }
}

/// Members of which one side alone, or both, did away or added.
fn set<T: Ord + Clone>(
    was: Option<&BTreeSet<T>>,
    our: &BTreeSet<T>,
    their: &BTreeSet<T>,
) -> BTreeSet<T> {
    let had = |member: &T| was.is_some_and(|was| was.contains(member));
    let stays = |member: &&T| (our.contains(*member) && their.contains(*member)) || !had(member);
    our.union(their).filter(stays).cloned().collect()
}

fn keys<'a, T>(
    base: &'a BTreeMap<String, T>,
    ours: &'a BTreeMap<String, T>,
    theirs: &'a BTreeMap<String, T>,
) -> BTreeSet<&'a String> {
    base.keys().chain(ours.keys()).chain(theirs.keys()).collect()
}

#[expect(clippy::ref_option, reason = "shown as it is compared")]
fn ends(ends: &Option<(End, End)>) -> String {
    let name = |end: &End| match end {
        End::Node(name) | End::Interface(name) => name.clone(),
    };
    ends.as_ref().map(|(from, to)| format!("{} -> {}", name(from), name(to))).unwrap_or_default()
}

#[expect(clippy::ref_option, reason = "shown as it is compared")]
fn card(card: &Option<Card>) -> String {
    match card {
        None => "none".to_owned(),
        Some(Card { min, max: Some(max) }) => format!("{min}..{max}"),
        Some(Card { min, max: None }) => format!("{min}.."),
    }
}

#[expect(clippy::ref_option, reason = "shown as it is compared")]
fn range(range: &Option<Range>) -> String {
    range.as_ref().map_or_else(|| "none".to_owned(), super::super::source::range_text)
}

#[expect(clippy::ref_option, reason = "shown as it is compared")]
fn or_none(text: &Option<String>) -> String {
    text.clone().unwrap_or_else(|| "none".to_owned())
}
