//! The heads: the end of the chain under a MAC, in a row and in a file of its own.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::hash::{Hash, unhex_hash};

/// The key heads are authenticated with.
#[derive(Clone)]
pub struct HeadKey([u8; 32]);

impl HeadKey {
    /// Wraps the bytes of the key file.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The key that rows of this kind are authenticated with.
    pub(crate) fn derive(&self, purpose: &str) -> Hash {
        let Ok(mut hmac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return Hash::default() };
        hmac.update(b"narthex derived key v1\n");
        hmac.update(purpose.as_bytes());
        hmac.finalize().into_bytes().into()
    }

    pub(crate) fn is_genuine(&self, head: &Head) -> bool {
        self.is_mac(&head.mac, &[HEAD_DOMAIN, &head.seq.to_be_bytes(), &head.hash])
    }

    fn is_mac(&self, mac: &Hash, parts: &[&[u8]]) -> bool {
        let Ok(mut hmac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return false };
        for part in parts {
            hmac.update(part);
        }
        hmac.verify_slice(mac).is_ok()
    }
}

impl std::fmt::Debug for HeadKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HeadKey(…)")
    }
}

/// The end of the chain, under a MAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The number of the last record.
    pub seq: u64,
    /// The chain's value there.
    pub hash: Hash,
    /// What proves that this house wrote it.
    pub mac: Hash,
}

/// The newest head a file holds: of those made with the key, or of all where there is no key.
pub(crate) fn read(path: &Path, key: Option<&HeadKey>) -> io::Result<Option<Head>> {
    match File::open(path) {
        Ok(file) => Ok((0..2)
            .filter_map(|slot| read_slot(&file, slot))
            .filter(|head| key.is_none_or(|key| key.is_genuine(head)))
            .max_by_key(|head| head.seq)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn read_slot(file: &File, slot: u64) -> Option<Head> {
    let mut bytes = [0_u8; 512];
    file.read_exact_at(&mut bytes, slot * 512).ok()?;
    let line = std::str::from_utf8(&bytes).ok()?.trim_end();
    let mut words = line.split(' ');
    if words.next() != Some("narthex-head-v1") {
        return None;
    }
    let seq = words.next()?.parse().ok()?;
    let hash = unhex_hash(words.next()?)?;
    let mac = unhex_hash(words.next()?)?;
    words.next().is_none().then_some(Head { seq, hash, mac })
}

const HEAD_DOMAIN: &[u8] = b"narthex ledger head v1\n";
