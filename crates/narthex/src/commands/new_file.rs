//! A new file that only its owner can read; never over one that is there, and never half of one
//! under its name.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::{Exit, Failure};

/// Written under another name in the same folder until it is whole.
pub(super) struct NewFile<'a> {
    path: &'a Path,
    partial: PathBuf,
    file: BufWriter<File>,
}

impl<'a> NewFile<'a> {
    /// Refused if there is a file of this name.
    pub(super) fn create(path: &'a Path) -> Result<Self, Failure> {
        match fs::symlink_metadata(path) {
            Ok(_) => Err(taken(path)),
            Err(_) => Self::create_or_same(path),
        }
    }

    /// A file of this name is accepted in the end if it says the same.
    pub(super) fn create_or_same(path: &'a Path) -> Result<Self, Failure> {
        let partial = partial(path);
        match begin(&partial) {
            Ok(file) => Ok(Self { path, partial, file: BufWriter::new(file) }),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock) => {
                let message = format!("{} is being written by another run", path.display());
                Err(Failure::new(Exit::Conflict, message).hint("wait for it, or name another file"))
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
        let failed = |error: io::Error| Failure::file(self.path, &error);
        self.file.flush().and_then(|()| self.file.get_ref().sync_all()).map_err(failed)?;
        match publish(&self.partial, self.path) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                // The run that wrote it may have been killed before it was on the disk.
                let same = same(&self.partial, self.path).map_err(failed)?;
                same.ok_or_else(|| taken(self.path))?.sync_all().map_err(failed)?;
            }
            Err(error) => return Err(failed(error)),
        }
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = File::open(folder.unwrap_or(Path::new(".")));
        folder.and_then(|folder| folder.sync_all()).map_err(failed)
    }
}

impl Drop for NewFile<'_> {
    // What is still here was not wanted: it failed, or the same was there already.
    fn drop(&mut self) {
        if is_at(self.file.get_ref(), &self.partial).unwrap_or(false) {
            // One that stays is replaced by the next run.
            let _ = fs::remove_file(&self.partial);
        }
    }
}

fn partial(path: &Path) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(PARTIAL);
    path.with_file_name(name)
}

/// Begins anew, in place of what a killed run left behind.
fn begin(partial: &Path) -> io::Result<File> {
    // Whoever writes holds a lock, which ends with the process: what can be locked is nobody's.
    let busy = || io::Error::from(ErrorKind::WouldBlock);
    let lock = |file: &File| match file.try_lock() {
        Ok(()) if is_at(file, partial)? => Ok(()),
        Ok(()) | Err(fs::TryLockError::WouldBlock) => Err(busy()),
        Err(fs::TryLockError::Error(error)) => Err(error),
    };
    let fresh = || OpenOptions::new().write(true).create_new(true).mode(0o600).open(partial);
    let file = match fresh() {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let left = File::open(partial)?;
            lock(&left)?;
            fs::remove_file(partial)?;
            fresh().map_err(|_| busy())?
        }
        other => other?,
    };
    lock(&file)?;
    Ok(file)
}

/// Whether this is the file that the name leads to.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let (held, named) = (file.metadata()?, fs::symlink_metadata(path));
    Ok(named.is_ok_and(|named| (named.dev(), named.ino()) == (held.dev(), held.ino())))
}

/// Gives it its name, unless that is taken.
fn publish(partial: &Path, path: &Path) -> io::Result<()> {
    match renameat_with(CWD, partial, CWD, path, RenameFlags::NOREPLACE) {
        // A file system that cannot refuse by itself.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => match fs::symlink_metadata(path) {
            Ok(_) => Err(ErrorKind::AlreadyExists.into()),
            Err(_) => fs::rename(partial, path),
        },
        other => Ok(other?),
    }
}

/// The file that is there, if it says the same.
fn same(new: &Path, there: &Path) -> io::Result<Option<File>> {
    let (new, there) = (File::open(new)?, File::open(there)?);
    if new.metadata()?.len() != there.metadata()?.len() || !there.metadata()?.is_file() {
        return Ok(None);
    }
    let (mut ours, mut theirs) = (BufReader::new(new).bytes(), BufReader::new(&there).bytes());
    loop {
        match (ours.next().transpose()?, theirs.next().transpose()?) {
            (None, None) => return Ok(Some(there)),
            (ours, theirs) if ours == theirs => {}
            _ => return Ok(None),
        }
    }
}

fn taken(path: &Path) -> Failure {
    let message = format!("{} exists already", path.display());
    Failure::new(Exit::Conflict, message).hint("name a file that does not exist")
}

/// Ends the name of a file that is not whole yet.
const PARTIAL: &str = ".narthex-partial";

#[cfg(test)]
mod tests {
    use super::{NewFile, partial};
    use crate::Exit;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    fn write(path: &Path, line: &[u8]) -> Result<(), crate::Failure> {
        let mut file = NewFile::create_or_same(path)?;
        file.line(line)?;
        file.finish()
    }

    #[test]
    fn nothing_has_the_name_before_it_is_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.segment");
        let mut file = NewFile::create(&path).expect("new");
        file.line(b"one").expect("written");
        assert!(!path.exists() && partial(&path).exists());
        let busy = NewFile::create(&path).err().expect("another run writes");
        assert!(busy.exit == Exit::Conflict && busy.message.contains("another run"), "{busy}");
        drop(file);
        assert!(!path.exists() && !partial(&path).exists(), "a failed run cleans up");
        write(&path, b"one").expect("whole");
        assert_eq!(fs::read(&path).expect("there"), b"one\n");
        assert!(!partial(&path).exists());
    }

    #[test]
    fn what_a_killed_run_left_is_replaced_and_what_it_finished_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.segment");
        let victim = folder.path().join("victim");
        for (left, there, line, fits) in [
            (Some("on"), None, "one", true),
            (Some("longer than one"), None, "one", true),
            (Some("on"), Some("one\n"), "one", true),
            (None, Some("one\n"), "one", true),
            (None, Some("two\n"), "one", false),
            (None, Some("one\nmore\n"), "one", false),
            (Some("on"), Some(""), "one", false),
        ] {
            let case = format!("{left:?} {there:?}");
            let _ = (fs::remove_file(&path), fs::remove_file(partial(&path)));
            for (name, text) in [(partial(&path), left), (path.clone(), there)] {
                text.map_or(Ok(()), |text| fs::write(name, text)).expect("a file");
            }
            let written = write(&path, line.as_bytes());
            assert_eq!(
                written.as_ref().err().map(|no| no.exit),
                (!fits).then_some(Exit::Conflict),
                "{case}"
            );
            let kept = fs::read_to_string(&path).expect("a file");
            assert_eq!(kept, if fits { "one\n" } else { there.unwrap_or_default() }, "{case}");
            assert!(!partial(&path).exists(), "{case}");
        }
        fs::remove_file(&path).expect("gone");
        fs::write(&victim, "mine").expect("a file");
        symlink(&victim, partial(&path)).expect("a link");
        assert!(write(&path, b"one").is_err(), "a link is not what a run leaves");
        assert_eq!(fs::read_to_string(&victim).expect("there"), "mine");
    }
}
