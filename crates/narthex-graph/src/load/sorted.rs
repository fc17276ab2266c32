//! Rows of a file, put in order with little in memory: runs that are sorted one by one are put
//! aside, and read together.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, BufReader};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use narthex_store::RowNo;

use super::spool::{HELD_BYTES, Kept, Part, Spool};
use super::wire;

/// A row of a file. They are ordered by type, number and line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileRow {
    /// Its type's place among the types.
    pub(crate) rank: u16,
    pub(crate) row: RowNo,
    /// The line it is on.
    pub(crate) line: u64,
    pub(crate) ends: Option<(RowNo, RowNo)>,
    pub(crate) body: String,
}

/// Some rows as bytes, and where each lies among them.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
    places: Vec<(u16, RowNo, Range<usize>)>,
}

impl Packed {
    pub(crate) fn push(&mut self, row: &FileRow) {
        let bytes = &mut self.bytes;
        let start = bytes.len();
        wire::put_number(bytes, i64::from(row.rank));
        wire::put_number(bytes, row.row.0);
        wire::put_number(bytes, i64::try_from(row.line).unwrap_or(i64::MAX));
        wire::put_pair(bytes, row.ends.map(|(from, to)| (from.0, to.0)));
        wire::put_text(bytes, &row.body);
        self.places.push((row.rank, row.row, start..bytes.len()));
    }

    /// The type and number of each.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (u16, RowNo)> {
        self.places.iter().map(|(rank, row, _)| (*rank, *row))
    }
}

/// Takes rows in any order.
#[derive(Debug, Default)]
pub(crate) struct Sorter {
    spool: Spool,
    /// The run that is being gathered.
    pending: Packed,
    runs: Vec<Range<u64>>,
}

/// Rows in order, as often as they are asked for.
#[derive(Debug)]
pub(crate) struct Sorted {
    kept: Arc<Kept>,
    runs: Vec<Range<u64>>,
}

/// Rows in order, from the first.
#[derive(Debug)]
pub(crate) struct InOrder {
    runs: Vec<BufReader<Part>>,
    /// The next row of each run.
    next: BinaryHeap<Reverse<(FileRow, usize)>>,
}

impl Sorter {
    pub(crate) fn within(dir: Option<PathBuf>) -> Self {
        Self { spool: Spool::within(dir), ..Self::default() }
    }

    /// Takes some more. They come after those that were taken before.
    pub(crate) fn add(&mut self, rows: &Packed) -> io::Result<()> {
        if self.pending.bytes.len() + rows.bytes.len() > HELD_BYTES {
            self.end_run()?;
        }
        let Packed { bytes, places } = &mut self.pending;
        let start = bytes.len();
        bytes.extend_from_slice(&rows.bytes);
        let moved = |at: &Range<usize>| at.start + start..at.end + start;
        places.extend(rows.places.iter().map(|(rank, row, at)| (*rank, *row, moved(at))));
        Ok(())
    }

    /// About how many bytes were taken in.
    pub(crate) fn bytes(&self) -> u64 {
        self.spool.len().saturating_add(self.pending.bytes.len() as u64)
    }

    pub(crate) fn finish(mut self) -> io::Result<Sorted> {
        self.end_run()?;
        let Self { spool, runs, .. } = self;
        Ok(Sorted { kept: spool.keep()?, runs })
    }

    fn end_run(&mut self) -> io::Result<()> {
        // Those that came later lie further on: rows of the same name stay in the order of lines.
        let place = |of: &(u16, RowNo, Range<usize>)| (of.0, of.1, of.2.start);
        let Packed { bytes, places } = &mut self.pending;
        places.sort_unstable_by_key(place);
        let start = self.spool.len();
        for (_, _, at) in places.drain(..) {
            self.spool.append(bytes.get(at).unwrap_or_default())?;
        }
        bytes.clear();
        if self.spool.len() > start {
            self.runs.push(start..self.spool.len());
        }
        Ok(())
    }
}

impl Sorted {
    pub(crate) fn rows(&self) -> io::Result<InOrder> {
        let part =
            |run: &Range<u64>| BufReader::with_capacity(READ_BYTES, self.kept.part(run.clone()));
        let mut rows =
            InOrder { runs: self.runs.iter().map(part).collect(), next: BinaryHeap::new() };
        for run in 0..rows.runs.len() {
            rows.advance(run)?;
        }
        Ok(rows)
    }
}

impl InOrder {
    /// The type and number of the row that is next.
    pub(crate) fn peek(&self) -> Option<(u16, RowNo)> {
        self.next.peek().map(|Reverse((row, _))| (row.rank, row.row))
    }

    pub(crate) fn take(&mut self) -> io::Result<Option<FileRow>> {
        let Some(Reverse((row, run))) = self.next.pop() else { return Ok(None) };
        self.advance(run)?;
        Ok(Some(row))
    }

    fn advance(&mut self, run: usize) -> io::Result<()> {
        let Some(from) = self.runs.get_mut(run) else { return Ok(()) };
        if io::BufRead::fill_buf(from)?.is_empty() {
            return Ok(());
        }
        let numbers = |(from, to)| (RowNo(from), RowNo(to));
        let row = FileRow {
            rank: u16::try_from(wire::number(from)?).map_err(io::Error::other)?,
            row: RowNo(wire::number(from)?),
            line: wire::count(from)? as u64,
            ends: wire::pair(from)?.map(numbers),
            body: wire::text(from)?,
        };
        self.next.push(Reverse((row, run)));
        Ok(())
    }
}

/// Of each run, at once.
const READ_BYTES: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use narthex_store::RowNo;

    use super::{FileRow, Packed, Sorter};

    #[test]
    fn rows_come_in_order_however_many() {
        for (count, wide) in [(0, 1), (1_000, 1), (60_000, 400)] {
            let mut sorter = Sorter::default();
            let mut all = Vec::new();
            for n in 0..count {
                let spread = (n * 7_919) % 1_009;
                let row = FileRow {
                    rank: u16::try_from(spread % 3).unwrap(),
                    row: RowNo(spread - 500),
                    line: u64::try_from(n).unwrap(),
                    ends: (spread % 2 == 0).then_some((RowNo(n), RowNo(-n))),
                    body: format!("{n:>wide$}é"),
                };
                let mut packed = Packed::default();
                packed.push(&row);
                sorter.add(&packed).unwrap();
                all.push(row);
            }
            all.sort();
            let sorted = sorter.finish().unwrap();
            assert_eq!(sorted.runs.len() > 1, wide > 1);
            for _ in 0..2 {
                let mut rows = sorted.rows().unwrap();
                for row in &all {
                    assert_eq!(rows.peek(), Some((row.rank, row.row)));
                    assert_eq!(rows.take().unwrap().as_ref(), Some(row));
                }
                assert_eq!((rows.peek(), rows.take().unwrap()), (None, None));
            }
        }
    }
}
