//! Edges whose nodes would be gone.

use std::collections::{BTreeMap, BTreeSet};

use narthex_store::{GraphView, RowNo, Side as End, StoreError, Tag};

use super::names::{self, FROM, Names, TO, Type};
use super::plan::{Held, PAGE, RowId, Settled, read_body, rows_by_id};
use super::{Conflict, ConflictKind, RowName, Side};
use crate::schema::{EdgeType, Schema};

/// Finds edges that the merge leaves without one of their nodes. Two kinds can be: an edge that it
/// brings or keeps against the other side, to a node that is gone; and an edge of ours that it does
/// not touch, to a node that it takes away.
pub(crate) async fn find(
    ours: &mut dyn GraphView,
    held: &BTreeMap<RowId, Held>,
    schema: &Schema,
    names: &Names<'_>,
) -> Result<Vec<Conflict>, StoreError> {
    let mut conflicts = brought(ours, held, names).await?;
    conflicts.extend(left(ours, held, schema, names).await?);
    Ok(conflicts)
}

/// Edges in the merge that stay, and whose nodes are not there.
async fn brought(
    ours: &mut dyn GraphView,
    held: &BTreeMap<RowId, Held>,
    names: &Names<'_>,
) -> Result<Vec<Conflict>, StoreError> {
    let mut ends: BTreeMap<RowId, Vec<(RowId, RowName)>> = BTreeMap::new();
    for (row, edge) in held {
        let (Settled::To(Some(body)), Some((from, to))) = (&edge.settled, edge.ends) else {
            continue;
        };
        if !matches!(names.get(row.0), Some(Type::Edge(_))) {
            continue;
        }
        let body = read_body(body)?;
        for (side, node) in [(FROM, from), (TO, to)] {
            let Some((slot, key)) = names::end(&body, side) else { continue };
            let Some(node_type) = names.node_of_slot(slot) else { continue };
            let name = RowName::Node { type_name: node_type.name.clone(), key: key.to_owned() };
            ends.entry((node_type.tag(), node)).or_default().push((*row, name));
        }
    }
    let nodes: Vec<RowId> = ends.keys().copied().collect();
    let mut there = BTreeSet::new();
    for page in nodes.chunks(PAGE) {
        there.extend(rows_by_id(ours, page).await?.into_keys());
    }
    let mut conflicts = Vec::new();
    for (node, edges) in ends {
        let in_ours = there.contains(&node);
        if held.get(&node).map_or(in_ours, Held::stays) {
            continue;
        }
        let deleted_by = if in_ours { Side::Theirs } else { Side::Ours };
        for (edge, node) in edges {
            let Some(held) = held.get(&edge) else { continue };
            let kind = ConflictKind::OrphanedEdge { node, deleted_by };
            conflicts.push(held.conflict(edge.0, names, kind)?);
        }
    }
    Ok(conflicts)
}

/// Edges of ours at nodes that the merge takes away, and that it leaves alone.
async fn left(
    ours: &mut dyn GraphView,
    held: &BTreeMap<RowId, Held>,
    schema: &Schema,
    names: &Names<'_>,
) -> Result<Vec<Conflict>, StoreError> {
    let mut gone: BTreeMap<Tag, Vec<RowNo>> = BTreeMap::new();
    for ((tag, row), node) in held {
        if node.ours.is_some() && !node.stays() && matches!(names.get(*tag), Some(Type::Node(_))) {
            gone.entry(*tag).or_default().push(*row);
        }
    }
    let mut conflicts = Vec::new();
    for (tag, rows) in gone {
        let Some(Type::Node(node)) = names.get(tag) else { continue };
        for edge in &schema.edges {
            for (end, of) in [(End::From, &edge.from), (End::To, &edge.to)] {
                if schema.nodes_of(of).all(|of| of.slot != node.slot) {
                    continue;
                }
                for page in rows.chunks(PAGE) {
                    conflicts.extend(at(ours, held, (edge, end), page, names).await?);
                }
            }
        }
    }
    Ok(conflicts)
}

/// Edges of one type that begin (or end) at these nodes.
async fn at(
    ours: &mut dyn GraphView,
    held: &BTreeMap<RowId, Held>,
    (edge, end): (&EdgeType, End),
    nodes: &[RowNo],
    names: &Names<'_>,
) -> Result<Vec<Conflict>, StoreError> {
    let tag = edge.tag();
    let mut conflicts = Vec::new();
    for row in ours.edges(tag, end, nodes, true).await? {
        // What the merge touches was looked at already.
        if held.contains_key(&(tag, row.row)) {
            continue;
        }
        let side = if end == End::From { FROM } else { TO };
        let Some(body) = row.body.as_deref().map(read_body).transpose()? else { continue };
        let Some((slot, key)) = names::end(&body, side) else { continue };
        let node_name = names.node_of_slot(slot).map_or(slot, |node| node.name.as_str());
        let node = RowName::Node { type_name: node_name.to_owned(), key: key.to_owned() };
        let settled = Settled::To(None);
        let edge = Held { ends: row.ends, ours: Some(row), theirs: None, settled };
        let kind = ConflictKind::OrphanedEdge { node, deleted_by: Side::Theirs };
        conflicts.push(edge.conflict(tag, names, kind)?);
    }
    Ok(conflicts)
}
