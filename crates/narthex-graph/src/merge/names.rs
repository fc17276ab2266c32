//! What rows are called, read from their own bodies.

use std::collections::BTreeMap;

use narthex_core::canonical;
use narthex_store::Tag;
use serde_json::Value;

use super::{Body, RowName, Shown};
use crate::rows::decode;
use crate::schema::{EdgeType, NodeType, Property, Schema};

/// The types of a schema, by the number their rows are kept under.
#[derive(Debug)]
pub struct Names<'a> {
    types: BTreeMap<Tag, Type<'a>>,
    slots: BTreeMap<&'a str, &'a NodeType>,
}

/// A type.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Type<'a> {
    Node(&'a NodeType),
    Edge(&'a EdgeType),
}

impl<'a> Names<'a> {
    /// Of a schema.
    pub fn of(schema: &'a Schema) -> Self {
        let nodes = schema.nodes.iter().map(|node| (node.tag(), Type::Node(node)));
        let edges = schema.edges.iter().map(|edge| (edge.tag(), Type::Edge(edge)));
        Self {
            types: nodes.chain(edges).collect(),
            slots: schema.nodes.iter().map(|node| (node.slot.as_str(), node)).collect(),
        }
    }

    /// The type of this number; none if the schema no longer has it.
    pub(crate) fn get(&self, tag: Tag) -> Option<Type<'a>> {
        self.types.get(&tag).copied()
    }

    /// The properties of a type; none if the schema no longer has it.
    pub(crate) fn of_type(&self, tag: Tag) -> Option<&'a [Property]> {
        Some(match self.get(tag)? {
            Type::Node(node) => node.properties.as_slice(),
            Type::Edge(edge) => edge.properties.as_slice(),
        })
    }

    /// What a schema calls a type, or a property of it: `Person`, `Person.age`. None if it has none.
    pub(crate) fn at(&self, tag: Tag, slot: Option<&str>) -> Option<String> {
        let name = match self.get(tag)? {
            Type::Node(node) => &node.name,
            Type::Edge(edge) => &edge.name,
        };
        let Some(slot) = slot else { return Some(name.clone()) };
        let property = self.of_type(tag)?.iter().find(|of| of.slot == slot)?;
        Some(format!("{name}.{}", property.name))
    }

    /// The node type of this slot.
    pub(crate) fn node_of_slot(&self, slot: &str) -> Option<&'a NodeType> {
        self.slots.get(slot).copied()
    }

    /// The name of the row with this body; none if the schema no longer has its type.
    pub fn name(&self, tag: Tag, body: &Body) -> Option<RowName> {
        let text = |property: &Property| body.get(&property.slot).map(key_text);
        match self.get(tag)? {
            Type::Node(node) => Some(RowName::Node {
                type_name: node.name.clone(),
                key: node.key_property().and_then(text).unwrap_or_default(),
            }),
            Type::Edge(edge) => Some(RowName::Edge {
                type_name: edge.name.clone(),
                from: self.end(body, FROM)?,
                to: self.end(body, TO)?,
                key: (edge.key.iter())
                    .map(|at| edge.properties.get(*at).and_then(text).unwrap_or_default())
                    .collect(),
            }),
        }
    }

    /// A body as it is shown: by the names of properties, values as in answers. What the schema no
    /// longer has is left out.
    pub fn show(&self, tag: Tag, body: &Body) -> Shown {
        let properties = self.of_type(tag).unwrap_or_default();
        let shown = |property: &Property| {
            let value = body.get(&property.slot)?;
            Some((property.name.clone(), show_value(property, value)))
        };
        properties.iter().filter_map(shown).collect()
    }

    /// The names of properties by their slots.
    pub fn properties(&self, tag: Tag, slots: &[String]) -> Vec<String> {
        let properties = self.of_type(tag).unwrap_or_default();
        let name = |slot: &String| {
            let found = properties.iter().find(|property| property.slot == *slot);
            found.map_or_else(|| slot.clone(), |property| property.name.clone())
        };
        slots.iter().map(name).collect()
    }

    /// The slots that a row's name is made of, which no change ever touches.
    pub(crate) fn identity(&self, tag: Tag) -> Vec<&'a str> {
        match self.get(tag) {
            Some(Type::Node(node)) => {
                node.key_property().map(|key| key.slot.as_str()).into_iter().collect()
            }
            Some(Type::Edge(edge)) => {
                let keys = edge.key.iter().filter_map(|at| edge.properties.get(*at));
                [FROM, TO].into_iter().chain(keys.map(|key| key.slot.as_str())).collect()
            }
            None => Vec::new(),
        }
    }

    /// The type and key of an edge's end, by name.
    fn end(&self, body: &Body, side: &str) -> Option<(String, String)> {
        let (slot, key) = end(body, side)?;
        let name = self.node_of_slot(slot).map_or(slot, |node| node.name.as_str());
        Some((name.to_owned(), key.to_owned()))
    }
}

/// The type slot and key text of an edge's end.
pub(crate) fn end<'a>(body: &'a Body, side: &str) -> Option<(&'a str, &'a str)> {
    let parts = body.get(side)?.as_array()?;
    match parts.as_slice() {
        [slot, key] => Some((slot.as_str()?, key.as_str()?)),
        _ => None,
    }
}

/// A value of a key as text.
fn key_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A value as answers have it. What cannot be read as its kind is shown as it is kept.
fn show_value(property: &Property, value: &Value) -> Value {
    let body = Body::from([(property.slot.clone(), value.clone())]);
    let text = canonical(&body).unwrap_or_default();
    let read = decode(std::slice::from_ref(property), &text).ok();
    let shown = read.and_then(|values| values.first().map(|is| is.to_json(&property.kind)));
    shown.unwrap_or_else(|| value.clone())
}

/// Under which an edge's body has where it begins.
pub(crate) const FROM: &str = "@from";
/// And where it ends.
pub(crate) const TO: &str = "@to";
