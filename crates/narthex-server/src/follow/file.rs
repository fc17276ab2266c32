//! The second sink as a file: every record is one line, exactly as it is in the ledger.
//!
//! The file itself says how far it got: its last whole line. A line that was cut by a crash is
//! taken away and written again, so that no record is missing and none is there twice.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use super::{News, Sink};

#[derive(Debug)]
pub(super) struct FileSink {
    path: PathBuf,
    file: Option<File>,
}

impl FileSink {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self { path, file: None }
    }

    fn open(&self) -> io::Result<File> {
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&self.path)
    }
}

impl Sink for FileSink {
    fn last(&mut self) -> io::Result<u64> {
        let mut file = self.open()?;
        let length = file.metadata()?.len();
        let tail_from = length.saturating_sub(TAIL);
        file.seek(SeekFrom::Start(tail_from))?;
        let mut tail = Vec::new();
        (&mut file).take(TAIL).read_to_end(&mut tail)?;
        let whole = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let kept = tail.get(..whole).unwrap_or_default();
        let last = kept.strip_suffix(b"\n").map(|kept| {
            let start = kept.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            kept.get(start..).unwrap_or_default()
        });
        let seq = match last {
            None if tail_from > 0 => return Err(self.foreign()),
            None => 0,
            Some(line) => seq_of(line).ok_or_else(|| self.foreign())?,
        };
        if whole < tail.len() {
            file.set_len(tail_from + whole as u64)?;
            file.sync_all()?;
        }
        file.seek(SeekFrom::End(0))?;
        self.file = Some(file);
        Ok(seq)
    }

    fn take(&mut self, news: &News) -> io::Result<()> {
        let News::Records(records) = news else { return Ok(()) };
        let Some(file) = &mut self.file else {
            return Err(io::Error::other("the file is not open"));
        };
        let mut lines = Vec::new();
        for record in records {
            lines.extend_from_slice(&record.bytes);
            lines.push(b'\n');
        }
        let written = file.write_all(&lines).and_then(|()| file.sync_data());
        if written.is_err() {
            // How much of it is there is looked up again.
            self.file = None;
        }
        written
    }
}

impl FileSink {
    fn foreign(&self) -> io::Error {
        let path = self.path.display();
        io::Error::other(format!("{path} ends with something that is no record"))
    }
}

fn seq_of(line: &[u8]) -> Option<u64> {
    #[derive(serde::Deserialize)]
    struct Numbered {
        seq: u64,
    }
    serde_json::from_slice::<Numbered>(line).ok().map(|record| record.seq)
}

/// More than any line is long.
const TAIL: u64 = 1024 * 1024;

#[cfg(test)]
mod tests {
    use narthex_core::Digest;
    use narthex_store::chain::StoredRecord;

    use super::{FileSink, News, Sink as _};

    fn records(from: u64, to: u64) -> News {
        let record = |seq| StoredRecord {
            seq,
            bytes: format!("{{\"seq\":{seq},\"v\":1}}").into_bytes(),
            hash: Digest::of(b""),
        };
        News::Records((from..=to).map(record).collect())
    }

    #[test]
    fn it_goes_on_after_the_last_whole_line_wherever_it_was_cut() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("second");
        let mut sink = FileSink::new(path.clone());
        assert_eq!(sink.last().expect("opens"), 0);
        sink.take(&records(1, 3)).expect("written");
        let whole = std::fs::read(&path).expect("reads");
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).expect("cut");
            let mut again = FileSink::new(path.clone());
            let last = again.last().expect("opens");
            if last < 3 {
                again.take(&records(last + 1, 3)).expect("written");
            }
            assert_eq!(std::fs::read(&path).expect("reads"), whole, "cut at {cut}");
        }
    }

    #[test]
    fn a_file_of_something_else_is_left_alone() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("second");
        std::fs::write(&path, "my diary\n").expect("written");
        FileSink::new(path.clone()).last().expect_err("not ours");
        assert_eq!(std::fs::read(&path).expect("reads"), b"my diary\n");
    }
}
