//! The rows of a file against what is there, in order and a page at a time: what changes is checked,
//! goes into the commit's name, and is put aside ready to be written.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use narthex_store::{GraphView, LineNo, RowNo, RowWrite, StoredRow, Tag};

use super::LoadMode;
use super::bundle::Reader;
use super::types::Type;
use crate::engine::GraphError;
use crate::engine::commit::Ready;
use crate::exec::constraints::{ChangeSet, Check, Content, Row};
use crate::exec::{Changed, Context, Counts, ExecError};
use crate::history::{ChangedRow, ChangesDigest};
use crate::load::ready::Readying;
use crate::load::sorted::{FileRow, InOrder, Sorted, Sorter};
use crate::load::{LoadError, unspooled};

/// All rows of a file.
pub(super) struct FileRows {
    reader: Arc<Reader>,
    sorted: Sorted,
    /// In order.
    keys: Vec<(u16, RowNo)>,
    mode: LoadMode,
}

impl FileRows {
    pub(super) fn of(
        reader: Arc<Reader>,
        rows: Sorter,
        mut keys: Vec<(u16, RowNo)>,
        mode: LoadMode,
    ) -> io::Result<Self> {
        keys.sort_unstable();
        Ok(Self { reader, sorted: rows.finish()?, keys, mode })
    }
}

impl ChangeSet for FileRows {
    fn there(&self, tag: Tag, row: RowNo) -> Option<bool> {
        let rank = self.reader.types.rank_of(tag)?;
        if self.keys.binary_search(&(rank, row)).is_ok() {
            return Some(true);
        }
        (self.mode == LoadMode::Overwrite).then_some(false)
    }

    fn bodies(
        &self,
        tag: Tag,
        rows: &BTreeSet<RowNo>,
    ) -> Result<BTreeMap<RowNo, String>, ExecError> {
        let rank = self.reader.types.rank_of(tag);
        let mut bodies = BTreeMap::new();
        let mut all = self.sorted.rows().map_err(unspooled)?;
        while bodies.len() < rows.len() {
            let Some(row) = all.take().map_err(unspooled)? else { break };
            if Some(row.rank) == rank && rows.contains(&row.row) {
                bodies.insert(row.row, row.body);
            }
        }
        Ok(bodies)
    }
}

/// One go over all rows.
pub(super) struct Pass<'a> {
    context: &'a Context<'a>,
    file: &'a FileRows,
    /// The line that is written on.
    line: LineNo,
    check: Check<'a>,
    digest: ChangesDigest,
    counts: Counts,
    ready: Readying,
    rows: InOrder,
}

impl<'a> Pass<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        file: &'a FileRows,
        line: LineNo,
        spool: Option<PathBuf>,
    ) -> io::Result<Self> {
        Ok(Self {
            context,
            file,
            line,
            check: Check::new(context),
            digest: ChangesDigest::default(),
            counts: Counts::default(),
            ready: Readying::within(spool),
            rows: file.sorted.rows()?,
        })
    }

    pub(super) async fn run(mut self, view: &mut dyn GraphView) -> Result<Ready, GraphError> {
        for (rank, of) in self.file.reader.types.ranked() {
            let mut there = There::default();
            loop {
                let page = match self.file.mode {
                    LoadMode::Overwrite => self.all_page(view, rank, of, &mut there).await?,
                    LoadMode::Merge | LoadMode::Append => self.file_page(view, rank, of).await?,
                };
                if page.is_empty() {
                    break;
                }
                self.page(view, of, &page).await?;
                tokio::task::yield_now().await;
            }
        }
        let violations = self.check.finish(view, self.file).await?;
        if !violations.is_empty() {
            return Err(ExecError::Violations(violations).into());
        }
        let rows = self.ready.finish().map_err(unspooled)?;
        Ok(Ready { rows, digest: self.digest.finish(), counts: self.counts })
    }

    /// Some rows of the file, of one type, with what is there of them.
    async fn file_page(
        &mut self,
        view: &mut dyn GraphView,
        rank: u16,
        of: &Type,
    ) -> Result<Vec<(RowNo, Changed)>, GraphError> {
        let mut rows = Vec::new();
        while rows.len() < PAGE
            && let Some(row) = self.next_of(rank)?
        {
            rows.push(row);
        }
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let numbers: Vec<RowNo> = rows.iter().map(|row| row.row).collect();
        let found = view.rows(of.tag, &numbers).await?;
        let mut before: BTreeMap<RowNo, StoredRow> =
            found.into_iter().map(|row| (row.row, row)).collect();
        let mut page = Vec::with_capacity(rows.len());
        for row in rows {
            let before = before.remove(&row.row);
            if before.is_some() && self.file.mode == LoadMode::Append {
                let message = "the row is there already; load it with mode `merge` to change it";
                return Err(LoadError::new(row.line, None, message).into());
            }
            page.push((row.row, put(of, row, before)));
        }
        Ok(page)
    }

    /// Some rows of one type, of the file and of what is there: what the file does not have goes.
    async fn all_page(
        &mut self,
        view: &mut dyn GraphView,
        rank: u16,
        of: &Type,
        there: &mut There,
    ) -> Result<Vec<(RowNo, Changed)>, GraphError> {
        let mut page = Vec::new();
        while page.len() < PAGE {
            let next = self.rows.peek().filter(|(of, _)| *of == rank).map(|(_, row)| row);
            let stored = there.peek(view, of.tag).await?;
            match (next, stored) {
                (None, None) => break,
                (Some(next), stored) if stored.is_none_or(|stored| next <= stored) => {
                    let before = there.rows.pop_front_if(|before| before.row == next);
                    if let Some(row) = self.next_of(rank)? {
                        page.push((row.row, put(of, row, before)));
                    }
                }
                _ => {
                    if let Some(row) = there.rows.pop_front() {
                        let (number, ends) = (row.row, row.ends);
                        let change =
                            Changed { kind: of.kind, before: Some(row), after: None, ends };
                        page.push((number, change));
                    }
                }
            }
        }
        Ok(page)
    }

    /// The next row of the file, if it is of this type. One that is there twice is the same, or
    /// an error.
    fn next_of(&mut self, rank: u16) -> Result<Option<FileRow>, GraphError> {
        if self.rows.peek().is_none_or(|(next, _)| next != rank) {
            return Ok(None);
        }
        let Some(row) = self.rows.take().map_err(unspooled)? else { return Ok(None) };
        while self.rows.peek() == Some((rank, row.row)) {
            let Some(again) = self.rows.take().map_err(unspooled)? else { break };
            if self.file.mode == LoadMode::Append || again.body != row.body {
                let message = format!("line {} has the same row already", row.line);
                return Err(LoadError::new(again.line, None, message).into());
            }
        }
        Ok(Some(row))
    }

    async fn page(
        &mut self,
        view: &mut dyn GraphView,
        of: &Type,
        page: &[(RowNo, Changed)],
    ) -> Result<(), GraphError> {
        let schema = self.context.schema;
        let (mut changed, mut same) = (Vec::with_capacity(page.len()), Vec::new());
        for (row, change) in page {
            let before = change.before.as_ref().and_then(|row| row.body.as_deref());
            let is_same = before == change.after.as_deref();
            let row = Row::of(schema, (of.tag, *row), change)?;
            if is_same { same.push(row) } else { changed.push(row) }
        }
        self.check.part(view, self.file, &changed).await?;
        self.check.unchanged(view, self.file, &same).await?;
        for row in &changed {
            self.counts.add(row.change);
            let body = row.change.after.as_deref();
            self.digest.add(&ChangedRow { type_slot: &of.slot, row: row.row, body });
            self.ready.push(&self.write(row)?).map_err(unspooled)?;
        }
        Ok(())
    }

    fn write(&self, row: &Row<'_>) -> Result<RowWrite, ExecError> {
        let own = row.change.before.as_ref().filter(|before| before.line == self.line);
        let unindex = match own.and_then(|before| before.body.as_deref()) {
            Some(body) => {
                Content::read(self.context.schema, row.change.kind, body)?.entries().index
            }
            None => Vec::new(),
        };
        let entries = row.after.as_ref().map(Content::entries).unwrap_or_default();
        Ok(RowWrite {
            tag: row.tag,
            row: row.row,
            ends: row.change.ends,
            body: row.change.after.clone(),
            unindex,
            index: entries.index,
            texts: entries.texts,
        })
    }
}

fn put(of: &Type, row: FileRow, before: Option<StoredRow>) -> Changed {
    Changed { kind: of.kind, before, after: Some(row.body), ends: row.ends }
}

/// What is there of one type, in order.
#[derive(Default)]
struct There {
    rows: VecDeque<StoredRow>,
    after: Option<RowNo>,
    ended: bool,
}

impl There {
    /// The number of the next.
    async fn peek(
        &mut self,
        view: &mut dyn GraphView,
        tag: Tag,
    ) -> Result<Option<RowNo>, GraphError> {
        if self.rows.is_empty() && !self.ended {
            self.rows = view.scan(tag, self.after, PAGE_ROWS).await?.into();
            self.after = self.rows.back().map(|row| row.row);
            self.ended = self.rows.is_empty();
        }
        Ok(self.rows.front().map(|row| row.row))
    }
}

/// Rows that are looked at together.
const PAGE: usize = 4_096;
const PAGE_ROWS: u32 = 4_096;
