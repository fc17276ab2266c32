//! Rows that are ready to be written, put aside until a store asks for them.

use std::io::{self, BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;

use narthex_store::{RowNo, RowSource, RowWrite, StoreError, Tag, TextEntry};
use serde_json::Value as Json;

use super::spool::{Kept, Part, Spool};
use super::wire;

/// Takes rows in, in the order they are to be written.
#[derive(Debug)]
pub(crate) struct Readying {
    spool: Spool,
    rows: u64,
    bytes: Vec<u8>,
}

/// Rows as they were taken in.
#[derive(Debug)]
struct Ready {
    kept: Arc<Kept>,
    len: u64,
    rows: u64,
}

impl Readying {
    pub(crate) fn within(dir: Option<PathBuf>) -> Self {
        Self { spool: Spool::within(dir), rows: 0, bytes: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: &RowWrite) -> io::Result<()> {
        self.bytes.clear();
        encode(row, &mut self.bytes);
        self.rows += 1;
        self.spool.append(&self.bytes)
    }

    pub(crate) fn finish(self) -> io::Result<Arc<dyn RowSource>> {
        let (len, rows) = (self.spool.len(), self.rows);
        Ok(Arc::new(Ready { kept: self.spool.keep()?, len, rows }))
    }
}

impl RowSource for Ready {
    fn count(&self) -> u64 {
        self.rows
    }

    fn pages(&self) -> Box<dyn Iterator<Item = Result<Vec<RowWrite>, StoreError>> + Send> {
        let from = BufReader::with_capacity(READ_BYTES, self.kept.part(0..self.len));
        Box::new(Pages { from, left: self.rows })
    }
}

struct Pages {
    from: BufReader<Part>,
    left: u64,
}

impl Iterator for Pages {
    type Item = Result<Vec<RowWrite>, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let count = self.left.min(PAGE);
        if count == 0 {
            return None;
        }
        self.left -= count;
        let page: io::Result<Vec<RowWrite>> = (0..count).map(|_| decode(&mut self.from)).collect();
        if page.is_err() {
            self.left = 0;
        }
        Some(page.map_err(super::unspooled))
    }
}

fn encode(row: &RowWrite, bytes: &mut Vec<u8>) {
    wire::put_number(bytes, row.tag.0);
    wire::put_number(bytes, row.row.0);
    wire::put_pair(bytes, row.ends.map(|(from, to)| (from.0, to.0)));
    bytes.push(u8::from(row.body.is_some()));
    if let Some(body) = &row.body {
        wire::put_text(bytes, body);
    }
    for entries in [&row.unindex, &row.index] {
        wire::put_number(bytes, i64::try_from(entries.len()).unwrap_or(i64::MAX));
        for (index, value) in entries {
            wire::put_number(bytes, index.0);
            wire::put_text(bytes, &value.to_string());
        }
    }
    wire::put_number(bytes, i64::try_from(row.texts.len()).unwrap_or(i64::MAX));
    for text in &row.texts {
        wire::put_number(bytes, text.index.0);
        wire::put_text(bytes, &text.words);
    }
}

fn decode(from: &mut impl Read) -> io::Result<RowWrite> {
    Ok(RowWrite {
        tag: Tag(wire::number(from)?),
        row: RowNo(wire::number(from)?),
        ends: wire::pair(from)?.map(|(from, to)| (RowNo(from), RowNo(to))),
        body: if wire::flag(from)? { Some(wire::text(from)?) } else { None },
        unindex: entries(from)?,
        index: entries(from)?,
        texts: (0..wire::count(from)?)
            .map(|_| {
                let index = Tag(wire::number(from)?);
                Ok(TextEntry { index, words: wire::text(from)? })
            })
            .collect::<io::Result<_>>()?,
    })
}

fn entries(from: &mut impl Read) -> io::Result<Vec<(Tag, Json)>> {
    let count = wire::count(from)?;
    (0..count)
        .map(|_| {
            let index = Tag(wire::number(from)?);
            Ok((index, serde_json::from_str(&wire::text(from)?)?))
        })
        .collect()
}

/// Rows that are given at once.
const PAGE: u64 = 4_096;
const READ_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use narthex_store::{RowNo, RowWrite, Tag, TextEntry};
    use serde_json::json;

    use super::{PAGE, Readying};

    #[test]
    fn rows_come_back_as_they_were() {
        let row = |n: i64| RowWrite {
            tag: Tag(-n),
            row: RowNo(n),
            ends: (n % 2 == 0).then_some((RowNo(n), RowNo(i64::MIN))),
            body: (n % 3 > 0).then(|| format!("{{\"é\":{n}}}")),
            unindex: vec![(Tag(n), json!("a\"é"))],
            index: vec![(Tag(1), json!(i64::MIN)), (Tag(2), json!(0.1)), (Tag(3), json!("é"))],
            texts: vec![TextEntry { index: Tag(3), words: "é x".to_owned() }],
        };
        let count = i64::try_from(PAGE).unwrap() + 5;
        let mut readying = Readying::within(None);
        for n in 0..count {
            readying.push(&row(n)).unwrap();
        }
        let ready = readying.finish().unwrap();
        assert_eq!(ready.count(), PAGE + 5);
        for _ in 0..2 {
            let pages: Vec<Vec<RowWrite>> = ready.pages().collect::<Result<_, _>>().unwrap();
            assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [4_096, 5]);
            for (n, back) in (0..).zip(pages.into_iter().flatten()) {
                assert_eq!(format!("{back:?}"), format!("{:?}", row(n)));
            }
        }
    }
}
