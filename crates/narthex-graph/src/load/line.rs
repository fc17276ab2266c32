//! One line, read against a schema.

use serde_json::{Map, Value as Json};

use super::{LoadError, strict};
use crate::diagnostic::nearest;
use crate::query::{EdgeNo, NodeNo};
use crate::rows::{Violation, check_edge, check_key, check_node, key_text, key_value};
use crate::schema::{EdgeType, NodeType, Property, Schema};
use crate::value::Value;

/// A row that is to be loaded.
#[derive(Debug, Clone, PartialEq)]
pub enum LoadLine {
    /// A node.
    Node(LoadNode),
    /// An edge.
    Edge(LoadEdge),
}

/// A node.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadNode {
    /// Its type.
    pub node: NodeNo,
    /// Its key text.
    pub key: String,
    /// One for each property.
    pub values: Vec<Value>,
}

/// An edge. Whether its ends are there is not known yet.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadEdge {
    /// Its type.
    pub edge: EdgeNo,
    /// Where it begins: type and key text.
    pub from: (NodeNo, String),
    /// Where it ends.
    pub to: (NodeNo, String),
    /// One for each property.
    pub values: Vec<Value>,
}

/// Reads the line of this number. What it gives fits its type, but for what needs other rows or an
/// expression.
pub fn parse(schema: &Schema, line: u64, text: &str) -> Result<LoadLine, LoadError> {
    let at = At { schema, line };
    let json = strict::parse(text).map_err(|message| at.wrong(None, message))?;
    let Json::Object(mut map) = json else {
        return Err(at.wrong(None, "a line is a JSON object"));
    };
    match (map.remove("type"), map.remove("edge")) {
        (Some(name), None) => at.node(&name, map).map(LoadLine::Node),
        (None, Some(name)) => at.edge(&name, map).map(LoadLine::Edge),
        _ => Err(at.wrong(None, "a line has either `type`, of a node, or `edge`, of an edge")),
    }
}

/// A line that is being read.
#[derive(Clone, Copy)]
struct At<'a> {
    schema: &'a Schema,
    line: u64,
}

impl<'a> At<'a> {
    fn node(self, name: &Json, mut map: Map<String, Json>) -> Result<LoadNode, LoadError> {
        let name = name.as_str().ok_or_else(|| self.wrong(Some("type"), "is not a string"))?;
        let (number, node) = self.node_type("type", name)?;
        let data = self.data(&mut map)?;
        let data = data.ok_or_else(|| self.wrong(Some("data"), "is missing"))?;
        self.nothing_else(&map, &["type", "data"])?;
        let values = self.values(&node.name, &node.properties, &data)?;
        self.sound(&check_node(node, &values))?;
        let property = node.key_property().zip(values.get(node.key));
        let key = property.and_then(|(property, value)| key_text(&property.kind, value));
        let key = key.ok_or_else(|| self.wrong(None, format!("{} has no key", node.name)))?;
        Ok(LoadNode { node: number, key, values })
    }

    fn edge(self, name: &Json, mut map: Map<String, Json>) -> Result<LoadEdge, LoadError> {
        let name = name.as_str().ok_or_else(|| self.wrong(Some("edge"), "is not a string"))?;
        let (number, edge) = self.edge_type(name)?;
        let from = self.end(edge, "from", &edge.from, map.remove("from"))?;
        let to = self.end(edge, "to", &edge.to, map.remove("to"))?;
        let data = self.data(&mut map)?.unwrap_or_default();
        self.nothing_else(&map, &["edge", "from", "to", "data"])?;
        let values = self.values(&edge.name, &edge.properties, &data)?;
        self.sound(&check_edge(edge, &values))?;
        Ok(LoadEdge { edge: number, from, to, values })
    }

    fn node_type(self, part: &str, name: &str) -> Result<(NodeNo, &'a NodeType), LoadError> {
        let found = self.schema.nodes.iter().enumerate().find(|(_, node)| node.name == name);
        found.map(|(number, node)| (NodeNo(number), node)).ok_or_else(|| {
            let known = self.schema.nodes.iter().map(|node| node.name.as_str());
            self.unknown(part, "node type", name, known)
        })
    }

    fn edge_type(self, name: &str) -> Result<(EdgeNo, &'a EdgeType), LoadError> {
        let found = self.schema.edges.iter().enumerate().find(|(_, edge)| edge.name == name);
        found.map(|(number, edge)| (EdgeNo(number), edge)).ok_or_else(|| {
            let known = self.schema.edges.iter().map(|edge| edge.name.as_str());
            self.unknown("edge", "edge type", name, known)
        })
    }

    fn data(self, map: &mut Map<String, Json>) -> Result<Option<Map<String, Json>>, LoadError> {
        match map.remove("data") {
            None => Ok(None),
            Some(Json::Object(data)) => Ok(Some(data)),
            Some(_) => Err(self.wrong(Some("data"), "is not an object")),
        }
    }

    fn nothing_else(self, map: &Map<String, Json>, parts: &[&str]) -> Result<(), LoadError> {
        match map.keys().next() {
            None => Ok(()),
            Some(name) => {
                let parts = parts.join("`, `");
                Err(self
                    .wrong(Some(name), format!("is no part of such a line, only `{parts}` are")))
            }
        }
    }

    fn values(
        self,
        owner: &str,
        properties: &[Property],
        data: &Map<String, Json>,
    ) -> Result<Vec<Value>, LoadError> {
        for name in data.keys() {
            if properties.iter().all(|property| property.name != *name) {
                let known = properties.iter().map(|property| property.name.as_str());
                return Err(self.unknown(name, &format!("property of {owner}"), name, known));
            }
        }
        let value = |property: &Property| match data.get(&property.name) {
            None => Ok(property.left_out()),
            // Where there must be one, the check says so.
            Some(Json::Null) => Ok(Value::Null),
            Some(json) => property
                .kind
                .accept(json)
                .map_err(|why| self.wrong(Some(&property.name), why.to_string())),
        };
        properties.iter().map(value).collect()
    }

    /// An end: a key text, or the type and the key where the edge can end at several types.
    fn end(
        self,
        edge: &EdgeType,
        part: &str,
        ends_at: &str,
        given: Option<Json>,
    ) -> Result<(NodeNo, String), LoadError> {
        let given = given.ok_or_else(|| self.wrong(Some(part), "is missing"))?;
        let (name, key) = match given {
            Json::Object(mut map) => match (map.remove("type"), map.remove("key")) {
                (Some(Json::String(name)), Some(key)) if map.is_empty() => (name, key),
                _ => return Err(self.wrong(Some(part), END_FORM)),
            },
            key if self.schema.node(ends_at).is_some() => (ends_at.to_owned(), key),
            _ => {
                let message = format!("{ends_at} is an interface; {END_FORM}");
                return Err(self.wrong(Some(part), message));
            }
        };
        let (number, node) = self.node_type(part, &name)?;
        if self.schema.nodes_of(ends_at).all(|known| known.name != name) {
            let message = format!("{} has {ends_at} here, not {name}", edge.name);
            return Err(self.wrong(Some(part), message));
        }
        Ok((number, self.key(part, node, &key)?))
    }

    /// A key as text, or as the value that it is in the node's own line.
    fn key(self, part: &str, node: &NodeType, json: &Json) -> Result<String, LoadError> {
        let property = node.key_property();
        let property = property.ok_or_else(|| self.wrong(Some(part), "a type without a key"))?;
        let value = match json {
            Json::String(text) => key_value(&property.kind, text),
            json => property.kind.accept(json).ok(),
        };
        let text = value.and_then(|value| key_text(&property.kind, &value)).ok_or_else(|| {
            let message = format!("is no key of {} ({})", node.name, property.kind);
            self.wrong(Some(part), message)
        })?;
        check_key(&text).map_err(|why| self.wrong(Some(part), why.to_string()))?;
        Ok(text)
    }

    fn sound(self, violations: &[Violation]) -> Result<(), LoadError> {
        match violations.first() {
            None => Ok(()),
            Some(first) => Err(self.wrong(Some(&first.property), first.why.to_string())),
        }
    }

    fn unknown<'n>(
        self,
        part: &str,
        what: &str,
        name: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) -> LoadError {
        let shown: String = name.chars().take(super::NAME_CHARS).collect();
        let mut message = format!("there is no {what} `{shown}`");
        if let Some(meant) = nearest(&shown, known) {
            message = format!("{message}; did you mean `{meant}`?");
        }
        self.wrong(Some(part), message)
    }

    fn wrong(self, property: Option<&str>, message: impl Into<String>) -> LoadError {
        LoadError::new(self.line, property, message)
    }
}

const END_FORM: &str = r#"an end of several types is {"type":"…","key":"…"}"#;

#[cfg(test)]
mod tests;
