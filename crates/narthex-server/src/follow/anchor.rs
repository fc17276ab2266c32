//! The anchor: a signed checkpoint in a file, best on another volume or another machine, so that
//! a ledger that was rolled back is caught.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::{News, Sink};

#[derive(Debug)]
pub(super) struct Anchor {
    path: PathBuf,
}

impl Anchor {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self { path }
    }
}

impl Sink for Anchor {
    fn takes_seals(&self) -> bool {
        true
    }

    fn last(&mut self) -> io::Result<u64> {
        match fs::read_to_string(&self.path) {
            Ok(note) => {
                let size = note.lines().nth(1).and_then(|size| size.parse().ok());
                size.ok_or_else(|| {
                    io::Error::other(format!("{} holds no checkpoint", self.path.display()))
                })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    fn take(&mut self, news: &News) -> io::Result<()> {
        match news {
            News::Seal(seal) => replace(&self.path, seal.note.as_bytes()),
            News::Records(_) => Ok(()),
        }
    }
}

/// Whoever reads finds the old file or the new one, whole, whenever the power fails.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(".new");
    let draft = PathBuf::from(draft);
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o644).open(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use narthex_store::chain::Seal;

    use super::{Anchor, News, Sink as _};

    #[test]
    fn the_newest_checkpoint_replaces_the_one_before() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("anchor");
        let mut anchor = Anchor::new(path.clone());
        assert_eq!(anchor.last().expect("none yet"), 0);
        for size in [7, 300] {
            let note = format!("narthex/x\n{size}\nroot\n");
            anchor.take(&News::Seal(Seal { size, note, frontier: Vec::new() })).expect("written");
            assert_eq!(anchor.last().expect("reads"), size);
        }
        assert_eq!(std::fs::read_dir(dir.path()).expect("folder").count(), 1);
        std::fs::write(&path, "something else").expect("written");
        anchor.last().expect_err("it is no anchor of ours");
    }
}
