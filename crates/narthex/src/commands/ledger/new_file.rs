//! A new file that only its owner can read; never over one that is there.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::{Exit, Failure};

pub(super) struct NewFile<'a> {
    path: &'a Path,
    file: BufWriter<File>,
}

impl<'a> NewFile<'a> {
    pub(super) fn create(path: &'a Path) -> Result<Self, Failure> {
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        match made {
            Ok(file) => Ok(Self { path, file: BufWriter::new(file) }),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let message = format!("{} exists already", path.display());
                Err(Failure::new(Exit::Conflict, message).hint("name a file that does not exist"))
            }
            Err(error) => Err(Failure::file(path, &error)),
        }
    }

    pub(super) fn line(&mut self, line: &[u8]) -> Result<(), Failure> {
        let written = self.file.write_all(line).and_then(|()| self.file.write_all(b"\n"));
        written.map_err(|error| Failure::file(self.path, &error))
    }

    /// Everything is on the disk after this, the name of the file as well.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let synced = self
            .file
            .flush()
            .and_then(|()| self.file.get_ref().sync_all())
            .and_then(|()| File::open(folder.unwrap_or(Path::new(".")))?.sync_all());
        synced.map_err(|error| Failure::file(self.path, &error))
    }
}
