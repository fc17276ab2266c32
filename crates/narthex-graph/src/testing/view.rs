//! One moment of a graph in memory.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use narthex_core::Digest;
use narthex_store::{
    GraphView, IndexRange, Layer, LineNo, Placed, RowNo, Seen, Side, StoreError, StoredRow, Tag,
};
use serde_json::Value as Json;

use super::lines::{State, Version};

/// A look at a [`super::MemoryGraph`]. It counts what it is asked, by name.
#[derive(Debug, Clone)]
pub struct MemoryView {
    state: Arc<State>,
    placed: Placed,
    /// What was asked, in order: `rows`, `edges`, `scan`, ….
    pub asked: Vec<&'static str>,
    /// Whether it pretends to have no index at all.
    pub without_indexes: bool,
}

impl MemoryView {
    pub(super) fn new(state: Arc<State>, placed: Placed) -> Self {
        Self { state, placed, asked: Vec::new(), without_indexes: false }
    }

    /// A row as the nearest line has it, unless that says it is gone.
    fn visible(&self, tag: Tag, row: RowNo) -> Option<(StoredRow, &Version)> {
        let mut layers = self.placed.layers.iter();
        let (line, version) = layers.find_map(|layer| {
            self.state.written(*layer, tag, row).map(|version| (layer.line, version))
        })?;
        version.body.as_ref()?;
        Some((stored(line, tag, row, version), version))
    }

    /// All rows of a type, by their numbers.
    fn all(&self, tag: Tag) -> Vec<(StoredRow, &Version)> {
        let keys = self.state.versions.keys().filter(|(_, of, _)| *of == tag);
        let rows: BTreeSet<RowNo> = keys.map(|(_, _, row)| *row).collect();
        rows.into_iter().filter_map(|row| self.visible(tag, row)).collect()
    }

    fn page(&self, tag: Tag, after: Option<RowNo>, limit: u32) -> Vec<StoredRow> {
        let rows = self.all(tag).into_iter().map(|(row, _)| row);
        rows.filter(|row| after.is_none_or(|after| row.row > after)).take(limit as usize).collect()
    }

    /// All rows of all types.
    fn everything(&self) -> Vec<(StoredRow, &Version)> {
        let tags: BTreeSet<Tag> = self.state.versions.keys().map(|(_, tag, _)| *tag).collect();
        tags.into_iter().flat_map(|tag| self.all(tag)).collect()
    }

    fn is_indexed(&self, index: Tag) -> bool {
        !self.without_indexes && self.state.is_indexed(&self.placed.layers, index)
    }
}

#[async_trait]
impl GraphView for MemoryView {
    fn placed(&self) -> &Placed {
        &self.placed
    }

    async fn rows(&mut self, tag: Tag, rows: &[RowNo]) -> Result<Vec<StoredRow>, StoreError> {
        self.asked.push("rows");
        let rows: BTreeSet<RowNo> = rows.iter().copied().collect();
        Ok(rows.iter().filter_map(|row| Some(self.visible(tag, *row)?.0)).collect())
    }

    async fn scan(
        &mut self,
        tag: Tag,
        after: Option<RowNo>,
        limit: u32,
    ) -> Result<Vec<StoredRow>, StoreError> {
        self.asked.push("scan");
        Ok(self.page(tag, after, limit))
    }

    async fn edges(
        &mut self,
        tag: Tag,
        side: Side,
        of: &[RowNo],
        bodies: bool,
    ) -> Result<Vec<StoredRow>, StoreError> {
        self.asked.push("edges");
        let of: BTreeSet<RowNo> = of.iter().copied().collect();
        let at = |row: &StoredRow| {
            row.ends
                .is_some_and(|(from, to)| of.contains(if side == Side::From { &from } else { &to }))
        };
        let rows = self.all(tag).into_iter().map(|(row, _)| row).filter(at);
        Ok(rows.map(|row| if bodies { row } else { without_body(row) }).collect())
    }

    async fn scan_edges(
        &mut self,
        tag: Tag,
        after: Option<RowNo>,
        limit: u32,
    ) -> Result<Vec<StoredRow>, StoreError> {
        self.asked.push("scan_edges");
        Ok(self.page(tag, after, limit).into_iter().map(without_body).collect())
    }

    async fn index(
        &mut self,
        index: Tag,
        range: &IndexRange,
        limit: u32,
    ) -> Result<Option<Vec<RowNo>>, StoreError> {
        self.asked.push("index");
        if !self.is_indexed(index) {
            return Ok(None);
        }
        let has = |version: &Version| {
            version.index.iter().any(|(of, value)| *of == index && is_in(range, value))
        };
        let rows = self.everything().into_iter().filter(|(_, version)| has(version));
        Ok(Some(rows.map(|(row, _)| row.row).take(limit as usize).collect()))
    }

    async fn search(
        &mut self,
        index: Tag,
        words: &[String],
        prefix: bool,
        limit: u32,
    ) -> Result<Option<Vec<RowNo>>, StoreError> {
        self.asked.push("search");
        if !self.is_indexed(index) {
            return Ok(None);
        }
        let is = |has: &str, word: &str| if prefix { has.starts_with(word) } else { has == word };
        let has = |version: &Version| {
            let text = version.texts.iter().find(|(of, _)| *of == index);
            text.is_some_and(|(_, text)| {
                words.iter().all(|word| text.split(' ').any(|has| is(has, word)))
            })
        };
        let rows = self.everything().into_iter().filter(|(_, version)| has(version));
        let mut rows: Vec<RowNo> = rows.map(|(row, _)| row.row).collect();
        rows.sort_unstable();
        rows.truncate(if words.is_empty() { 0 } else { limit as usize });
        Ok(Some(rows))
    }

    async fn touched(
        &mut self,
        spans: &[(LineNo, u64, u64)],
    ) -> Result<Vec<(Tag, RowNo)>, StoreError> {
        self.asked.push("touched");
        let mut touched = BTreeSet::new();
        for ((line, tag, row), versions) in &self.state.versions {
            let within = |seq: u64| {
                spans.iter().any(|(of, after, upto)| of == line && *after < seq && seq <= *upto)
            };
            if versions.iter().any(|version| within(version.seq)) {
                touched.insert((*tag, *row));
            }
        }
        Ok(touched.into_iter().collect())
    }

    async fn writes(
        &mut self,
        lines: &[Layer],
        rows: &[(Tag, RowNo)],
    ) -> Result<Vec<StoredRow>, StoreError> {
        self.asked.push("writes");
        let mut writes = Vec::new();
        for layer in lines {
            for (tag, row) in rows {
                if let Some(version) = self.state.written(*layer, *tag, *row) {
                    writes.push(stored(layer.line, *tag, *row, version));
                }
            }
        }
        Ok(writes)
    }

    async fn seen(&mut self, commits: &[(LineNo, u64)]) -> Result<Vec<Seen>, StoreError> {
        self.asked.push("seen");
        let of = |(line, seq): &(LineNo, u64)| {
            let mut own = self.state.lines.get(line)?.commits.iter();
            own.find(|commit| commit.seq == *seq).map(|commit| commit.seen.clone())
        };
        let seen: Option<Vec<Seen>> = commits.iter().map(of).collect();
        seen.ok_or_else(|| StoreError::Damaged("no such commit".into()))
    }

    async fn schemas(&mut self, commits: &[(LineNo, u64)]) -> Result<Vec<Digest>, StoreError> {
        self.asked.push("schemas");
        let of = |(line, seq): &(LineNo, u64)| {
            let mut own = self.state.lines.get(line)?.commits.iter();
            own.find(|commit| commit.seq == *seq).map(|commit| commit.schema)
        };
        let schemas: Option<Vec<Digest>> = commits.iter().map(of).collect();
        schemas.ok_or_else(|| StoreError::Damaged("no such commit".into()))
    }
}

fn stored(line: LineNo, tag: Tag, row: RowNo, version: &Version) -> StoredRow {
    StoredRow { tag, row, line, seq: version.seq, ends: version.ends, body: version.body.clone() }
}

fn without_body(mut row: StoredRow) -> StoredRow {
    row.body = Some(String::new());
    row
}

fn is_in(range: &IndexRange, value: &Json) -> bool {
    match range {
        IndexRange::Any(values) => {
            values.iter().any(|other| compare(value, other) == Some(Ordering::Equal))
        }
        IndexRange::Prefix(prefix) => {
            value.as_str().is_some_and(|text| text.starts_with(prefix.as_str()))
        }
        IndexRange::Between { low, high } => {
            let beyond = |end: &Option<(Json, bool)>, right: Ordering| match end {
                None => true,
                Some((end, included)) => compare(value, end)
                    .is_some_and(|is| is == right || (*included && is == Ordering::Equal)),
            };
            beyond(low, Ordering::Greater) && beyond(high, Ordering::Less)
        }
    }
}

/// Values of one kind; none if they are of two.
fn compare(a: &Json, b: &Json) -> Option<Ordering> {
    match (a, b) {
        (Json::String(a), Json::String(b)) => Some(a.cmp(b)),
        (Json::Bool(a), Json::Bool(b)) => Some(a.cmp(b)),
        (Json::Number(a), Json::Number(b)) => match (whole(a), whole(b)) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
        },
        _ => None,
    }
}

fn whole(number: &serde_json::Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}
