//! The program that is executed, and whether it is the one that was approved.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use narthex_core::Digest;
use sha2::{Digest as _, Sha256};

use super::KeepError;

/// A program that is ready to be executed.
///
/// One that was looked at is executed through the open file it was read from, so that another
/// under the same path does not matter. What remains: whoever may write the file itself can
/// change it between the last byte that was read and the call; and a script is opened by its
/// interpreter, by its path, so that it can be replaced in the same moment (the interpreter is
/// not looked at either).
#[derive(Debug)]
pub(super) struct Program {
    path: PathBuf,
    /// Closed when the program is executed, not before.
    _open: Option<File>,
}

impl Program {
    pub(super) fn open(command: &Path, expected: Option<Digest>) -> Result<Self, KeepError> {
        let Some(expected) = expected else {
            return Ok(Self { path: command.to_owned(), _open: None });
        };
        let unread = |error: std::io::Error| KeepError::NotStarted {
            path: command.display().to_string(),
            why: format!("it could not be read to be checked: {error}"),
        };
        let mut file = File::open(command).map_err(unread)?;
        let found = digest(&mut file).map_err(unread)?;
        if found != expected {
            return Err(KeepError::Swapped {
                path: command.display().to_string(),
                found: found.to_string(),
                expected: expected.to_string(),
            });
        }
        if is_binary(&mut file).map_err(unread)? {
            let path = format!("/proc/self/fd/{}", file.as_raw_fd()).into();
            return Ok(Self { path, _open: Some(file) });
        }
        Ok(Self { path: command.to_owned(), _open: None })
    }

    /// What to execute.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

fn digest(file: &mut File) -> std::io::Result<Digest> {
    let mut hash = Sha256::new();
    let mut piece = vec![0_u8; 64 * 1024];
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            return Ok(Digest::from_bytes(hash.finalize().into()));
        }
        hash.update(piece.get(..read).unwrap_or_default());
    }
}

fn is_binary(file: &mut File) -> std::io::Result<bool> {
    let mut start = Vec::new();
    file.rewind()?;
    file.take(4).read_to_end(&mut start)?;
    Ok(start == b"\x7fELF")
}
