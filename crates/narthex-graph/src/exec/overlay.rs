//! A graph as it will be: a view, and changes over it.

use std::collections::BTreeSet;

use narthex_store::{GraphView, IndexRange, RowNo, Side, StoreError, StoredRow, Tag};

use super::Changes;

/// A view with changes over it.
pub(super) struct Overlay<'a> {
    pub(super) view: &'a mut dyn GraphView,
    pub(super) changes: &'a Changes,
}

/// How far a scan has come.
#[derive(Debug, Clone, Copy)]
pub(super) enum Position {
    After(Option<RowNo>),
    /// What is under the changes was seen.
    Changed,
    End,
}

impl Overlay<'_> {
    /// These rows, as far as they are there.
    pub(super) async fn rows(
        &mut self,
        tag: Tag,
        rows: &BTreeSet<RowNo>,
    ) -> Result<Vec<StoredRow>, StoreError> {
        let (mut found, mut under) = (Vec::new(), Vec::new());
        for row in rows {
            if self.changes.rows.contains_key(&(tag, *row)) {
                found.extend(self.changed(tag, *row));
            } else {
                under.push(*row);
            }
        }
        if !under.is_empty() {
            found.extend(self.view.rows(tag, &under).await?);
        }
        Ok(found)
    }

    /// Some rows of a type; all of them, asked until the end.
    pub(super) async fn scan(
        &mut self,
        tag: Tag,
        position: &mut Position,
        limit: u32,
    ) -> Result<Vec<StoredRow>, StoreError> {
        let Position::After(after) = *position else {
            let all = matches!(*position, Position::Changed);
            *position = Position::End;
            return Ok(if all { self.all_changed(tag) } else { Vec::new() });
        };
        let mut page = self.view.scan(tag, after, limit).await?;
        *position = match page.last() {
            Some(last) => Position::After(Some(last.row)),
            None => Position::Changed,
        };
        page.retain(|row| !self.changes.rows.contains_key(&(tag, row.row)));
        Ok(page)
    }

    /// Edges that begin (or end) at these nodes, with their bodies.
    pub(super) async fn edges(
        &mut self,
        tag: Tag,
        side: Side,
        of: &BTreeSet<RowNo>,
        bodies: bool,
    ) -> Result<Vec<StoredRow>, StoreError> {
        if of.is_empty() {
            return Ok(Vec::new());
        }
        let nodes: Vec<RowNo> = of.iter().copied().collect();
        let mut edges = self.view.edges(tag, side, &nodes, bodies).await?;
        edges.retain(|row| !self.changes.rows.contains_key(&(tag, row.row)));
        let at = |row: &StoredRow| {
            row.ends
                .is_some_and(|(from, to)| of.contains(if side == Side::From { &from } else { &to }))
        };
        edges.extend(self.all_changed(tag).into_iter().filter(at));
        Ok(edges)
    }

    /// Rows of a type that an index has in a range, and all that changed: perhaps more than is
    /// wanted, never less.
    pub(super) async fn index(
        &mut self,
        tag: Tag,
        index: Tag,
        range: &IndexRange,
        limit: u32,
    ) -> Result<Option<BTreeSet<RowNo>>, StoreError> {
        let found = self.view.index(index, range, limit).await?;
        let changed = self.all_changed(tag).into_iter().map(|row| row.row);
        Ok(found.map(|rows| rows.into_iter().chain(changed).collect()))
    }

    /// Rows of a type that are there because they were changed.
    fn all_changed(&self, tag: Tag) -> Vec<StoredRow> {
        let of_type = (tag, RowNo(i64::MIN))..=(tag, RowNo(i64::MAX));
        let keys = self.changes.rows.range(of_type);
        keys.filter_map(|((tag, row), _)| self.changed(*tag, *row)).collect()
    }

    /// A row that changed, as it will be; none if it is gone.
    fn changed(&self, tag: Tag, row: RowNo) -> Option<StoredRow> {
        let change = self.changes.rows.get(&(tag, row))?;
        let body = Some(change.after.clone()?);
        let placed = self.view.placed();
        Some(StoredRow {
            tag,
            row,
            line: placed.line,
            seq: placed.head + 1,
            ends: change.ends,
            body,
        })
    }
}
