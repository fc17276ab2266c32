//! The key the ledger is signed with, and the public half that anyone may have; the key of sign-ins.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use narthex_store::chain::SealKey;

use crate::data_dir::{create_key, io_error, read_key, write_whole};
use crate::{DataDir, DataDirError};

impl DataDir {
    /// The key checkpoints are signed with.
    pub fn seal_key(&self) -> PathBuf {
        self.root().join("keys/ledger.sign.key")
    }

    /// Its public half, for anyone to read.
    pub fn public_key(&self) -> PathBuf {
        self.root().join("ledger.pub")
    }

    /// Where sign-ins to other people's servers are kept, sealed.
    pub fn sign_ins(&self) -> PathBuf {
        self.root().join("sign-ins")
    }

    /// The key they are sealed with, made the first time it is asked for. A house that loses it
    /// loses its sign-ins, and nothing else.
    pub fn sign_in_key(&self) -> Result<[u8; 32], DataDirError> {
        let path = self.root().join("keys/sign-ins.key");
        create_key(&path)?;
        read_key(&path)
    }

    /// What a verifier needs to check the heads with; none where the key is not.
    pub fn head_key_bytes(&self) -> Result<Option<[u8; 32]>, DataDirError> {
        let path = self.ledger_key();
        if is_there(&path)? { read_key(&path).map(Some) } else { Ok(None) }
    }

    /// Whether there is a key to sign checkpoints with.
    pub fn has_seal_key(&self) -> Result<bool, DataDirError> {
        is_there(&self.seal_key())
    }

    /// Whether the public half is there. What cannot be looked at is not taken for missing.
    pub fn has_public_key(&self) -> Result<bool, DataDirError> {
        is_there(&self.public_key())
    }

    /// Makes the key, or reads it. A house that has a public key and not its other half gets no
    /// new one: nobody could tell the two apart from a forger's.
    pub(crate) fn sealing_key(&self) -> Result<SealKey, DataDirError> {
        let (secret, public) = (self.seal_key(), self.public_key());
        if !self.has_seal_key()? && self.has_public_key()? {
            return Err(DataDirError::BadKey(secret.display().to_string()));
        }
        create_key(&secret)?;
        let key = SealKey::from_seed(&read_key(&secret)?);
        let text = format!("{}\n", key.public());
        match fs::read_to_string(&public) {
            Ok(found) if found == text => Ok(key),
            Ok(_) => Err(DataDirError::BadKey(public.display().to_string())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                write_whole(&public, text.as_bytes(), 0o644)
                    .map_err(|error| io_error(&public, error))?;
                Ok(key)
            }
            Err(error) => Err(io_error(&public, error)),
        }
    }
}

fn is_there(path: &Path) -> Result<bool, DataDirError> {
    path.try_exists().map_err(|error| io_error(path, error))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use crate::{DataDir, DataDirError};

    #[test]
    fn the_public_half_is_for_everyone_and_the_other_for_its_owner() {
        let folder = tempfile::tempdir().expect("folder");
        let dir = DataDir::at(folder.path());
        dir.create().expect("created");
        let mode = |path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(dir.seal_key()), 0o600);
        assert_eq!(mode(dir.public_key()), 0o644);
        let key = dir.keys().expect("keys").seal;
        let public = std::fs::read_to_string(dir.public_key()).expect("reads");
        assert_eq!(public, format!("{}\n", key.public()));
    }

    #[test]
    fn the_key_of_sign_ins_is_made_once_and_is_for_its_owner() {
        let folder = tempfile::tempdir().expect("folder");
        let dir = DataDir::at(folder.path());
        dir.create().expect("created");
        let key = dir.sign_in_key().expect("made");
        assert_eq!(dir.sign_in_key().expect("again"), key);
        let path = folder.path().join("keys/sign-ins.key");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("mode");
        assert!(matches!(dir.sign_in_key(), Err(DataDirError::Exposed { .. })));
    }

    #[test]
    fn an_older_house_gets_its_key_and_a_robbed_one_none() {
        let folder = tempfile::tempdir().expect("folder");
        let dir = DataDir::at(folder.path());
        dir.create().expect("created");
        std::fs::write(dir.database(), b"x").expect("database");
        std::fs::remove_file(dir.seal_key()).expect("removed");
        assert!(matches!(dir.keys(), Err(DataDirError::BadKey(_))), "its public half is there");
        assert!(!dir.seal_key().exists());
        std::fs::remove_file(dir.public_key()).expect("removed");
        dir.create().expect("again");
        assert!(!dir.seal_key().exists(), "not before the house is opened");
        dir.keys().expect("made");
        assert!(dir.seal_key().exists() && dir.public_key().exists());
    }
}
