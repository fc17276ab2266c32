//! What is kept of a sign-in: a file a server, sealed (AES-256-GCM) under a key of the house, for its
//! owner's eyes alone. The server's name is part of the seal, so that a file that was moved or copied
//! opens nothing.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::sync::Arc;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use narthex_servers::config::ServerName;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;
use zeroize::Zeroizing;

use crate::fault::Fault;
use crate::token::Client;

/// What sign-ins are sealed with.
#[derive(Clone)]
pub struct KeepKey(Zeroizing<[u8; 32]>);

impl KeepKey {
    /// Wraps the bytes of the key file.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }
}

impl std::fmt::Debug for KeepKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeepKey(…)")
    }
}

/// A sign-in as it is kept.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    /// Who gave it; nobody else is shown it.
    pub(crate) issuer: String,
    /// Where the server is that it is for.
    pub(crate) server_at: String,
    /// What its tokens are for.
    pub(crate) resource: String,
    /// Who we are to the issuer.
    pub(crate) client: Client,
    /// What new tokens are given for.
    pub(crate) refresh: Option<SecretString>,
    /// A token that stands, where there is nothing to get another one for.
    pub(crate) access: Option<SecretString>,
}

/// The same in clear, for as long as it takes to seal or open it.
#[derive(Serialize, Deserialize)]
struct Clear {
    issuer: String,
    server_at: String,
    resource: String,
    client_id: String,
    client_secret: Option<String>,
    refresh: Option<String>,
    access: Option<String>,
}

/// Where sign-ins are kept.
#[derive(Debug)]
pub(crate) struct Keep {
    pub(crate) folder: PathBuf,
    pub(crate) key: KeepKey,
}

impl Keep {
    /// Makes it durable.
    pub(crate) async fn save(
        self: &Arc<Self>,
        server: &ServerName,
        kept: &Kept,
    ) -> Result<(), Fault> {
        let (this, server, kept) = (Arc::clone(self), server.clone(), kept.clone());
        blocking(move || this.write(&server, &kept)).await
    }

    /// What is kept of a server, if anything is.
    pub(crate) async fn load(self: &Arc<Self>, server: &ServerName) -> Result<Option<Kept>, Fault> {
        let (this, server) = (Arc::clone(self), server.clone());
        blocking(move || this.read(&server)).await
    }

    /// Forgets. Whether there was something.
    pub(crate) async fn remove(self: &Arc<Self>, server: &ServerName) -> Result<bool, Fault> {
        let path = self.path(server);
        blocking(move || match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        })
        .await
    }

    fn path(&self, server: &ServerName) -> PathBuf {
        self.folder.join(format!("{server}.sealed"))
    }

    /// Written beside and renamed, so that a crash leaves the old one or the new one.
    fn write(&self, server: &ServerName, kept: &Kept) -> io::Result<()> {
        let sealed = self.seal(server, kept)?;
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let path = self.path(server);
        let draft = path.with_extension("new");
        // One that was left behind may be readable by others.
        let _ = fs::remove_file(&draft);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        file.write_all(&sealed)?;
        file.sync_all()?;
        fs::rename(&draft, &path)?;
        File::open(&self.folder)?.sync_all()
    }

    fn read(&self, server: &ServerName) -> io::Result<Option<Kept>> {
        let mut sealed = Vec::new();
        match File::open(self.path(server)) {
            Ok(file) => file.take(MAX_FILE).read_to_end(&mut sealed)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        self.open(server, &sealed).map(Some).ok_or_else(|| io::Error::other("its seal is broken"))
    }

    fn seal(&self, server: &ServerName, kept: &Kept) -> io::Result<Vec<u8>> {
        let said = |secret: &SecretString| secret.expose_secret().to_owned();
        let clear = Clear {
            issuer: kept.issuer.clone(),
            server_at: kept.server_at.clone(),
            resource: kept.resource.clone(),
            client_id: said(&kept.client.id),
            client_secret: kept.client.secret.as_ref().map(said),
            refresh: kept.refresh.as_ref().map(said),
            access: kept.access.as_ref().map(said),
        };
        let mut body = Zeroizing::new(serde_json::to_vec(&clear)?);
        let mut nonce = [0_u8; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(io::Error::other)?;
        let unsealed = || io::Error::other("it could not be sealed");
        let tag = self.cipher().ok_or_else(unsealed)?.seal_in_place_separate_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(bound_to(server)),
            &mut body,
        );
        let tag = tag.map_err(|_| unsealed())?;
        Ok([&nonce[..], body.as_slice(), tag.as_ref()].concat())
    }

    fn open(&self, server: &ServerName, sealed: &[u8]) -> Option<Kept> {
        let (nonce, body) = sealed.split_first_chunk::<NONCE_LEN>()?;
        let mut body = Zeroizing::new(body.to_vec());
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let clear = self.cipher()?.open_in_place(nonce, Aad::from(bound_to(server)), &mut body);
        let clear: Clear = serde_json::from_slice(clear.ok()?).ok()?;
        Some(Kept {
            issuer: clear.issuer,
            server_at: clear.server_at,
            resource: clear.resource,
            client: Client {
                id: clear.client_id.into(),
                secret: clear.client_secret.map(Into::into),
            },
            refresh: clear.refresh.map(Into::into),
            access: clear.access.map(Into::into),
        })
    }

    fn cipher(&self) -> Option<LessSafeKey> {
        UnboundKey::new(&AES_256_GCM, self.key.0.as_slice()).ok().map(LessSafeKey::new)
    }
}

fn bound_to(server: &ServerName) -> Vec<u8> {
    format!("narthex sign-in v1\n{server}").into_bytes()
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Fault> {
    let done = spawn_blocking(work).await.map_err(io::Error::other).flatten();
    done.map_err(|error| Fault::Ours(format!("what is kept of the sign-in: {error}")))
}

const MAX_FILE: u64 = 256 * 1024;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::sync::Arc;

    use super::{Keep, KeepKey, Kept};
    use crate::token::Client;

    fn kept() -> Kept {
        Kept {
            issuer: "https://as.example".to_owned(),
            server_at: "https://a.example/mcp".to_owned(),
            resource: "https://a.example/mcp".to_owned(),
            client: Client { id: "us".to_owned().into(), secret: None },
            refresh: Some("s3cret-refresh".to_owned().into()),
            access: None,
        }
    }

    #[tokio::test]
    async fn it_is_sealed_for_one_server_under_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("sign-ins");
        let keep = Arc::new(Keep { folder: at.clone(), key: KeepKey::new([7; 32]) });
        let (a, b) = ("a".parse().unwrap(), "b".parse().unwrap());
        assert!(keep.load(&a).await.unwrap().is_none());
        keep.save(&a, &kept()).await.unwrap();
        let file = at.join("a.sealed");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::metadata(&at).unwrap().permissions().mode() & 0o777, 0o700);
        let bytes = std::fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("s3cret") && !text.contains("example"));
        assert_eq!(keep.load(&a).await.unwrap().unwrap().issuer, "https://as.example");
        // Moved to another server, changed by a bit, or under another key, it opens nothing.
        std::fs::copy(&file, at.join("b.sealed")).unwrap();
        assert!(keep.load(&b).await.is_err());
        let other = Arc::new(Keep { folder: at.clone(), key: KeepKey::new([8; 32]) });
        assert!(other.load(&a).await.is_err());
        for at in [0, 20, bytes.len() - 1] {
            let mut bent = bytes.clone();
            bent[at] ^= 1;
            std::fs::write(&file, bent).unwrap();
            let error = keep.load(&a).await.unwrap_err().to_string();
            assert!(error.contains("seal is broken"), "{error}");
        }
        assert!(keep.remove(&a).await.unwrap());
        assert!(!keep.remove(&a).await.unwrap());
        assert!(!format!("{keep:?} {:?}", kept()).contains("s3cret"));
    }
}
