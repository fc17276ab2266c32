//! The owner's file of servers, read again whenever it is another.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crate::config::{self, ConfigError, ServersFile};

/// The file. What it says counts from the next call on; while it cannot be read, nothing in it does.
#[derive(Debug)]
pub(super) struct Sheet {
    path: PathBuf,
    most: usize,
    known: Mutex<Option<(Stamp, Reading)>>,
}

type Reading = Result<Arc<ServersFile>, SheetFault>;

/// Why the file says nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SheetFault {
    /// It cannot be read.
    #[error("{path} cannot be read: {why}")]
    Unreadable {
        /// Where.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Anyone on this machine could name a command in it.
    #[error("{0} can be changed by everyone on this machine; take that away: chmod o-w {0}")]
    Exposed(PathBuf),
    /// What it says is wrong.
    #[error("{path}:{error}")]
    Wrong {
        /// Where.
        path: PathBuf,
        /// What.
        error: Arc<ConfigError>,
    },
}

/// By what a file is known again. None: it is not there.
type Stamp = Option<(SystemTime, u64, u64, u32)>;

impl Sheet {
    pub(super) const fn new(path: PathBuf, most: usize) -> Self {
        Self { path, most, known: Mutex::new(None) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What it says now. A file that is not there names no server.
    pub(super) fn now(&self) -> Reading {
        let stamp = stamp(&self.path).map_err(|error| self.unreadable(&error))?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((then, reading)) = &*known
            && *then == stamp
        {
            return reading.clone();
        }
        let reading = self.read(stamp);
        *known = Some((stamp, reading.clone()));
        reading
    }

    fn read(&self, stamp: Stamp) -> Reading {
        if stamp.is_none() {
            return Ok(Arc::default());
        }
        if is_exposed(&self.path) {
            return Err(SheetFault::Exposed(self.path.clone()));
        }
        let text = fs::read_to_string(&self.path).map_err(|error| self.unreadable(&error))?;
        config::read(&text, self.most)
            .map(Arc::new)
            .map_err(|error| SheetFault::Wrong { path: self.path.clone(), error: Arc::new(error) })
    }

    fn unreadable(&self, error: &io::Error) -> SheetFault {
        SheetFault::Unreadable { path: self.path.clone(), why: error.to_string() }
    }
}

fn stamp(path: &Path) -> io::Result<Stamp> {
    match fs::metadata(path) {
        Ok(metadata) => {
            Ok(Some((metadata.modified()?, metadata.len(), inode(&metadata), mode(&metadata))))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn inode(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_metadata: &fs::Metadata) -> u64 {
    0
}

#[cfg(unix)]
fn mode(metadata: &fs::Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::mode(metadata)
}

#[cfg(not(unix))]
fn mode(_metadata: &fs::Metadata) -> u32 {
    0
}

#[cfg(unix)]
fn is_exposed(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).is_ok_and(|metadata| metadata.mode() & 0o002 != 0)
}

#[cfg(not(unix))]
fn is_exposed(_path: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Sheet, SheetFault};

    #[test]
    fn it_is_read_again_when_it_is_another_and_says_nothing_while_it_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.json");
        let sheet = Sheet::new(path.clone(), 20);
        assert!(sheet.now().unwrap().servers.is_empty(), "it is not there");
        fs::write(&path, r#"{"mcpServers":{"a":{"command":"x"}}}"#).unwrap();
        assert_eq!(sheet.now().unwrap().servers.len(), 1);
        fs::write(&path, r#"{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"}}}"#).unwrap();
        assert_eq!(sheet.now().unwrap().servers.len(), 2);
        fs::write(&path, r#"{"mcpServers":{"a":{"command":"x","colour":1}}}"#).unwrap();
        let fault = sheet.now().unwrap_err().to_string();
        assert!(fault.contains("mcp.json:") && fault.contains("colour"), "{fault}");
        fs::remove_file(&path).unwrap();
        assert!(sheet.now().unwrap().servers.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_anyone_can_change_names_no_command() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.json");
        fs::write(&path, r#"{"mcpServers":{"a":{"command":"x"}}}"#).unwrap();
        let sheet = Sheet::new(path.clone(), 20);
        assert_eq!(sheet.now().unwrap().servers.len(), 1);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(matches!(sheet.now(), Err(SheetFault::Exposed(_))));
    }
}
