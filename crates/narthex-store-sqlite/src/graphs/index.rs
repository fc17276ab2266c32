//! Rows by what an index has of them.

use narthex_core::hex;
use narthex_store::{IndexRange, RowNo, Tag};
use serde_json::Value;

use super::layers::Layers;
use super::pack::{list, numbers};
use super::value::{after_all, bound, key, kind_start};
use super::view::{Given, SqliteView};
use crate::fault::Fault;

impl SqliteView {
    pub(super) async fn in_range(
        &mut self,
        index: Tag,
        range: &IndexRange,
        limit: u32,
    ) -> Result<Option<Vec<RowNo>>, Fault> {
        if !self.is_indexed(index).await? {
            return Ok(None);
        }
        let Some(asked) = Asked::of(range) else { return Ok(None) };
        let mut given = vec![Given::Number(index.0), Given::Number(limit.into())];
        let (low, high) = match asked {
            Asked::Nothing => return Ok(Some(Vec::new())),
            Asked::Any(values) => {
                let values: Vec<String> = values.iter().map(|value| hex(value)).collect();
                let list = serde_json::to_string(&values).map_err(Fault::damaged)?;
                given.push(Given::Text(list));
                let text = self.packed(given, any_sql).await?;
                return numbers(&text).map(Some);
            }
            Asked::Between(low, high) => (low, high),
        };
        let open = (low.1, high.1);
        given.extend([Given::Bytes(low.0), Given::Bytes(high.0)]);
        let text = self.packed(given, |layers| between_sql(layers, open)).await?;
        numbers(&text).map(Some)
    }

    /// Whether all that the view sees is in an index.
    ///
    /// An index that came into being on a line holds what lies on that line; what lies under it
    /// is in none, as otherwise it would have been there already.
    pub(super) async fn is_indexed(&mut self, index: Tag) -> Result<bool, Fault> {
        if self.built.is_none() {
            let rows: Vec<(i64, i64, i64, bool)> = sqlx::query_as(
                "SELECT i.line, i.tag, i.seq, i.alone
                   FROM json_each(?1) k CROSS JOIN graph_indexes i ON i.line = k.value",
            )
            .bind(list(self.lines()))
            .fetch_all(&mut *self.tx)
            .await?;
            let record = |(line, tag, seq, alone)| ((line, tag), (seq, alone));
            self.built = Some(rows.into_iter().map(record).collect());
        }
        let Some(built) = &self.built else { return Ok(false) };
        for segment in &self.segments {
            if let Some((seq, alone)) = built.get(&(segment.line, index.0)) {
                return Ok(*seq <= segment.upto && *alone);
            }
        }
        Ok(true)
    }
}

/// A range as bytes.
enum Asked {
    Nothing,
    Any(Vec<Vec<u8>>),
    /// Each end with whether it is in it.
    Between((Vec<u8>, bool), (Vec<u8>, bool)),
}

impl Asked {
    /// None if an end is longer than what is kept of values.
    fn of(range: &IndexRange) -> Option<Self> {
        match range {
            IndexRange::Any(values) => {
                let mut values: Vec<Vec<u8>> = values.iter().map(key).collect();
                values.sort_unstable();
                values.dedup();
                Some(if values.is_empty() { Self::Nothing } else { Self::Any(values) })
            }
            IndexRange::Prefix(text) => {
                let low = bound(&Value::String(text.clone()))?;
                let high = after_all(&low)?;
                Some(Self::Between((low, true), (high, false)))
            }
            IndexRange::Between { low, high } => {
                let end = |end: &Option<(Value, bool)>| match end {
                    None => Some(None),
                    Some((value, inside)) => bound(value).map(|bytes| Some((bytes, *inside))),
                };
                let (low, high) = match (end(low)?, end(high)?) {
                    (None, None) => ((Vec::new(), true), (vec![u8::MAX], true)),
                    (Some(low), None) => {
                        let high = after_all(&kind_start(&low.0))?;
                        (low, (high, false))
                    }
                    (None, Some(high)) => ((kind_start(&high.0), true), high),
                    (Some(low), Some(high)) if kind_start(&low.0) != kind_start(&high.0) => {
                        return Some(Self::Nothing);
                    }
                    (Some(low), Some(high)) => (low, high),
                };
                Some(Self::Between(low, high))
            }
        }
    }
}

/// `?1` is the index, `?2` how many, `?3` the values.
pub(super) fn any_sql(layers: Layers<'_>) -> String {
    rows_sql(layers, "json_each(?3) k CROSS JOIN", "g.value = unhex(k.value)")
}

/// `?1` is the index, `?2` how many, `?3` and `?4` are the ends.
pub(super) fn between_sql(layers: Layers<'_>, inside: (bool, bool)) -> String {
    let low = if inside.0 { ">=" } else { ">" };
    let high = if inside.1 { "<=" } else { "<" };
    rows_sql(layers, "", &format!("g.value {low} ?3 AND g.value {high} ?4"))
}

fn rows_sql(layers: Layers<'_>, from: &str, which: &str) -> String {
    let arms = layers.all(
        |n, segment| {
            let (line, written) = (layers.line(n), layers.written(n, segment, "g"));
            let in_sight = layers.in_sight(n, "g.of", "g.row");
            format!(
                "SELECT g.row AS row FROM {from} graph_index g
                  WHERE g.line = ?{line} AND g.tag = ?1 AND {which}{written}{in_sight}"
            )
        },
        |n| {
            let (line, lasted) = (layers.line(n), layers.lasted(n, "g"));
            let in_sight = layers.in_sight(n, "g.of", "g.row");
            format!(
                "SELECT g.row FROM {from} graph_index_old g
                  WHERE g.line = ?{line} AND g.tag = ?1 AND {which}{lasted}{in_sight}"
            )
        },
    );
    // A row may be there under several of the values: it counts once.
    format!("SELECT group_concat(row, ' ') FROM (SELECT DISTINCT row FROM ({arms}) LIMIT ?2)")
}
