//! Objects and maps.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::bounds::{NAME_BYTES, PROPERTIES};
use super::read::{At, Reader};
use super::shape::{Object, Property, Shape};
use super::{comment, facts, text};

impl<'s> Reader<'s, '_> {
    /// What an object with this schema may be.
    pub(super) fn object(&mut self, map: &'s Map<String, Value>, at: At<'s, '_>) -> Shape {
        let required = self.required(map);
        let is_required: HashSet<&str> = required.iter().copied().collect();
        let described = map.get("properties").and_then(Value::as_object);
        let mut object = Object::default();
        let mut complete = described.is_none_or(|described| described.len() <= PROPERTIES);
        for (name, schema) in described.into_iter().flatten().take(PROPERTIES) {
            let optional = name.len() > NAME_BYTES || !is_required.contains(name.as_str());
            let Some(mut property) = self.property(name, optional, facts::doc(schema), at) else {
                complete = false;
                continue;
            };
            if !(optional && INHERITED.contains(&name.as_str())) {
                property.shape = self.schema(schema, at.inside());
            }
            object.properties.push(property);
        }
        let is_described = |name: &str| described.is_some_and(|d| d.contains_key(name));
        for name in required.iter().filter(|name| !is_described(name)).take(PROPERTIES) {
            let Some(mut property) = self.property(name, false, Vec::new(), at) else {
                complete = false;
                continue;
            };
            property.shape = self.elsewhere(name, map, at);
            object.properties.push(property);
        }
        if !complete {
            self.budget.simplify();
        }
        object.index = if complete { self.index(map, &object, at) } else { Some(Shape::Any) }
            .map(|index| Box::new(widened(index, &object)));
        Shape::Object(object)
    }

    /// A property that may be anything yet, if there is room for it.
    fn property(
        &mut self,
        name: &str,
        optional: bool,
        doc: Vec<String>,
        at: At<'s, '_>,
    ) -> Option<Property> {
        if name.len() > NAME_BYTES {
            return None;
        }
        let indent = 2 * at.depth + 4;
        let key = text::key(name);
        let room = key.len() + 2 * indent + 12 + comment::room(&doc, indent);
        (self.budget.work(WORK) && self.budget.room(room)).then_some(Property {
            key,
            optional,
            doc,
            shape: Shape::Any,
        })
    }

    /// The names that are required, each once and in their order.
    fn required(&mut self, map: &'s Map<String, Value>) -> Vec<&'s str> {
        let names = map.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if !self.budget.work(names.len()) {
            return Vec::new();
        }
        let mut seen = HashSet::new();
        let mut new = |name: &&'s str| name.len() <= NAME_BYTES && seen.insert(*name);
        names.iter().filter_map(Value::as_str).filter(|name| new(name)).collect()
    }

    /// What a property is that is required here and described elsewhere, or nowhere.
    fn elsewhere(&mut self, name: &str, map: &'s Map<String, Value>, at: At<'s, '_>) -> Shape {
        let looked = self.budget.work(at.beside.len());
        if looked && at.beside.iter().any(|properties| properties.contains_key(name)) {
            // Only that it is there: together with its description that says all. The description
            // again would be another type to a compiler, and `any` would undo it.
            return Shape::Word("unknown");
        }
        match map.get("additionalProperties") {
            Some(schema) if schema.is_object() => self.schema(schema, at.inside()),
            _ => Shape::Any,
        }
    }

    /// What properties without a description may be, if there may be any.
    fn index(
        &mut self,
        map: &'s Map<String, Value>,
        object: &Object,
        at: At<'s, '_>,
    ) -> Option<Shape> {
        let patterns = map.get("patternProperties").and_then(Value::as_object);
        let patterns = patterns.filter(|patterns| !patterns.is_empty());
        let others = match map.get("additionalProperties") {
            None | Some(Value::Bool(false)) => None,
            Some(schema) => Some(self.schema(schema, at.inside())),
        };
        match (patterns, others) {
            // A pattern is about some names, an index signature about all of them, those that other
            // schemas describe among them.
            (Some(_), _) if at.part => Some(Shape::Any),
            (Some(patterns), _) if patterns.len() > PATTERNS => Some(Shape::Any),
            (Some(patterns), others) => {
                let mut shapes: Vec<Shape> =
                    patterns.values().map(|schema| self.schema(schema, at.inside())).collect();
                shapes.extend(others);
                Some(self.union(shapes))
            }
            (None, Some(others)) => Some(others),
            (None, None) if object.properties.is_empty() => {
                let closed = map.get("additionalProperties") == Some(&Value::Bool(false));
                Some(if closed { Shape::Never } else { Shape::Any })
            }
            (None, None) => None,
        }
    }
}

/// An index signature that the properties fit, as TypeScript demands. It holds each of them in few
/// words or becomes `any`, so that no schema is written twice.
fn widened(index: Shape, object: &Object) -> Shape {
    let mut members = Vec::new();
    for property in &object.properties {
        if property.shape != index {
            members.push(property.shape.widened().unwrap_or(Shape::Any));
        }
        if property.optional {
            members.push(Shape::Word("undefined"));
        }
    }
    match Shape::union(std::iter::once(index).chain(members)) {
        Shape::Union(members) if members.len() > INDEX_MEMBERS => Shape::Any,
        index => index,
    }
}

/// Steps that a property takes, most of them for its comment.
const WORK: usize = 3;
/// What every object has. TypeScript compares it with an optional property that was left out, and
/// would refuse `{}`.
const INHERITED: &[&str] = &[
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
];
/// Patterns of one object that are read.
const PATTERNS: usize = 20;
/// Members of an index signature that a person still reads. An enum of its own may have more, but
/// not next to properties: then it says little anyway.
const INDEX_MEMBERS: usize = 12;
