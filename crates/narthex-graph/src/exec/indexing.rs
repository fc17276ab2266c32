//! What a store must write for a set of changes.

use narthex_store::{LineNo, RowWrite, StoredRow, Tag};
use serde_json::Value as Json;

use super::{Changes, ExecError, RowKind};
use crate::rows::{EdgeBody, IndexEntries, decode, index_entries, unique_entries};
use crate::schema::Schema;

/// The writes for changes on a line. `old` is the schema that the rows were under before, where it
/// is another: what the line's indexes have of them was put there by it.
pub fn row_writes(
    changes: &Changes,
    old: &Schema,
    schema: &Schema,
    line: LineNo,
) -> Result<Vec<RowWrite>, ExecError> {
    let mut writes = Vec::with_capacity(changes.rows.len());
    for ((tag, row), change) in &changes.rows {
        let own = change.before.as_ref().filter(|before| before.line == line);
        let unindex = match own {
            Some(before) => before_entries(old, *tag, before)?,
            None => Vec::new(),
        };
        let entries = match &change.after {
            Some(body) => entries(schema, change.kind, body)?,
            None => IndexEntries::default(),
        };
        writes.push(RowWrite {
            tag: *tag,
            row: *row,
            ends: change.ends,
            body: change.after.clone(),
            unindex,
            index: entries.index,
            texts: entries.texts,
        });
    }
    Ok(writes)
}

/// What all indexes of a schema have of a row with this body.
pub fn entries(schema: &Schema, kind: RowKind, body: &str) -> Result<IndexEntries, ExecError> {
    let (slot, properties, uniques, values) = match kind {
        RowKind::Node(no) => {
            let node = schema.nodes.get(no.0).ok_or(ExecError::Plan("no such node type"))?;
            let values = decode(&node.properties, body)?;
            (&node.slot, &node.properties, &node.uniques, values)
        }
        RowKind::Edge(no) => {
            let edge = schema.edges.get(no.0).ok_or(ExecError::Plan("no such edge type"))?;
            let values = EdgeBody::decode(&edge.properties, body)?.values;
            (&edge.slot, &edge.properties, &edge.uniques, values)
        }
    };
    let mut entries = index_entries(slot, properties, &values);
    entries.index.extend(unique_entries(slot, properties, uniques, &values));
    Ok(entries)
}

/// What indexes had of a row, if its type was there.
fn before_entries(
    old: &Schema,
    tag: Tag,
    before: &StoredRow,
) -> Result<Vec<(Tag, Json)>, ExecError> {
    match (kind_of(old, tag), &before.body) {
        (Some(kind), Some(body)) => Ok(entries(old, kind, body)?.index),
        _ => Ok(Vec::new()),
    }
}

/// What rows of a type are.
pub fn kind_of(schema: &Schema, tag: Tag) -> Option<RowKind> {
    use crate::query::{EdgeNo, NodeNo};
    let node = schema.nodes.iter().position(|node| node.tag() == tag);
    let edge = || schema.edges.iter().position(|edge| edge.tag() == tag);
    node.map(|no| RowKind::Node(NodeNo(no))).or_else(|| edge().map(|no| RowKind::Edge(EdgeNo(no))))
}
