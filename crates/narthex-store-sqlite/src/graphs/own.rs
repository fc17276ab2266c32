//! What lines wrote themselves: what a merge looks at.

use std::collections::{BTreeMap, HashMap};

use narthex_core::Digest;
use narthex_store::{Layer, LineNo, Refused, RowNo, Seen, StoredRow, Tag};

use super::commits;
use super::layers::Segment;
use super::lines::{Line, lines};
use super::pack::list;
use super::view::SqliteView;
use crate::fault::Fault;
use crate::rows::{Fields, number};

impl SqliteView {
    pub(super) async fn rows_touched(
        &mut self,
        spans: &[(LineNo, u64, u64)],
    ) -> Result<Vec<(Tag, RowNo)>, Fault> {
        self.look_up(spans.iter().map(|(line, ..)| line.0)).await?;
        let mut touched = Vec::new();
        for &(line, after, upto) in spans {
            if !self.is_own(line.0) {
                continue;
            }
            // One text, however many commits.
            let text: Option<String> = sqlx::query_scalar(
                "SELECT group_concat(hex(touched), '') FROM
                     (SELECT touched FROM graph_commits
                       WHERE line = ?1 AND seq > ?2 AND seq <= ?3
                      UNION ALL
                      SELECT rows FROM graph_touched
                       WHERE line = ?1 AND seq > ?2 AND seq <= ?3)",
            )
            .bind(line.0)
            .bind(number(after)?)
            .bind(number(upto)?)
            .fetch_one(&mut *self.tx)
            .await?;
            unhex(&text.unwrap_or_default(), &mut touched)?;
        }
        touched.sort_unstable();
        touched.dedup();
        Ok(touched)
    }

    pub(super) async fn own_writes(
        &mut self,
        lines: &[Layer],
        rows: &[(Tag, RowNo)],
    ) -> Result<Vec<StoredRow>, Fault> {
        self.look_up(lines.iter().map(|layer| layer.line.0)).await?;
        let mut by_tag: BTreeMap<Tag, Vec<RowNo>> = BTreeMap::new();
        for (tag, row) in rows {
            by_tag.entry(*tag).or_default().push(*row);
        }
        for rows in by_tag.values_mut() {
            rows.sort_unstable();
            rows.dedup();
        }
        let mut writes = Vec::new();
        for layer in lines {
            let Some(head) = self.heads.get(&layer.line.0).copied().flatten() else { continue };
            let upto = number(layer.upto)?;
            let segment = Segment { line: layer.line.0, upto, at_head: upto >= head };
            if upto == 0 || head == 0 {
                continue;
            }
            for (tag, rows) in &by_tag {
                writes.extend(self.versions(segment, *tag, rows).await?);
            }
        }
        Ok(writes)
    }

    pub(super) async fn seen_by(&mut self, commits: &[(LineNo, u64)]) -> Result<Vec<Seen>, Fault> {
        self.look_up(commits.iter().map(|(line, _)| line.0)).await?;
        let pairs: Vec<(i64, u64)> = commits
            .iter()
            .filter(|(line, _)| self.is_own(line.0))
            .map(|(line, seq)| (line.0, *seq))
            .collect();
        let rows: Vec<(i64, i64, String)> = sqlx::query_as(
            "SELECT c.line, c.seq, c.seen FROM json_each(?1) k CROSS JOIN graph_commits c
                 ON c.line = k.value ->> 0 AND c.seq = k.value ->> 1",
        )
        .bind(serde_json::to_string(&pairs).map_err(Fault::damaged)?)
        .fetch_all(&mut *self.tx)
        .await?;
        let mut known = HashMap::with_capacity(rows.len());
        for (line, seq, text) in rows {
            known.insert((line, seq), commits::seen(&text)?);
        }
        let one = |(line, seq): &(LineNo, u64)| {
            let seen = known.get(&(line.0, number(*seq)?)).cloned();
            seen.ok_or(Fault::Refused(Refused::NotFound("commit")))
        };
        commits.iter().map(one).collect()
    }

    pub(super) async fn schemas_of(
        &mut self,
        commits: &[(LineNo, u64)],
    ) -> Result<Vec<Digest>, Fault> {
        self.look_up(commits.iter().map(|(line, _)| line.0)).await?;
        let pairs: Vec<(i64, u64)> = commits
            .iter()
            .filter(|(line, _)| self.is_own(line.0))
            .map(|(line, seq)| (line.0, *seq))
            .collect();
        let rows = sqlx::query(
            "SELECT c.line, c.seq, c.schema FROM json_each(?1) k CROSS JOIN graph_commits c
                 ON c.line = k.value ->> 0 AND c.seq = k.value ->> 1",
        )
        .bind(serde_json::to_string(&pairs).map_err(Fault::damaged)?)
        .fetch_all(&mut *self.tx)
        .await?;
        let mut known = HashMap::with_capacity(rows.len());
        for row in &rows {
            let row = Fields(row);
            let place: (i64, i64) = (row.get("line")?, row.get("seq")?);
            known.insert(place, row.digest("schema")?);
        }
        let one = |(line, seq): &(LineNo, u64)| {
            let schema = known.get(&(line.0, number(*seq)?)).copied();
            schema.ok_or(Fault::Refused(Refused::NotFound("commit")))
        };
        commits.iter().map(one).collect()
    }

    fn is_own(&self, line: i64) -> bool {
        self.heads.get(&line).is_some_and(Option::is_some)
    }

    /// Finds out which of these are lines of this graph: of another there is nothing to tell.
    async fn look_up(&mut self, asked: impl Iterator<Item = i64>) -> Result<(), Fault> {
        let mut unknown: Vec<i64> = asked.filter(|line| !self.heads.contains_key(line)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        if unknown.is_empty() {
            return Ok(());
        }
        let rows = sqlx::query(LINES)
            .bind(list(unknown.iter().copied()))
            .bind(self.graph)
            .fetch_all(&mut *self.tx)
            .await?;
        self.heads.extend(unknown.into_iter().map(|line| (line, None)));
        for row in &rows {
            let line = Line::read(Fields(row), &self.key)?;
            self.heads.insert(line.n, Some(line.head));
        }
        Ok(())
    }
}

/// Sixteen bytes a row: its tag and its number.
fn unhex(text: &str, into: &mut Vec<(Tag, RowNo)>) -> Result<(), Fault> {
    let (rows, rest) = text.as_bytes().as_chunks::<32>();
    if !rest.is_empty() {
        return Err(Fault::damaged("what a commit touched was cut"));
    }
    for row in rows {
        let mut bytes = [0_u8; 16];
        for (byte, pair) in bytes.iter_mut().zip(row.as_chunks::<2>().0) {
            let pair = std::str::from_utf8(pair).map_err(Fault::damaged)?;
            *byte = u8::from_str_radix(pair, 16).map_err(Fault::damaged)?;
        }
        let both = i128::from_be_bytes(bytes);
        #[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
        into.push((Tag((both >> 64) as i64), RowNo(both as i64)));
    }
    Ok(())
}

const LINES: &str =
    lines!("", "", "json_each(?1) k CROSS JOIN graph_lines l ON l.n = k.value WHERE l.graph = ?2");
