//! `@card`: how many edges of a type may and must begin at a node.

use std::collections::{BTreeMap, BTreeSet};

use narthex_store::{GraphView, RowNo, Side};

use super::ends::type_of;
use super::{ChangeSet, Content, Found, Of, Row};
use crate::exec::{Context, ExecError, RowKind, ViolationKind};
use crate::query::{EdgeNo, NodeNo};
use crate::schema::{Card, EdgeType, Schema};

/// By edge type, the nodes where the number of edges must be looked at, and by how much it changes.
#[derive(Default)]
pub(super) struct Cards(BTreeMap<EdgeNo, Nodes>);

type Nodes = BTreeMap<(NodeNo, RowNo), i64>;

impl Cards {
    pub(super) fn add(&mut self, schema: &Schema, rows: &[Row<'_>]) -> Result<(), ExecError> {
        for (number, edge) in schema.edges.iter().enumerate() {
            if let Some(card) = edge.card {
                let nodes = self.0.entry(EdgeNo(number)).or_default();
                for row in rows {
                    touched(schema, row, EdgeNo(number), edge, card, nodes)?;
                }
            }
        }
        Ok(())
    }

    pub(super) async fn finish(
        self,
        view: &mut dyn GraphView,
        whole: &dyn ChangeSet,
        context: &Context<'_>,
    ) -> Result<Found, ExecError> {
        let mut found = Found::default();
        for (no, nodes) in self.0 {
            let edge = super::edge(context.schema, no)?;
            let Some(card) = edge.card else { continue };
            let nodes: Vec<_> = nodes.into_iter().collect();
            for part in nodes.chunks(super::PART) {
                for (no, some) in broken(view, edge, card, part).await? {
                    told(view, whole, context, (edge, card), no, &some, &mut found).await?;
                }
            }
        }
        Ok(found)
    }
}

/// A row may change how many edges begin at a node: an edge that comes or goes; a node that comes
/// and must have some. An edge that stays as it is is there because the rule itself is new; and so
/// may a node be, whether it changes or not.
fn touched(
    schema: &Schema,
    row: &Row<'_>,
    no: EdgeNo,
    edge: &EdgeType,
    card: Card,
    nodes: &mut Nodes,
) -> Result<(), ExecError> {
    let (was, is) = (row.before().is_some(), row.after.is_some());
    match (row.change.kind, &row.after) {
        (RowKind::Edge(of), after) if of == no => {
            if was && is && !row.is_same() {
                return Ok(());
            }
            let before;
            let content = match (after, row.before()) {
                (Some(after), _) => after,
                (None, Some(body)) => {
                    // Its ends alone: the rest may be of other kinds by now.
                    before = Content::read_with(schema, row.change.kind, body, |_| false)?;
                    &before
                }
                (None, None) => return Ok(()),
            };
            let Of::Edge(_, [from, _]) = &content.of else { return Ok(()) };
            if let (Some((no, _)), Some((at, _))) = (type_of(schema, &from.0), row.change.ends) {
                *nodes.entry((no, at)).or_default() += i64::from(is) - i64::from(was);
            }
        }
        (RowKind::Node(no), Some(_))
            if card.min > 0 && super::node(schema, no)?.is_a(&edge.from) =>
        {
            nodes.entry((no, row.row)).or_default();
        }
        _ => {}
    }
    Ok(())
}

/// Of some nodes, those that would have too many or too few, with how many.
async fn broken(
    view: &mut dyn GraphView,
    edge: &EdgeType,
    card: Card,
    nodes: &[((NodeNo, RowNo), i64)],
) -> Result<BTreeMap<NodeNo, BTreeMap<RowNo, u64>>, ExecError> {
    let all: BTreeSet<RowNo> = nodes.iter().map(|((_, row), _)| *row).collect();
    let all: Vec<RowNo> = all.into_iter().collect();
    let mut counts: BTreeMap<RowNo, i64> = BTreeMap::new();
    for row in view.edges(edge.tag(), Side::From, &all, false).await? {
        if let Some((from, _)) = row.ends {
            *counts.entry(from).or_default() += 1;
        }
    }
    let mut broken: BTreeMap<NodeNo, BTreeMap<RowNo, u64>> = BTreeMap::new();
    for ((no, row), more) in nodes {
        let count = counts.get(row).copied().unwrap_or(0).saturating_add(*more);
        let count = u64::try_from(count).unwrap_or(0);
        if count < card.min.into() || card.max.is_some_and(|max| count > max.into()) {
            broken.entry(*no).or_default().insert(*row, count);
        }
    }
    Ok(broken)
}

async fn told(
    view: &mut dyn GraphView,
    whole: &dyn ChangeSet,
    context: &Context<'_>,
    (edge, card): (&EdgeType, Card),
    no: NodeNo,
    counts: &BTreeMap<RowNo, u64>,
    found: &mut Found,
) -> Result<(), ExecError> {
    if found.is_full() {
        return Ok(());
    }
    let tag = super::node(context.schema, no)?.tag();
    let (mut known, mut asked) = (BTreeSet::new(), Vec::new());
    for row in counts.keys() {
        match whole.there(tag, *row) {
            Some(true) => _ = known.insert(*row),
            // A node that goes with its edges breaks nothing.
            Some(false) => {}
            None => asked.push(*row),
        }
    }
    let mut bodies = whole.bodies(tag, &known)?;
    if !asked.is_empty() {
        let rows = view.rows(tag, &asked).await?;
        bodies.extend(rows.into_iter().filter_map(|row| Some((row.row, row.body?))));
    }
    for (row, body) in bodies {
        let content = Content::read(context.schema, RowKind::Node(no), &body)?;
        let what = ViolationKind::Card {
            edge: edge.name.clone(),
            count: counts.get(&row).copied().unwrap_or(0),
            min: card.min,
            max: card.max,
        };
        found.push(content.violation(tag, row, what));
    }
    Ok(())
}
