//! Edges begin and end at nodes that are there, of types that they may.

use std::collections::{BTreeMap, BTreeSet};

use narthex_store::{GraphView, RowNo, Side, Tag};

use super::{ChangeSet, Content, Found, Of, Row};
use crate::exec::{Context, ExecError, RowKind, ViolationKind};
use crate::query::{EdgeNo, NodeNo};
use crate::schema::{NodeType, Schema};

pub(super) async fn check(
    view: &mut dyn GraphView,
    whole: &dyn ChangeSet,
    context: &Context<'_>,
    rows: &[Row<'_>],
    found: &mut Found,
) -> Result<(), ExecError> {
    let mut asked: BTreeMap<NodeNo, BTreeSet<RowNo>> = BTreeMap::new();
    let mut ends = Vec::new();
    // A tag is a digest: made once, and not for each edge.
    let tags: Vec<Tag> = context.schema.nodes.iter().map(NodeType::tag).collect();
    for row in rows {
        let Some(after) = &row.after else { continue };
        let Of::Edge(edge, [from, to]) = &after.of else { continue };
        let Some((first, last)) = row.change.ends else {
            return Err(ExecError::Plan("an edge without ends"));
        };
        for (end, at, name, of) in
            [(Side::From, first, &edge.from, from), (Side::To, last, &edge.to, to)]
        {
            let can_be = type_of(context.schema, &of.0).filter(|(_, node)| node.is_a(name));
            let Some((no, node)) = can_be else {
                let what = ViolationKind::EndType { end, slot: of.0.clone() };
                found.push(after.violation(row.tag, row.row, what));
                continue;
            };
            let there = tags.get(no.0).and_then(|tag| whole.there(*tag, at));
            match there {
                Some(true) => continue,
                Some(false) => {}
                None => _ = asked.entry(no).or_default().insert(at),
            }
            ends.push((row, after, end, no, node, at, &of.1));
        }
    }
    let mut there = BTreeSet::new();
    for (no, nodes) in &asked {
        let tag = super::node(context.schema, *no)?.tag();
        let nodes: Vec<RowNo> = nodes.iter().copied().collect();
        let rows = view.rows(tag, &nodes).await?;
        there.extend(rows.into_iter().map(|row| (*no, row.row)));
    }
    for (row, after, end, no, node, at, key) in ends {
        if !there.contains(&(no, at)) {
            let (node, node_key) = (node.name.clone(), key.clone());
            let what = ViolationKind::Orphan { end, node, node_key };
            found.push(after.violation(row.tag, row.row, what));
        }
    }
    left_behind(view, whole, context, rows, found).await
}

/// Edges, not changed themselves, whose nodes go.
async fn left_behind(
    view: &mut dyn GraphView,
    whole: &dyn ChangeSet,
    context: &Context<'_>,
    rows: &[Row<'_>],
    found: &mut Found,
) -> Result<(), ExecError> {
    let mut gone: BTreeMap<NodeNo, Vec<RowNo>> = BTreeMap::new();
    for row in rows {
        if let (RowKind::Node(no), None) = (row.change.kind, &row.change.after) {
            gone.entry(no).or_default().push(row.row);
        }
    }
    for (no, nodes) in &gone {
        let node = super::node(context.schema, *no)?;
        for (number, edge) in context.schema.edges.iter().enumerate() {
            for (end, name) in [(Side::From, &edge.from), (Side::To, &edge.to)] {
                if !node.is_a(name) {
                    continue;
                }
                // Without their bodies first: mostly they go too.
                let mut left = view.edges(edge.tag(), end, nodes, false).await?;
                // Those that are changed themselves are looked at for their own sake.
                left.retain(|row| whole.there(row.tag, row.row).is_none());
                let left: Vec<RowNo> =
                    left.into_iter().map(|row| row.row).take(super::MAX_VIOLATIONS).collect();
                if left.is_empty() {
                    continue;
                }
                for row in view.rows(edge.tag(), &left).await? {
                    let body = row.body.as_deref().unwrap_or("{}");
                    let content =
                        Content::read(context.schema, RowKind::Edge(EdgeNo(number)), body)?;
                    let Of::Edge(_, [from, to]) = &content.of else { continue };
                    let key = if end == Side::From { &from.1 } else { &to.1 };
                    let (node, node_key) = (node.name.clone(), key.clone());
                    let what = ViolationKind::Orphan { end, node, node_key };
                    found.push(content.violation(row.tag, row.row, what));
                }
            }
        }
    }
    Ok(())
}

/// The node type with this slot.
pub(super) fn type_of<'a>(schema: &'a Schema, slot: &str) -> Option<(NodeNo, &'a NodeType)> {
    let found = schema.nodes.iter().enumerate().find(|(_, node)| node.slot == slot);
    found.map(|(no, node)| (NodeNo(no), node))
}
