//! A socket's path is limited to 108 bytes; a data directory's is not.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// A path to a socket that fits, kept good by an open handle on its folder where needed.
#[derive(Debug)]
pub(super) struct ShortPath {
    pub(super) path: PathBuf,
    _folder: Option<File>,
}

impl ShortPath {
    pub(super) fn of(socket: &Path) -> io::Result<Self> {
        if socket.as_os_str().len() < LIMIT {
            return Ok(Self { path: socket.to_owned(), _folder: None });
        }
        let missing = || io::Error::new(io::ErrorKind::InvalidInput, "the socket has no folder");
        let folder = File::open(socket.parent().ok_or_else(missing)?)?;
        let name = socket.file_name().ok_or_else(missing)?;
        let path = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
        Ok(Self { path, _folder: Some(folder) })
    }
}

const LIMIT: usize = 100;
