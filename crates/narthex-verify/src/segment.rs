//! An exported piece of a ledger: a text file that stands alone.
//!
//! ```text
//! narthex-segment-v1
//! from <records before it>
//! C <size> <frontier> <note in base64>      the checkpoint it begins at, unless it begins at 0
//! R <chain value> <record>                  one line a record …
//! C <size> <frontier> <note in base64>      … and the checkpoints among them; it ends with one
//! ```

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::anchor::Anchor;
use crate::fault::{Failure, Fault};
use crate::hash::unhex;
use crate::note::PublicKey;
use crate::walk::{Keys, RecordRow, Report, SealRow, Walk};

/// Walks an exported segment. `progress` hears the number of the record it came to.
pub fn verify_segment(
    path: &Path,
    key: &PublicKey,
    anchors: Vec<Anchor>,
    progress: impl FnMut(u64),
) -> Result<Report, Failure> {
    let file =
        File::open(path).map_err(|error| Failure::File(format!("{}: {error}", path.display())))?;
    verify(BufReader::new(file), key, anchors, progress)
}

fn verify(
    mut from: impl BufRead,
    key: &PublicKey,
    anchors: Vec<Anchor>,
    mut progress: impl FnMut(u64),
) -> Result<Report, Failure> {
    if line(&mut from)?.as_deref() != Some(MAGIC) {
        return Err(no_segment("it begins otherwise"));
    }
    let size = line(&mut from)?.and_then(|text| text.strip_prefix("from ")?.parse().ok());
    let mut seq: u64 = size.ok_or_else(|| no_segment("its second line is of another form"))?;
    let keys = Keys { seal: Some(key.clone()), head: None };
    let mut walk = start(&mut from, seq, keys, anchors)?;
    let mut waiting: Option<RecordRow> = None;
    let mut sealed = false;
    while let Some(text) = line(&mut from)? {
        match Line::read(&text, seq) {
            Some(Line::Record(row)) => {
                advance(&mut walk, waiting.replace(row), &[])?;
                (seq, sealed) = (seq + 1, false);
                if seq.is_multiple_of(STEP) {
                    progress(seq);
                }
            }
            Some(Line::Checkpoint(seal)) => {
                advance(&mut walk, waiting.take(), &[seal])?;
                sealed = true;
            }
            None => return Err(Fault::Unreadable { seq: seq + 1 }.into()),
        }
    }
    if !sealed {
        return Err(Fault::Unsealed { size: seq }.into());
    }
    Ok(walk.end()?)
}

fn advance(walk: &mut Walk, row: Option<RecordRow>, seals: &[SealRow]) -> Result<(), Fault> {
    match row {
        None => walk.advance(&[], seals),
        Some(row) => walk.advance(&[row], seals),
    }
}

/// A segment that does not begin at the first record begins at a signed checkpoint.
fn start(
    from: &mut impl BufRead,
    size: u64,
    keys: Keys,
    anchors: Vec<Anchor>,
) -> Result<Walk, Failure> {
    if size == 0 {
        return Ok(Walk::start(keys, None, None, anchors)?);
    }
    match line(from)?.and_then(|text| Line::read(&text, 0)) {
        Some(Line::Checkpoint(seal)) if u64::try_from(seal.size) == Ok(size) => {
            Ok(Walk::start_at(keys, &seal, anchors)?)
        }
        _ => Err(Fault::Unsealed { size }.into()),
    }
}

enum Line {
    Record(RecordRow),
    Checkpoint(SealRow),
}

impl Line {
    fn read(text: &str, before: u64) -> Option<Self> {
        if let Some(record) = text.strip_prefix("R ") {
            let (hash, bytes) = record.split_once(' ')?;
            let seq = i64::try_from(before + 1).ok()?;
            let bytes = bytes.as_bytes().to_vec();
            return Some(Self::Record(RecordRow { seq, bytes, hash: unhex(hash)? }));
        }
        let mut words = text.strip_prefix("C ")?.split(' ');
        let size = words.next()?.parse().ok()?;
        let frontier = unhex(words.next()?)?;
        let note = String::from_utf8(STANDARD.decode(words.next()?).ok()?).ok()?;
        words.next().is_none().then_some(Self::Checkpoint(SealRow { size, note, frontier }))
    }
}

/// The next line without its end; none after the last. A file that breaks off in a line is cut.
fn line(from: &mut impl BufRead) -> Result<Option<String>, Failure> {
    let mut text = String::new();
    let read = from.take(LONGEST).read_line(&mut text);
    read.map_err(|error| no_segment(&error.to_string()))?;
    match text.strip_suffix('\n') {
        Some(whole) => Ok(Some(whole.to_owned())),
        None if text.is_empty() => Ok(None),
        None => Err(no_segment("it breaks off in the middle of a line")),
    }
}

fn no_segment(why: &str) -> Failure {
    Failure::File(format!("this is not a whole segment: {why}"))
}

const MAGIC: &str = "narthex-segment-v1";
/// Longer than any record of ours.
const LONGEST: u64 = 1024 * 1024;
/// Records between two words of progress.
const STEP: u64 = 4_096;
