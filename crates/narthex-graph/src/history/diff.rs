//! What differs between two commits, row by row.

use narthex_store::{GraphView, RowNo, StoreError, StoredRow, Tag};
use serde::Serialize;
use serde_json::Value;

use super::Meeting;
use crate::merge::{Body, RowId, read_body, rows_by_id, unlike};

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DiffKind {
    /// The second has it, the first does not.
    Added,
    /// The first has it, the second does not.
    Removed,
    /// Both have it, unlike.
    Changed,
}

/// A row that is not the same in both.
#[derive(Debug, Clone, PartialEq)]
pub struct RowDiff {
    /// Its type.
    pub tag: Tag,
    /// Its number.
    pub row: RowNo,
    /// Of an edge, where it begins and ends.
    pub ends: Option<(RowNo, RowNo)>,
    /// What the first has.
    pub before: Option<Body>,
    /// What the second has.
    pub after: Option<Body>,
}

/// A property that is not the same in both.
#[derive(Debug, Clone, PartialEq)]
pub struct PropertyDiff {
    /// Its slot.
    pub slot: String,
    /// What the first has.
    pub before: Option<Value>,
    /// What the second has.
    pub after: Option<Value>,
}

/// Some of the rows that differ.
#[derive(Debug, Clone, PartialEq)]
pub struct DiffPage {
    /// In the order of types and numbers.
    pub rows: Vec<RowDiff>,
    /// Where to go on; none if this was all.
    pub next: Option<RowId>,
}

impl RowDiff {
    /// What became of it.
    pub const fn kind(&self) -> DiffKind {
        match (&self.before, &self.after) {
            (None, _) => DiffKind::Added,
            (Some(_), None) => DiffKind::Removed,
            (Some(_), Some(_)) => DiffKind::Changed,
        }
    }

    /// The properties that differ.
    pub fn properties(&self) -> Vec<PropertyDiff> {
        let value = |body: &Option<Body>, slot: &String| body.as_ref()?.get(slot).cloned();
        unlike(self.before.as_ref(), self.after.as_ref())
            .map(|slot| PropertyDiff {
                before: value(&self.before, &slot),
                after: value(&self.after, &slot),
                slot,
            })
            .collect()
    }
}

/// The rows that differ between two views of one graph, after this one, at most so many.
///
/// It looks at what was written since the two parted, and at nothing else.
pub async fn diff(
    first: &mut dyn GraphView,
    second: &mut dyn GraphView,
    after: Option<RowId>,
    limit: usize,
) -> Result<DiffPage, StoreError> {
    let meeting = Meeting::of(first, second).await?;
    let spans = [meeting.ours_alone(), meeting.theirs_alone()].concat();
    let mut touched = first.touched(&spans).await?;
    touched.sort_unstable();
    touched.dedup();
    let from = touched.partition_point(|row| after.is_some_and(|after| *row <= after));
    let mut page = DiffPage { rows: Vec::new(), next: None };
    for rows in touched.get(from..).unwrap_or_default().chunks(ROWS) {
        let (before, after) = (rows_by_id(first, rows).await?, rows_by_id(second, rows).await?);
        for row in rows {
            let Some(diff) = row_diff(*row, before.get(row), after.get(row))? else { continue };
            if page.rows.len() >= limit {
                page.next = page.rows.last().map(|last| (last.tag, last.row));
                return Ok(page);
            }
            page.rows.push(diff);
        }
    }
    Ok(page)
}

fn row_diff(
    (tag, row): RowId,
    before: Option<&StoredRow>,
    after: Option<&StoredRow>,
) -> Result<Option<RowDiff>, StoreError> {
    let text = |row: Option<&StoredRow>| row.and_then(|row| row.body.clone());
    let (before_text, after_text) = (text(before), text(after));
    if before_text == after_text {
        return Ok(None);
    }
    let body = |text: Option<String>| text.as_deref().map(read_body).transpose();
    let ends = before.or(after).and_then(|row| row.ends);
    let (before, after) = (body(before_text)?, body(after_text)?);
    Ok(Some(RowDiff { tag, row, ends, before, after }))
}

/// How many rows are read at a time.
const ROWS: usize = 200;
