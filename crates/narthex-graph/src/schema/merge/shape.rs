//! A schema taken apart: everything by its slot, nothing by its place.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Card, Check, EdgeType, Interface, NodeType, Property, Schema};

/// A schema taken apart. Two are equal if they say the same, however it is written.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    /// By slot.
    pub(super) types: BTreeMap<String, TypeShape>,
    /// By name.
    pub(super) interfaces: BTreeMap<String, InterfaceShape>,
    /// Every slot that was ever used.
    pub(super) slots: BTreeSet<String>,
    /// In which order all of it was written; see [`ordered`].
    pub(super) order: Vec<String>,
    /// Conditions as they were written, by the slot of their type and what they say.
    pub(super) written: BTreeMap<(String, String), Written>,
}

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TypeShape {
    pub(super) name: String,
    /// Of an edge, where it begins and ends.
    pub(super) ends: Option<(End, End)>,
    pub(super) interfaces: BTreeSet<String>,
    /// Slots.
    pub(super) key: Vec<String>,
    /// Sets of slots.
    pub(super) uniques: BTreeSet<Vec<String>>,
    /// What they say, by slots.
    pub(super) checks: BTreeSet<String>,
    pub(super) card: Option<Card>,
    pub(super) description: Option<String>,
    /// By slot. `embed` is a slot here.
    pub(super) properties: BTreeMap<String, Property>,
}

/// Where an edge begins or ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// At nodes of this slot.
    Node(String),
    /// At nodes that have this interface.
    Interface(String),
}

/// An interface.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InterfaceShape {
    /// By name.
    pub(super) properties: BTreeMap<String, Property>,
    pub(super) description: Option<String>,
}

/// A condition as it was written.
#[derive(Debug, Clone)]
pub(super) struct Written {
    check: Check,
    /// The slot and the name of each property of the type, in their order there.
    properties: Vec<(String, String)>,
}

impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        self.types == other.types && self.interfaces == other.interfaces
    }
}

impl Shape {
    /// Takes a schema apart.
    pub(super) fn of(schema: &Schema) -> Self {
        let slots = schema.slots.clone();
        let mut shape = Self { slots, order: ordered(schema), ..Self::default() };
        for interface in &schema.interfaces {
            shape.interfaces.insert(interface.name.clone(), InterfaceShape::of(interface));
        }
        for node in &schema.nodes {
            shape.written(&node.slot, &node.properties, &node.checks);
            shape.types.insert(node.slot.clone(), TypeShape::of_node(node));
        }
        for edge in &schema.edges {
            shape.written(&edge.slot, &edge.properties, &edge.checks);
            shape.types.insert(edge.slot.clone(), TypeShape::of_edge(edge, schema));
        }
        shape
    }

    fn written(&mut self, slot: &str, properties: &[Property], checks: &[Check]) {
        let named: Vec<(String, String)> =
            properties.iter().map(|of| (of.slot.clone(), of.name.clone())).collect();
        for check in checks {
            let written = Written { check: check.clone(), properties: named.clone() };
            self.written.insert((slot.to_owned(), check.by_slots(properties)), written);
        }
    }

    /// Puts it together again. The conditions in it are texts alone until it is read.
    pub(super) fn build(&self) -> Schema {
        let mut schema = Schema { slots: self.slots.clone(), ..Schema::default() };
        for name in &self.order {
            if let Some(interface) = self.interfaces.get(name) {
                schema.interfaces.push(Interface {
                    name: name.clone(),
                    properties: self.in_order(name, &interface.properties),
                    description: interface.description.clone(),
                });
            }
        }
        for slot in &self.order {
            match self.types.get(slot) {
                Some(of) if of.ends.is_some() => schema.edges.extend(self.edge(slot, of)),
                Some(of) => schema.nodes.push(self.node(slot, of)),
                None => {}
            }
        }
        schema.source = schema.to_source();
        schema
    }

    fn node(&self, slot: &str, of: &TypeShape) -> NodeType {
        let properties = self.properties(slot, of);
        let at = |wanted: &String| properties.iter().position(|of| of.slot == *wanted);
        NodeType {
            name: of.name.clone(),
            slot: slot.to_owned(),
            interfaces: of.interfaces.iter().cloned().collect(),
            key: of.key.first().and_then(at).unwrap_or_default(),
            uniques: numbered(&of.uniques, &properties),
            checks: self.checks(slot, of),
            description: of.description.clone(),
            properties,
        }
    }

    fn edge(&self, slot: &str, of: &TypeShape) -> Option<EdgeType> {
        let properties = self.properties(slot, of);
        let at = |wanted: &String| properties.iter().position(|of| of.slot == *wanted);
        let (from, to) = of.ends.as_ref()?;
        Some(EdgeType {
            name: of.name.clone(),
            slot: slot.to_owned(),
            from: self.end(from).unwrap_or_default(),
            to: self.end(to).unwrap_or_default(),
            key: of.key.iter().filter_map(at).collect(),
            uniques: numbered(&of.uniques, &properties),
            checks: self.checks(slot, of),
            card: of.card,
            description: of.description.clone(),
            properties,
        })
    }

    /// The name of an end; none if there is no such type.
    pub(super) fn end(&self, end: &End) -> Option<String> {
        match end {
            End::Node(slot) => {
                let of = self.types.get(slot).filter(|of| of.ends.is_none())?;
                Some(of.name.clone())
            }
            End::Interface(name) => self.interfaces.contains_key(name).then(|| name.clone()),
        }
    }

    /// The properties of a type in order, with what they are made of by name.
    fn properties(&self, slot: &str, of: &TypeShape) -> Vec<Property> {
        let mut properties = self.in_order(slot, &of.properties);
        for property in &mut properties {
            let made_of = property.embed.as_ref().and_then(|slot| of.properties.get(slot));
            property.embed = made_of.map(|of| of.name.clone());
        }
        properties
    }

    /// Those that are in the order first, the rest as they come.
    fn in_order(&self, owner: &str, all: &BTreeMap<String, Property>) -> Vec<Property> {
        let path = |slot: &String| format!("{owner}.{slot}");
        let place = |slot: &String| self.order.iter().position(|known| *known == path(slot));
        let mut slots: Vec<&String> = all.keys().collect();
        slots.sort_by_key(|slot| place(slot).unwrap_or(usize::MAX));
        slots.into_iter().filter_map(|slot| all.get(slot).cloned()).collect()
    }

    /// Conditions as they were written, or written anew where a property has another name now.
    fn checks(&self, slot: &str, of: &TypeShape) -> Vec<Check> {
        let name = |slot: &String| of.properties.get(slot).map(|property| property.name.clone());
        let said = of.checks.iter().filter_map(|said| {
            let written = self.written.get(&(slot.to_owned(), said.clone()))?;
            let check = &written.check;
            let property = |at: usize| written.properties.get(at);
            let same = |at: &usize| {
                property(*at).is_some_and(|(slot, was)| name(slot).as_ref() == Some(was))
            };
            let source = if check.properties().iter().all(same) {
                check.source.clone()
            } else {
                check.by_names(&|at| property(at).and_then(|(slot, _)| name(slot)))
            };
            Some(Check { source, holds: check.holds.clone() })
        });
        said.collect()
    }

    /// The slots that a condition is about.
    pub(super) fn about(&self, slot: &str, said: &str) -> Vec<String> {
        let written = self.written.get(&(slot.to_owned(), said.to_owned()));
        let slots = written.into_iter().flat_map(|written| {
            let properties = written.check.properties().into_iter();
            properties.filter_map(|at| written.properties.get(at).map(|(slot, _)| slot.clone()))
        });
        slots.collect()
    }
}

impl TypeShape {
    fn of_node(node: &NodeType) -> Self {
        let slots = |numbers: &[usize]| slots(&node.properties, numbers);
        Self {
            name: node.name.clone(),
            ends: None,
            interfaces: node.interfaces.iter().cloned().collect(),
            key: slots(&[node.key]),
            uniques: node.uniques.iter().map(|unique| sorted(slots(unique))).collect(),
            checks: node.checks.iter().map(|of| of.by_slots(&node.properties)).collect(),
            card: None,
            description: node.description.clone(),
            properties: by_slot(&node.properties),
        }
    }

    fn of_edge(edge: &EdgeType, schema: &Schema) -> Self {
        let slots = |numbers: &[usize]| slots(&edge.properties, numbers);
        let end = |name: &String| match schema.node(name) {
            Some(node) => End::Node(node.slot.clone()),
            None => End::Interface(name.clone()),
        };
        Self {
            name: edge.name.clone(),
            ends: Some((end(&edge.from), end(&edge.to))),
            interfaces: BTreeSet::new(),
            key: slots(&edge.key),
            uniques: edge.uniques.iter().map(|unique| sorted(slots(unique))).collect(),
            checks: edge.checks.iter().map(|of| of.by_slots(&edge.properties)).collect(),
            card: edge.card,
            description: edge.description.clone(),
            properties: by_slot(&edge.properties),
        }
    }
}

impl InterfaceShape {
    fn of(interface: &Interface) -> Self {
        let named = interface.properties.iter().map(|of| (of.name.clone(), of.clone()));
        Self { properties: named.collect(), description: interface.description.clone() }
    }
}

/// Everything in the order it is written: interfaces by name, types by slot, properties under both.
fn ordered(schema: &Schema) -> Vec<String> {
    let mut order = Vec::new();
    for of in &schema.interfaces {
        order.push(of.name.clone());
        order.extend(of.properties.iter().map(|property| format!("{}.{}", of.name, property.name)));
    }
    let nodes = schema.nodes.iter().map(|of| (&of.slot, &of.properties));
    let edges = schema.edges.iter().map(|of| (&of.slot, &of.properties));
    for (slot, properties) in nodes.chain(edges) {
        order.push(slot.clone());
        order.extend(properties.iter().map(|property| format!("{slot}.{}", property.slot)));
    }
    order
}

fn slots(properties: &[Property], numbers: &[usize]) -> Vec<String> {
    numbers.iter().filter_map(|at| properties.get(*at)).map(|of| of.slot.clone()).collect()
}

fn sorted(mut slots: Vec<String>) -> Vec<String> {
    slots.sort_unstable();
    slots
}

/// Sets of slots as sets of numbers.
fn numbered(uniques: &BTreeSet<Vec<String>>, properties: &[Property]) -> Vec<Vec<usize>> {
    let at = |slot: &String| properties.iter().position(|of| of.slot == *slot);
    let mut all: Vec<Vec<usize>> = uniques
        .iter()
        .map(|unique| {
            let mut numbers: Vec<usize> = unique.iter().filter_map(at).collect();
            numbers.sort_unstable();
            numbers
        })
        .collect();
    all.sort_unstable_by(|one, other| (one.len() > 1, one).cmp(&(other.len() > 1, other)));
    all
}

/// Properties by slot, what they are made of too.
fn by_slot(properties: &[Property]) -> BTreeMap<String, Property> {
    let slot = |name: &String| properties.iter().find(|of| of.name == *name);
    let shaped = properties.iter().map(|of| {
        let embed = of.embed.as_ref().and_then(slot).map(|of| of.slot.clone());
        // It follows from the slots.
        let lapsed = 0;
        (of.slot.clone(), Property { lapsed, embed, ..of.clone() })
    });
    shaped.collect()
}
