//! Edges by their ends.

use narthex_store::{RowNo, Side, StoredRow, Tag};

use super::layers::Layers;
use super::pack::{list, packed, packed_ends, unpack};
use super::view::{Given, SqliteView};
use crate::fault::Fault;

impl SqliteView {
    pub(super) async fn edges_of(
        &mut self,
        tag: Tag,
        side: Side,
        of: &[RowNo],
        bodies: bool,
    ) -> Result<Vec<StoredRow>, Fault> {
        let mut of: Vec<i64> = of.iter().map(|row| row.0).collect();
        of.sort_unstable();
        of.dedup();
        let mut edges = Vec::new();
        for some in of.chunks(if bodies { WITH_BODIES_AT_ONCE } else { AT_ONCE }) {
            let given = vec![Given::Number(tag.0), Given::Text(list(some.iter().copied()))];
            let text = self.packed(given, |layers| edges_sql(layers, side, bodies)).await?;
            edges.extend(unpack(&text, tag, &self.lines())?);
        }
        Ok(edges)
    }
}

/// `?1` is the tag, `?2` the nodes.
pub(super) fn edges_sql(layers: Layers<'_>, side: Side, bodies: bool) -> String {
    let (table, index, end) = match side {
        Side::From => ("graph_from", "graph_history_from", "a"),
        Side::To => ("graph_to", "graph_history_to", "b"),
    };
    let arms = layers.all(
        |n, segment| {
            let (line, written) = (layers.line(n), layers.written(n, segment, "e"));
            let in_sight = layers.in_sight(n, "e.tag", "e.row");
            let (body, and_rows) = if bodies {
                (
                    ", r.body",
                    " CROSS JOIN graph_rows r
                        ON r.line = e.line AND r.tag = e.tag AND r.row = e.row",
                )
            } else {
                ("", "")
            };
            format!(
                "SELECT {n} AS layer, e.seq, e.row, e.a, e.b{body}
                   FROM json_each(?2) k CROSS JOIN {table} e
                     ON e.line = ?{line} AND e.tag = ?1 AND e.{end} = k.value{written}{and_rows}
                  WHERE true{in_sight}"
            )
        },
        |n| {
            let (line, lasted) = (layers.line(n), layers.lasted(n, "e"));
            let in_sight = layers.in_sight(n, "e.tag", "e.row");
            let body = if bodies { ", e.body" } else { "" };
            format!(
                "SELECT {n}, e.seq, e.row, e.a, e.b{body}
                   FROM json_each(?2) k CROSS JOIN graph_history e INDEXED BY {index}
                     ON e.line = ?{line} AND e.tag = ?1 AND e.{end} = k.value{lasted}
                  WHERE e.body IS NOT NULL{in_sight}"
            )
        },
    );
    if bodies { packed(&arms) } else { packed_ends(&arms) }
}

/// Nodes asked about in one statement.
const AT_ONCE: usize = 65_536;
const WITH_BODIES_AT_ONCE: usize = 4_096;
