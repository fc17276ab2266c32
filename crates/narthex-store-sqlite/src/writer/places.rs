//! Whether the files that are written to are still where they were opened.
//!
//! A file that was removed, or put in another's place, takes writes and flushes as before, and all
//! of it is gone when it is closed. So the writer looks after each commit, before it answers, and
//! once a second when it has nothing to do.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Files that must stay where they are.
#[derive(Debug)]
pub(crate) struct Places(Vec<Place>);

#[derive(Debug)]
struct Place {
    path: PathBuf,
    /// Device and inode; none while it was never there (a log before its first page).
    file: Option<(u64, u64)>,
}

impl Places {
    /// The database, its log and the head file, as they are now.
    pub(crate) fn of(database: &Path, head_file: &Path) -> Self {
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        let place = |path: PathBuf| Place { file: identity(&path), path };
        Self(vec![place(database.to_owned()), place(head_file.to_owned()), place(log.into())])
    }

    /// The first that is no longer there.
    pub(crate) fn missing(&mut self) -> Option<&Path> {
        self.0.iter_mut().find_map(|place| {
            let now = identity(&place.path);
            place.file = place.file.or(now);
            (now != place.file).then_some(place.path.as_path())
        })
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}
