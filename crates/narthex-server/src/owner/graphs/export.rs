//! Rows as lines that can be loaded again: nodes first, then edges.

use std::fmt;
use std::str::FromStr;

use narthex_core::CommitId;
use narthex_graph::GraphError;
use narthex_graph::load::{export_edge, export_node};
use narthex_graph::rows::{BodyError, EdgeBody, decode};
use narthex_graph::schema::{EdgeType, Schema};
use narthex_store::{At, GraphView, RowNo, StoredRow, Tag};

use super::super::desk::invalid;
use super::super::{Desk, GraphReply, LinesPage};
use super::trouble::Stop;

impl Desk {
    /// A page of lines. All pages are of the commit of the first.
    pub(super) async fn graph_export(
        &self,
        graph: &str,
        at: Option<&str>,
        after: Option<&str>,
    ) -> Result<GraphReply, Stop> {
        let graph = self.graph_named(graph).await?;
        let engine = self.graphs.engine();
        let place = if let Some(text) = after {
            text.parse().map_err(invalid)?
        } else {
            let at = self.place(&graph, at).await?;
            Place { commit: engine.commit_at(&graph, &at).await?.id, kind: 0, after: None }
        };
        let at = At::Commit(place.commit);
        let schema = engine.schema_at(&graph, &at).await?;
        let view = engine.graphs().view(graph.id, &at).await?;
        let mut view = view.ok_or(GraphError::NoCommit(place.commit))?;
        let page = page(view.as_mut(), &schema, place).await?;
        Ok(GraphReply::Lines(page))
    }
}

/// Where a page begins.
#[derive(Debug, Clone, Copy)]
struct Place {
    commit: CommitId,
    /// Which type: those of nodes come first.
    kind: usize,
    after: Option<RowNo>,
}

async fn page(
    view: &mut dyn GraphView,
    schema: &Schema,
    mut place: Place,
) -> Result<LinesPage, Stop> {
    let mut page = LinesPage { commit: place.commit, lines: Vec::new(), left_out: 0, next: None };
    let mut bytes = 0;
    while let Some(tag) = tag(schema, place.kind) {
        let rows = view.scan(tag, place.after, ROWS).await?;
        if rows.is_empty() {
            place = Place { kind: place.kind + 1, after: None, ..place };
            continue;
        }
        for row in rows {
            place.after = Some(row.row);
            match line(schema, place.kind, &row)? {
                Some(line) => {
                    bytes += line.len();
                    page.lines.push(line);
                }
                None => page.left_out += 1,
            }
            if bytes >= PAGE_BYTES {
                page.next = Some(place.to_string());
                return Ok(page);
            }
        }
    }
    Ok(page)
}

fn tag(schema: &Schema, kind: usize) -> Option<Tag> {
    match schema.nodes.get(kind) {
        Some(node) => Some(node.tag()),
        None => schema.edges.get(kind - schema.nodes.len()).map(EdgeType::tag),
    }
}

/// None for an edge that the schema can no longer say.
fn line(schema: &Schema, kind: usize, row: &StoredRow) -> Result<Option<String>, Stop> {
    let damaged = |error: BodyError| GraphError::Damaged(error.to_string());
    let body = row.body.as_deref().unwrap_or_default();
    if let Some(node) = schema.nodes.get(kind) {
        return Ok(Some(export_node(node, &decode(&node.properties, body).map_err(damaged)?)));
    }
    let Some(edge) = schema.edges.get(kind - schema.nodes.len()) else { return Ok(None) };
    let body = EdgeBody::decode(&edge.properties, body).map_err(damaged)?;
    Ok(export_edge(schema, edge, &body))
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.commit, self.kind, self.after.map_or(0, |row| row.0))
    }
}

impl FromStr for Place {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.split('.');
        let mut read = || {
            let commit = parts.next()?.parse().ok()?;
            let kind = parts.next()?.parse().ok()?;
            let after = parts.next()?.parse().ok().map(RowNo);
            parts.next().is_none().then_some(Self { commit, kind, after })
        };
        read().ok_or("this is no place in an export; use the `next` of a page as it is")
    }
}

/// Rows that are asked for at once.
const ROWS: u32 = 1_000;
/// About how much one page has.
const PAGE_BYTES: usize = 2 * 1024 * 1024;
