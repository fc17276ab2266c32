//! The one folder a house lives in, and the lock that lets one process hold it.

mod error;

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use narthex_gate::SecretKey;
use narthex_store::chain::{HeadKey, SealKey};
use serde::{Deserialize, Serialize};

use crate::StopFile;

pub use self::error::DataDirError;

/// A data directory: paths, keys, and who holds it.
#[derive(Debug, Clone)]
pub struct DataDir {
    root: PathBuf,
}

/// The keys of a house, each in a file of its own that only its owner can read.
#[derive(Debug, Clone)]
pub struct Keys {
    /// What token secrets are hashed with.
    pub token: SecretKey,
    /// What the ledger's head is authenticated with.
    pub ledger: HeadKey,
    /// What the ledger's checkpoints are signed with.
    pub seal: SealKey,
}

/// Who holds a data directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its process.
    pub pid: u32,
    /// What it is: `serve`, `stdio`, or a command.
    pub what: String,
    /// Where agents connect, if it listens.
    pub mcp_url: Option<String>,
}

/// The data directory is ours until this is dropped (or the process ends, however it ends).
#[derive(Debug)]
pub struct Held {
    file: File,
    holder: Holder,
}

impl DataDir {
    /// This folder, whether it is there or not.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.root.join("narthex.db")
    }

    /// The ledger's head.
    pub fn head_file(&self) -> PathBuf {
        self.root.join("ledger.head")
    }

    /// The owner's socket.
    pub fn socket(&self) -> PathBuf {
        self.root.join("owner.sock")
    }

    /// The settings.
    pub fn config_file(&self) -> PathBuf {
        self.root.join("narthex.toml")
    }

    /// The key token secrets are hashed with.
    pub fn token_key(&self) -> PathBuf {
        self.root.join("keys/token.key")
    }

    /// The key the ledger's head is authenticated with.
    pub fn ledger_key(&self) -> PathBuf {
        self.root.join("keys/ledger.key")
    }

    /// The file that stops everything while it is there.
    pub fn stop_file(&self) -> StopFile {
        StopFile::at(self.root.join("STOP"))
    }

    fn lock_file(&self) -> PathBuf {
        self.root.join("lock")
    }

    /// Whether a house is in it.
    pub fn has_house(&self) -> bool {
        self.token_key().exists() && self.ledger_key().exists()
    }

    /// Makes the folder and the keys, as far as they are not there yet. A database without its
    /// keys gets none: new ones would orphan every token and the ledger's head.
    pub fn create(&self) -> Result<(), DataDirError> {
        for folder in [self.root.clone(), self.root.join("keys")] {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
            made.map_err(|source| io_error(&folder, source))?;
        }
        if self.database().exists() && !self.has_house() {
            return Err(DataDirError::BadKey(self.root.join("keys").display().to_string()));
        }
        create_key(&self.token_key())?;
        create_key(&self.ledger_key())?;
        // An older house gets its own when it is opened: until then it has nothing that is signed.
        if !self.database().exists() {
            self.sealing_key()?;
        }
        Ok(())
    }

    /// Reads the keys, refusing those that others can read too.
    pub fn keys(&self) -> Result<Keys, DataDirError> {
        if !self.has_house() {
            return Err(DataDirError::Missing(self.root.display().to_string()));
        }
        Ok(Keys {
            token: SecretKey::new(read_key(&self.token_key())?),
            ledger: HeadKey::new(read_key(&self.ledger_key())?),
            seal: self.sealing_key()?,
        })
    }

    /// Takes hold of the folder, or says who has it.
    pub fn hold(&self, what: &str) -> Result<Held, DataDirError> {
        let path = self.lock_file();
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path);
        let file = opened.map_err(|source| io_error(&path, source))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let dir = self.root.display().to_string();
                return Err(DataDirError::HeldBy { dir, holder: self.holder() });
            }
            Err(TryLockError::Error(source)) => return Err(io_error(&path, source)),
        }
        let holder = Holder { pid: std::process::id(), what: what.to_owned(), mcp_url: None };
        let mut held = Held { file, holder };
        held.write().map_err(|source| io_error(&path, source))?;
        Ok(held)
    }

    /// Who holds it, as far as the lock file tells.
    pub fn holder(&self) -> Option<Holder> {
        let mut text = String::new();
        File::open(self.lock_file()).ok()?.take(4_096).read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }
}

impl Held {
    /// Says where agents connect, for whoever reads the lock file.
    pub fn announce(&mut self, mcp_url: &str) -> io::Result<()> {
        self.holder.mcp_url = Some(mcp_url.to_owned());
        self.write()
    }

    /// Who we said we are.
    pub const fn holder(&self) -> &Holder {
        &self.holder
    }

    fn write(&mut self) -> io::Result<()> {
        let text = serde_json::to_string(&self.holder)?;
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(text.as_bytes())
    }
}

pub(crate) fn create_key(path: &Path) -> Result<(), DataDirError> {
    let mut key = [0_u8; 32];
    getrandom::fill(&mut key).map_err(|e| io_error(path, io::Error::other(e)))?;
    if path.exists() {
        return Ok(());
    }
    write_whole(path, &key, 0o600).map_err(|source| io_error(path, source))
}

/// Written beside and renamed, so that a crash leaves a whole file or none.
pub(crate) fn write_whole(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let draft = path.with_extension("new");
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

pub(crate) fn read_key(path: &Path) -> Result<[u8; 32], DataDirError> {
    let bytes = fs::read(path).map_err(|source| io_error(path, source))?;
    let metadata = fs::metadata(path).map_err(|source| io_error(path, source))?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(DataDirError::Exposed { path: path.display().to_string(), mode });
    }
    if metadata.uid() != rustix::process::geteuid().as_raw()
        && !rustix::process::geteuid().is_root()
    {
        return Err(DataDirError::Exposed { path: path.display().to_string(), mode });
    }
    bytes.try_into().map_err(|_| DataDirError::BadKey(path.display().to_string()))
}

pub(crate) fn io_error(path: &Path, source: io::Error) -> DataDirError {
    DataDirError::Io { path: path.display().to_string(), source }
}

#[cfg(test)]
mod tests;
