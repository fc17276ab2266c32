//! From a schema to what a value may be.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::bounds::{BRANCHES, Budget, DEPTH, SIGNATURE_DEPTH, UNION_MEMBERS};
use super::names::Names;
use super::shape::{Definition, Shape};
use super::{facts, width};

/// Reads one document: a schema and everything it refers to.
#[derive(Debug)]
pub(super) struct Reader<'s, 'b> {
    pub(super) document: &'s Value,
    pub(super) budget: &'b mut Budget,
    /// Where references become names; without it they are read in place.
    pub(super) naming: Option<Naming<'b>>,
    pub(super) definitions: Vec<Definition>,
    /// The schema of each definition, and back. Two ways to write a reference are one place.
    pub(super) schemas: Vec<&'s Value>,
    pub(super) places: HashMap<*const Value, usize>,
    pub(super) anchors: Option<HashMap<&'s str, &'s Value>>,
    /// The definition that is being read, and which lead to which with nothing in between.
    pub(super) current: usize,
    pub(super) leads: HashSet<(usize, usize)>,
}

/// How types that a schema refers to are named.
#[derive(Debug)]
pub(super) struct Naming<'b> {
    pub(super) names: &'b mut Names,
    pub(super) prefix: &'b str,
}

/// Where in a document the reader is.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'s, 'o> {
    pub(super) depth: usize,
    /// Nothing but unions and intersections lies between here and the definition.
    pub(super) direct: bool,
    /// This is one of several schemas that a value must fit at once.
    pub(super) part: bool,
    /// Properties that these others describe, for who only says that they are required.
    pub(super) beside: &'o [&'s Map<String, Value>],
}

impl<'s> At<'s, '_> {
    const TOP: Self = Self { depth: 0, direct: true, part: false, beside: &[] };

    /// In a property or an item.
    pub(super) const fn inside(self) -> At<'s, 's> {
        At { depth: self.depth + 1, direct: false, part: false, beside: &[] }
    }
}

impl<'s, 'b> Reader<'s, 'b> {
    /// Every type of a document; the first is its own.
    pub(super) fn definitions(
        document: &'s Value,
        name: &str,
        naming: Naming<'b>,
        budget: &'b mut Budget,
    ) -> Vec<Definition> {
        let mut reader = Reader::new(document, Some(naming), budget);
        reader.define(name.to_owned(), document);
        // Reading one may add more.
        while let Some(schema) = reader.schemas.get(reader.current).copied() {
            let doc = facts::doc(schema);
            let shape = reader.schema(schema, At::TOP);
            if let Some(definition) = reader.definitions.get_mut(reader.current) {
                definition.shape = shape;
                if reader.budget.room(super::comment::room(&doc, 2)) {
                    definition.doc = doc;
                }
            }
            reader.current += 1;
        }
        width::trim(&mut reader.definitions);
        reader.definitions
    }

    /// A document without names, as deep as a signature goes.
    pub(super) fn in_place(document: &'s Value, budget: &'b mut Budget) -> Shape {
        Reader::new(document, None, budget).schema(document, At::TOP)
    }

    fn new(document: &'s Value, naming: Option<Naming<'b>>, budget: &'b mut Budget) -> Self {
        Self {
            document,
            budget,
            naming,
            definitions: Vec::new(),
            schemas: Vec::new(),
            places: HashMap::new(),
            anchors: None,
            current: 0,
            leads: HashSet::new(),
        }
    }

    /// What a value with this schema may be.
    pub(super) fn schema(&mut self, schema: &'s Value, at: At<'s, '_>) -> Shape {
        let map = match schema {
            Value::Bool(false) => return Shape::Never,
            Value::Object(map) => map,
            _ => return Shape::Any,
        };
        let deepest = if self.naming.is_some() { DEPTH } else { SIGNATURE_DEPTH };
        if at.depth >= deepest {
            self.budget.simplify();
            return Shape::Any;
        }
        // A word, and the sign that joins it to the next.
        if !self.budget.work(1) || !self.budget.room(12) {
            return Shape::Any;
        }
        let shape = self.all_of_it(map, at);
        let nullable = map.get("nullable") == Some(&Value::Bool(true));
        if nullable { self.union([shape, Shape::Word("null")]) } else { shape }
    }

    /// What the schema says itself, and what the schemas in it and behind it add.
    fn all_of_it(&mut self, map: &'s Map<String, Value>, at: At<'s, '_>) -> Shape {
        let list = |key: &str| map.get(key).and_then(Value::as_array).filter(|l| !l.is_empty());
        let reference = map.get("$ref").and_then(Value::as_str);
        let lists = ["allOf", "anyOf", "oneOf"].map(|key| (key, list(key)));
        if reference.is_none() && lists.iter().all(|(_, list)| list.is_none()) {
            return self.own(map, at);
        }
        let beside = self.beside(map, at);
        let part = At { part: true, beside: &beside, ..at };
        let within = At { depth: at.depth + 1, ..part };
        let own = self.own(map, part);
        let mut parts = Vec::new();
        parts.extend(reference.map(|reference| self.reference(reference, within)));
        for (key, list) in lists {
            let Some(list) = list else { continue };
            if list.len() > BRANCHES {
                self.budget.simplify();
                if key != "allOf" {
                    // Some of the choices would be worse than none.
                    continue;
                }
            }
            let branches: Vec<Shape> =
                list.iter().take(BRANCHES).map(|branch| self.schema(branch, within)).collect();
            match key {
                "allOf" => parts.extend(branches),
                _ => parts.push(self.union(branches)),
            }
        }
        let rest = Shape::intersection(parts);
        // That it is an object goes without saying when the others say what is in it.
        if own.is_bare_object() && rest != Shape::Any {
            return rest;
        }
        Shape::intersection([own, rest])
    }

    /// What the schema says without the schemas that are about the same value.
    fn own(&mut self, map: &'s Map<String, Value>, at: At<'s, '_>) -> Shape {
        if let Some(value) = map.get("const") {
            return self.literal(value, at.depth);
        }
        if let Some(values) = map.get("enum").and_then(Value::as_array) {
            return self.one_of(values, map.get("type"), at.depth);
        }
        match map.get("type") {
            Some(Value::String(kind)) => self.kind(kind, map, at),
            Some(Value::Array(kinds)) => {
                let kinds = kinds.iter().take(KINDS).filter_map(Value::as_str);
                let shapes: Vec<Shape> = kinds.map(|kind| self.kind(kind, map, at)).collect();
                self.union(shapes)
            }
            _ if OBJECT_WORDS.iter().any(|word| map.contains_key(*word)) => self.object(map, at),
            _ if ARRAY_WORDS.iter().any(|word| map.contains_key(*word)) => self.array(map, at),
            _ => Shape::Any,
        }
    }

    fn kind(&mut self, kind: &str, map: &'s Map<String, Value>, at: At<'s, '_>) -> Shape {
        match kind {
            "string" => Shape::Word("string"),
            "number" | "integer" => Shape::Word("number"),
            "boolean" => Shape::Word("boolean"),
            "null" => Shape::Word("null"),
            "object" => self.object(map, at),
            "array" => self.array(map, at),
            _ => Shape::Any,
        }
    }

    /// One of these, if they are not too many.
    pub(super) fn union(&mut self, members: impl IntoIterator<Item = Shape>) -> Shape {
        match Shape::union(members) {
            Shape::Union(members) if members.len() > UNION_MEMBERS => {
                self.budget.simplify();
                Shape::Any
            }
            union => union,
        }
    }

    /// The properties that this schema and those next to it describe.
    fn beside(
        &mut self,
        map: &'s Map<String, Value>,
        at: At<'s, '_>,
    ) -> Vec<&'s Map<String, Value>> {
        let all = map.get("allOf").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut found: Vec<_> = at.beside.to_vec();
        found.extend(properties(map));
        let reference = map.get("$ref").and_then(Value::as_str);
        found.extend(reference.and_then(|r| self.resolve(r)?.as_object()).and_then(properties));
        for schema in all.iter().take(BRANCHES).filter_map(Value::as_object) {
            let target = schema.get("$ref").and_then(Value::as_str).and_then(|r| self.resolve(r));
            found.extend(target.and_then(Value::as_object).and_then(properties));
            found.extend(properties(schema));
        }
        if self.budget.work(found.len()) { found } else { Vec::new() }
    }
}

fn properties(map: &Map<String, Value>) -> Option<&Map<String, Value>> {
    map.get("properties").and_then(Value::as_object)
}

/// Kinds there are, with some to spare.
const KINDS: usize = 8;
/// What is only said of objects, and of arrays: who says it means one.
const OBJECT_WORDS: &[&str] =
    &["properties", "required", "additionalProperties", "patternProperties"];
const ARRAY_WORDS: &[&str] = &["items", "prefixItems"];
