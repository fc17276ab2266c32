//! Rows by number and in order.

use std::collections::HashSet;

use narthex_store::{RowNo, StoredRow, Tag};
use sqlx::AssertSqlSafe;

use super::layers::{Layers, Segment};
use super::pack::{list, packed, packed_ends, unpack};
use super::view::{Given, SqliteView};
use crate::fault::Fault;

impl SqliteView {
    /// Layer by layer: what the nearer ones have is not asked of those under them.
    pub(super) async fn some_rows(
        &mut self,
        tag: Tag,
        rows: &[RowNo],
    ) -> Result<Vec<StoredRow>, Fault> {
        let mut wanted: Vec<RowNo> = rows.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let mut found = Vec::with_capacity(wanted.len());
        for segment in self.segments.clone() {
            if wanted.is_empty() {
                break;
            }
            let versions = self.versions(segment, tag, &wanted).await?;
            let here: HashSet<RowNo> = versions.iter().map(|version| version.row).collect();
            wanted.retain(|row| !here.contains(row));
            found.extend(versions.into_iter().filter(|version| version.body.is_some()));
        }
        Ok(found)
    }

    /// What a line itself held of rows at one of its commits, gone or not.
    pub(super) async fn versions(
        &mut self,
        segment: Segment,
        tag: Tag,
        rows: &[RowNo],
    ) -> Result<Vec<StoredRow>, Fault> {
        let mut versions = Vec::with_capacity(rows.len());
        for some in rows.chunks(AT_ONCE) {
            let text: Option<String> =
                sqlx::query_scalar(AssertSqlSafe(packed(versions_sql(segment.at_head))))
                    .bind(tag.0)
                    .bind(list(some.iter().map(|row| row.0)))
                    .bind(segment.line)
                    .bind(segment.upto)
                    .fetch_one(&mut *self.tx)
                    .await?;
            versions.extend(unpack(&text.unwrap_or_default(), tag, &[segment.line])?);
        }
        Ok(versions)
    }

    pub(super) async fn rows_after(
        &mut self,
        tag: Tag,
        after: Option<RowNo>,
        limit: u32,
        bodies: bool,
    ) -> Result<Vec<StoredRow>, Fault> {
        let first = match after {
            None => i64::MIN,
            Some(RowNo(i64::MAX)) => return Ok(Vec::new()),
            Some(RowNo(row)) => row + 1,
        };
        let given = vec![Given::Number(tag.0), Given::Number(first), Given::Number(limit.into())];
        let text = self.packed(given, |layers| scan_sql(layers, bodies)).await?;
        let mut rows = unpack(&text, tag, &self.lines())?;
        // They come in this order; nothing in SQL says that they must.
        rows.sort_unstable_by_key(|row| row.row);
        Ok(rows)
    }
}

/// `?1` is the tag, `?2` the rows, `?3` the line and `?4` its last commit that counts.
pub(super) const fn versions_sql(at_head: bool) -> &'static str {
    if at_head {
        "SELECT 0 AS layer, r.seq, r.row, r.a, r.b, r.body
           FROM json_each(?2) k CROSS JOIN graph_rows r
             ON r.line = ?3 AND r.tag = ?1 AND r.row = k.value"
    } else {
        "SELECT 0 AS layer, r.seq, r.row, r.a, r.b, r.body
           FROM json_each(?2) k CROSS JOIN graph_rows r
             ON r.line = ?3 AND r.tag = ?1 AND r.row = k.value AND r.seq <= ?4
         UNION ALL
         SELECT 0, h.seq, h.row, h.a, h.b, h.body
           FROM json_each(?2) k CROSS JOIN graph_history h
             ON h.line = ?3 AND h.tag = ?1 AND h.row = k.value
            AND h.until = (SELECT min(x.until) FROM graph_history x
                            WHERE x.line = ?3 AND x.tag = ?1 AND x.row = k.value AND x.until > ?4)
            AND h.seq <= ?4"
    }
}

/// `?1` is the tag, `?2` the first row, `?3` how many.
pub(super) fn scan_sql(layers: Layers<'_>, bodies: bool) -> String {
    let body = if bodies { ", r.body" } else { "" };
    let arms = layers.all(
        |n, segment| {
            let (line, written) = (layers.line(n), layers.written(n, segment, "r"));
            let in_sight = layers.in_sight(n, "r.tag", "r.row");
            format!(
                "SELECT {n} AS layer, r.seq, r.row, r.a, r.b{body} FROM graph_rows r
                  WHERE r.line = ?{line} AND r.tag = ?1 AND r.row >= ?2 AND r.body IS NOT NULL
                        {written}{in_sight}"
            )
        },
        |n| {
            let (line, lasted) = (layers.line(n), layers.lasted(n, "r"));
            let in_sight = layers.in_sight(n, "r.tag", "r.row");
            format!(
                "SELECT {n}, r.seq, r.row, r.a, r.b{body}
                   FROM graph_history r INDEXED BY graph_history_until
                  WHERE r.line = ?{line} AND r.tag = ?1{lasted} AND r.row >= ?2
                    AND r.body IS NOT NULL{in_sight}"
            )
        },
    );
    let ordered = format!("{arms} ORDER BY 3 LIMIT ?3");
    if bodies { packed(&ordered) } else { packed_ends(&ordered) }
}

/// Rows asked for in one statement: their bodies come as one text.
const AT_ONCE: usize = 4_096;
