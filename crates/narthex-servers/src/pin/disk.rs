//! The disk, as far as a program has to be found and known again.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use narthex_core::Digest;
use sha2::{Digest as _, Sha256};

use super::program::Disk;

/// The disk of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn is_file(&self, path: &Path) -> bool {
        path.metadata().is_ok_and(|metadata| metadata.is_file())
    }

    fn is_program(&self, path: &Path) -> bool {
        path.metadata().is_ok_and(|metadata| metadata.is_file() && may_run(&metadata))
    }

    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize()
    }

    fn first_bytes(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn digest(&self, path: &Path, most: u64) -> io::Result<Digest> {
        // One byte more than may be: whoever reaches it is too large.
        let mut file = File::open(path)?.take(most + 1);
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 64 * 1024];
        let mut total: u64 = 0;
        loop {
            let n = file.read(&mut buffer)?;
            if n == 0 {
                break;
            }
            total += n as u64;
            hash.update(buffer.get(..n).unwrap_or_default());
        }
        if total > most {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                "it is too large to be hashed",
            ));
        }
        Ok(Digest::from_bytes(hash.finalize().into()))
    }
}

#[cfg(unix)]
fn may_run(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn may_run(_metadata: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::{Disk as _, RealDisk};
    use narthex_core::Digest;

    #[test]
    fn a_file_is_hashed_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, vec![7; 100_000]).unwrap();
        let whole = RealDisk.digest(&path, 100_000).unwrap();
        assert_eq!(whole, Digest::of(&vec![7; 100_000]));
        assert!(RealDisk.digest(&path, 99_999).is_err());
        assert!(RealDisk.is_file(&path) && !RealDisk.is_file(folder.path()));
        assert_eq!(RealDisk.first_bytes(&path, 3).unwrap(), [7, 7, 7]);
    }
}
