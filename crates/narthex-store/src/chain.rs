//! The ledger's rules: how a record becomes bytes, how bytes are chained, what proves the chain.
//!
//! A record is one line of ASCII JSON (every control and non-ASCII character escaped, so that
//! nothing in a field can look like a second record). The chain is over exactly those bytes:
//! `hash(n) = SHA-256(domain ‖ hash(n-1) ‖ length ‖ bytes)`. The head (number and hash of the
//! last record, under a MAC) is kept apart twice: in a row of its own and in a file of its own,
//! so that a tail that was cut off is missed.
//!
//! Over the same bytes grows a Merkle tree ([`Tree`]), and signed [`Checkpoint`]s say what it was
//! at which size. Anyone with the public key can check those; see `docs/ledger-format.md`.

mod checkpoint;
mod note;
pub mod segment;
mod tree;

use hmac::{Hmac, KeyInit, Mac};
use narthex_core::{Digest, RecordDraft, Timestamp, canonical};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub use checkpoint::{Checkpoint, EVERY, PERIOD, Seal, Sealer};
pub use note::{NoteError, PublicKey, SealKey};
pub use tree::Tree;

/// The hash before the first record.
pub const GENESIS: Digest = Digest::from_bytes([0; 32]);

/// A record as it lies in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecord {
    /// Its number, from 1 without gaps.
    pub seq: u64,
    /// The exact bytes that are chained.
    pub bytes: Vec<u8>,
    /// The chain's value at this record.
    pub hash: Digest,
}

/// A record as it reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The version of this form.
    pub v: u32,
    /// Its number.
    pub seq: u64,
    /// When it was appended.
    pub at: Timestamp,
    /// What it says.
    #[serde(flatten)]
    pub draft: RecordDraft,
}

impl StoredRecord {
    /// Reads the bytes.
    pub fn read(&self) -> Result<Record, Unreadable> {
        serde_json::from_slice(&self.bytes).map_err(|_| Unreadable { seq: self.seq })
    }

    /// Whether these bytes, after that value of the chain, give this record's.
    pub fn follows(&self, previous: Digest) -> bool {
        link(previous, &self.bytes) == self.hash
    }
}

/// Gives a draft its number, its time and its place in the chain.
pub fn seal(
    draft: RecordDraft,
    seq: u64,
    at: Timestamp,
    previous: Digest,
) -> Result<StoredRecord, Unreadable> {
    let record = Record { v: VERSION, seq, at, draft };
    let bytes = canonical(&record).map_err(|_| Unreadable { seq })?.into_bytes();
    let hash = link(previous, &bytes);
    Ok(StoredRecord { seq, bytes, hash })
}

fn link(previous: Digest, bytes: &[u8]) -> Digest {
    let mut hasher = Sha256::new();
    hasher.update(RECORD_DOMAIN);
    hasher.update(previous.as_bytes());
    hasher.update((bytes.len() as u64).to_be_bytes());
    hasher.update(bytes);
    Digest::from_bytes(hasher.finalize().into())
}

/// The end of the chain, under a MAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The number of the last record.
    pub seq: u64,
    /// The chain's value there.
    pub hash: Digest,
    /// What proves that this house wrote it.
    pub mac: Digest,
}

/// The key heads are authenticated with.
#[derive(Clone)]
pub struct HeadKey([u8; 32]);

impl std::fmt::Debug for HeadKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HeadKey(…)")
    }
}

impl HeadKey {
    /// Wraps the bytes of the key file.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A key for another purpose, made from this one.
    pub fn derive(&self, purpose: &str) -> [u8; 32] {
        let mut mac = self.start();
        mac.update(DERIVE_DOMAIN);
        mac.update(purpose.as_bytes());
        mac.finalize().into_bytes().into()
    }

    /// Makes the head of a chain.
    pub fn head(&self, seq: u64, hash: Digest) -> Head {
        Head {
            seq,
            hash,
            mac: Digest::from_bytes(self.mac(seq, hash).finalize().into_bytes().into()),
        }
    }

    /// Whether a head was made with this key.
    pub fn is_genuine(&self, head: &Head) -> bool {
        self.mac(head.seq, head.hash).verify_slice(head.mac.as_bytes()).is_ok()
    }

    fn start(&self) -> Hmac<Sha256> {
        keyed(&self.0)
    }

    fn mac(&self, seq: u64, hash: Digest) -> Hmac<Sha256> {
        let mut mac = self.start();
        mac.update(HEAD_DOMAIN);
        mac.update(&seq.to_be_bytes());
        mac.update(hash.as_bytes());
        mac
    }
}

/// HMAC under a key of 32 bytes.
pub(crate) fn keyed(key: &[u8; 32]) -> Hmac<Sha256> {
    // One block: HMAC itself pads a shorter key with zeros.
    let mut block = [0_u8; 64];
    block.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    Hmac::<Sha256>::new(&block.into())
}

/// The bytes are no record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("record {seq} cannot be read")]
pub struct Unreadable {
    /// Where.
    pub seq: u64,
}

const VERSION: u32 = 1;
const RECORD_DOMAIN: &[u8] = b"narthex ledger record v1\n";
const DERIVE_DOMAIN: &[u8] = b"narthex derived key v1\n";
const HEAD_DOMAIN: &[u8] = b"narthex ledger head v1\n";

#[cfg(test)]
mod tests;
