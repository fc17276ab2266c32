//! What is in an answer.

use std::sync::Arc;

use narthex_store::RowNo;
use serde_json::{Map, Value as Json, json};

use crate::query::{EdgeNo, NodeNo};
use crate::rows::EdgeBody;
use crate::schema::{Kind, Property, Schema};
use crate::value::Value;

/// An answer, or a page of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What the cells of a row are.
    pub columns: Vec<AnswerColumn>,
    /// The rows, each with a cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// Where the next page begins, if there is one: the [`super::super::Page::cursor`] for it.
    pub next: Option<String>,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerColumn {
    /// Its name.
    pub name: String,
    /// What its values are; none for a whole node or edge.
    pub kind: Option<Kind>,
    /// Whether it may be null.
    pub nullable: bool,
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A value, of its column's kind; or null.
    Value(Value),
    /// A whole node or edge.
    Whole(Box<Whole>),
}

/// A whole node or edge.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    /// The name of its type.
    pub kind: String,
    /// Of an edge, the keys of where it begins and ends.
    pub ends: Option<(String, String)>,
    /// Name, kind and value of each property.
    pub properties: Vec<(String, Kind, Value)>,
}

impl Answer {
    /// Its rows as JSON objects by column.
    pub fn to_json(&self) -> Json {
        let row = |cells: &Vec<Cell>| -> Json {
            let cells = self.columns.iter().zip(cells);
            let cells = cells.map(|(of, cell)| (of.name.clone(), cell.to_json(of.kind.as_ref())));
            Json::Object(cells.collect())
        };
        Json::Array(self.rows.iter().map(row).collect())
    }
}

impl Cell {
    /// As JSON; the kind is the column's.
    pub fn to_json(&self, kind: Option<&Kind>) -> Json {
        match (self, kind) {
            (Self::Whole(whole), _) => whole.to_json(),
            (Self::Value(Value::Null), _) | (_, None) => Json::Null,
            (Self::Value(value), Some(kind)) => value.to_json(kind),
        }
    }

    /// How much room it takes, about.
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Value(value) => value_size(value),
            Self::Whole(whole) => {
                let each = whole.properties.iter();
                each.map(|(name, _, value)| name.len() as u64 + value_size(value)).sum::<u64>()
                    + whole.kind.len() as u64
            }
        }
    }
}

impl Whole {
    /// As an object: `type`, of an edge `from` and `to`, and its properties.
    pub fn to_json(&self) -> Json {
        let mut object = Map::new();
        object.insert("type".to_owned(), json!(self.kind));
        if let Some((from, to)) = &self.ends {
            object.insert("from".to_owned(), json!(from));
            object.insert("to".to_owned(), json!(to));
        }
        for (name, kind, value) in &self.properties {
            let value = if value.is_null() { Json::Null } else { value.to_json(kind) };
            object.insert(name.clone(), value);
        }
        Json::Object(object)
    }
}

/// A cell while the answer is made.
#[derive(Debug, Clone)]
pub(super) enum Made {
    Value(Value),
    Node(NodeNo, RowNo, Arc<Vec<Value>>),
    Edge(EdgeNo, RowNo, Arc<EdgeBody>),
}

impl Made {
    /// As what it is compared and grouped by.
    pub(super) fn value(&self) -> Value {
        match self {
            Self::Value(value) => value.clone(),
            Self::Node(_, row, _) | Self::Edge(_, row, _) => Value::Int(row.0.into()),
        }
    }

    pub(super) fn total(&self, other: &Self) -> std::cmp::Ordering {
        match (self, other) {
            (Self::Value(this), Self::Value(that)) => this.total(that),
            _ => self.value().total(&other.value()),
        }
    }

    pub(super) fn finish(self, schema: &Schema) -> Cell {
        match self {
            Self::Value(value) => Cell::Value(value),
            Self::Node(no, _, values) => match schema.nodes.get(no.0) {
                Some(node) => Cell::Whole(Box::new(Whole {
                    kind: node.name.clone(),
                    ends: None,
                    properties: named(&node.properties, &values),
                })),
                None => Cell::Value(Value::Null),
            },
            Self::Edge(no, _, body) => match schema.edges.get(no.0) {
                Some(edge) => Cell::Whole(Box::new(Whole {
                    kind: edge.name.clone(),
                    ends: Some((body.from.1.clone(), body.to.1.clone())),
                    properties: named(&edge.properties, &body.values),
                })),
                None => Cell::Value(Value::Null),
            },
        }
    }
}

fn named(properties: &[Property], values: &[Value]) -> Vec<(String, Kind, Value)> {
    let each = properties.iter().zip(values);
    each.map(|(of, value)| (of.name.clone(), of.kind.clone(), value.clone())).collect()
}

fn value_size(value: &Value) -> u64 {
    match value {
        Value::Text(text) => 2 + text.len() as u64,
        Value::List(items) => 2 + items.iter().map(value_size).sum::<u64>(),
        Value::Vector(items) => 2 + 8 * items.len() as u64,
        _ => 8,
    }
}
