//! Bytes that are put aside: in memory while they are few, in a file without a name when they are
//! many. Whatever happens to the process, nothing of them is left.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::Arc;

/// Takes bytes in.
#[derive(Debug, Default)]
pub(crate) struct Spool {
    /// Where its file is made; where the system puts such files, unless said.
    dir: Option<PathBuf>,
    memory: Vec<u8>,
    file: Option<File>,
    /// How many bytes are in the file, all of them before those in memory.
    filed: u64,
}

/// What was taken in.
#[derive(Debug)]
pub(crate) struct Kept {
    memory: Vec<u8>,
    file: Option<File>,
    filed: u64,
}

/// A part of it, from its beginning on.
#[derive(Debug)]
pub(crate) struct Part {
    kept: Arc<Kept>,
    left: Range<u64>,
}

impl Spool {
    pub(crate) fn within(dir: Option<PathBuf>) -> Self {
        Self { dir, ..Self::default() }
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.memory.len().saturating_add(bytes.len()) > HELD_BYTES {
            self.put_aside()?;
        }
        self.memory.extend_from_slice(bytes);
        Ok(())
    }

    pub(crate) fn len(&self) -> u64 {
        self.filed.saturating_add(self.memory.len() as u64)
    }

    pub(crate) fn keep(mut self) -> io::Result<Arc<Kept>> {
        if self.file.is_some() {
            self.put_aside()?;
        }
        let memory = if self.file.is_some() { Vec::new() } else { self.memory };
        Ok(Arc::new(Kept { memory, file: self.file, filed: self.filed }))
    }

    fn put_aside(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(match &self.dir {
                Some(dir) => tempfile::tempfile_in(dir)?,
                None => tempfile::tempfile()?,
            }),
        };
        file.write_all(&self.memory)?;
        self.filed = self.filed.saturating_add(self.memory.len() as u64);
        self.memory.clear();
        Ok(())
    }
}

impl Kept {
    pub(crate) fn part(self: &Arc<Self>, part: Range<u64>) -> Part {
        Part { kept: Arc::clone(self), left: part }
    }
}

impl Read for Part {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Self { kept, left } = self;
        let most = usize::try_from(left.end.saturating_sub(left.start)).unwrap_or(usize::MAX);
        let most = most.min(into.len());
        let into = into.get_mut(..most).unwrap_or_default();
        let read = match &kept.file {
            Some(file) if left.start < kept.filed => file.read_at(into, left.start)?,
            _ => {
                let from = usize::try_from(left.start.saturating_sub(kept.filed)).ok();
                from.and_then(|from| kept.memory.get(from..)).unwrap_or_default().read(into)?
            }
        };
        left.start = left.start.saturating_add(read as u64);
        Ok(read)
    }
}

/// What is held in memory, from which on it goes to the file.
pub(crate) const HELD_BYTES: usize = 8 << 20;

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::{HELD_BYTES, Spool};

    #[test]
    fn what_went_in_comes_out_wherever_it_lay() {
        let dir = tempfile::tempdir().unwrap();
        for count in [0, 10, 3 * HELD_BYTES / 1_000] {
            let mut spool = Spool::within(Some(dir.path().to_owned()));
            for n in 0..count {
                spool.append(&[u8::try_from(n % 251).unwrap(); 1_000]).unwrap();
                assert!(spool.memory.len() <= HELD_BYTES);
            }
            assert_eq!(spool.len(), 1_000 * count as u64);
            let kept = spool.keep().unwrap();
            assert_eq!(kept.file.is_some(), count > 10);
            let mut all = Vec::new();
            kept.part(0..1_000 * count as u64).read_to_end(&mut all).unwrap();
            assert!(all.chunks(1_000).zip((0..251).cycle()).all(|(some, n)| some == [n; 1_000]));
            assert_eq!(all.len(), 1_000 * count);
            let mut middle = Vec::new();
            if count > 5 {
                kept.part(4_999..5_001).read_to_end(&mut middle).unwrap();
                assert_eq!(middle, [4, 5]);
            }
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "no file has a name");
    }
}
