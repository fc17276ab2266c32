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
use narthex_core::{Digest, RecordDraft, Timestamp, canonical_json};
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
    pub fn read(&self) -> Result<Record, ChainError> {
        serde_json::from_slice(&self.bytes).map_err(|_| ChainError::Unreadable { seq: self.seq })
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
) -> Result<StoredRecord, ChainError> {
    let record = Record { v: VERSION, seq, at, draft };
    let value = serde_json::to_value(&record).map_err(|_| ChainError::Unreadable { seq })?;
    let bytes = canonical_json(&value).into_bytes();
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

/// What is wrong with a ledger.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// No records at all: a house has at least the record of its founding.
    #[error("the ledger is empty")]
    Empty,
    /// A number is missing, doubled or out of order.
    #[error(
        "expected record {expected}, found {found}: records are missing, doubled or out of order"
    )]
    Sequence {
        /// The number that should stand here.
        expected: u64,
        /// The number that does.
        found: u64,
    },
    /// The bytes do not hash to what is stored.
    #[error("record {seq} was changed: its bytes do not match the chain")]
    Broken {
        /// Where.
        seq: u64,
    },
    /// The bytes are no record, or a record of another number.
    #[error("record {seq} cannot be read")]
    Unreadable {
        /// Where.
        seq: u64,
    },
    /// A head is missing.
    #[error("the {place} is missing")]
    HeadMissing {
        /// Which head.
        place: HeadPlace,
    },
    /// A head was not made with this house's key.
    #[error("the {place} is not genuine")]
    HeadForged {
        /// Which head.
        place: HeadPlace,
    },
    /// Records after this one were cut off.
    #[error("the {place} names record {head}, but the ledger ends at {last}: its tail was cut")]
    Cut {
        /// Which head.
        place: HeadPlace,
        /// The record the head names.
        head: u64,
        /// The last record there is.
        last: u64,
    },
    /// Records that the head does not know.
    #[error("the ledger goes on to record {last}, but the {place} names {head}")]
    Beyond {
        /// Which head.
        place: HeadPlace,
        /// The record the head names.
        head: u64,
        /// The last record there is.
        last: u64,
    },
    /// The head names another history.
    #[error("the {place} and the ledger disagree at record {seq}")]
    Forked {
        /// Which head.
        place: HeadPlace,
        /// Where.
        seq: u64,
    },
}

/// Where a head is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadPlace {
    /// The row beside the records, written in the same transaction.
    Row,
    /// The file of its own, written after each commit; it may lag after a power cut, never lead.
    File,
}

impl std::fmt::Display for HeadPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Row => "stored head",
            Self::File => "head file",
        })
    }
}

/// Walks a ledger from its first record and says whether it is whole.
#[derive(Debug)]
pub struct Verification {
    last: Option<(u64, Digest)>,
    file: Option<Head>,
    file_met: bool,
}

/// A ledger that was found whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// How many records it has.
    pub records: u64,
    /// The chain's value at the last.
    pub head: Digest,
}

impl Verification {
    /// Starts, with the head that the head file holds.
    pub const fn start(file: Option<Head>) -> Self {
        Self { last: None, file, file_met: false }
    }

    /// Checks the next record.
    pub fn next(&mut self, stored: &StoredRecord) -> Result<(), ChainError> {
        let (seq, previous) = self.last.map_or((1, GENESIS), |(seq, hash)| (seq + 1, hash));
        if stored.seq != seq {
            return Err(ChainError::Sequence { expected: seq, found: stored.seq });
        }
        if link(previous, &stored.bytes) != stored.hash {
            return Err(ChainError::Broken { seq });
        }
        let record = stored.read()?;
        if record.seq != seq || record.v != VERSION {
            return Err(ChainError::Unreadable { seq });
        }
        if let Some(file) = &self.file
            && file.seq == seq
        {
            if file.hash != stored.hash {
                return Err(ChainError::Forked { place: HeadPlace::File, seq });
            }
            self.file_met = true;
        }
        self.last = Some((seq, stored.hash));
        Ok(())
    }

    /// Ends: the chain must reach exactly the stored head, and at least the head file's.
    pub fn finish(self, row: Option<Head>, key: &HeadKey) -> Result<Verified, ChainError> {
        let (last, hash) = self.last.ok_or(ChainError::Empty)?;
        let row = row.ok_or(ChainError::HeadMissing { place: HeadPlace::Row })?;
        let file = self.file.ok_or(ChainError::HeadMissing { place: HeadPlace::File })?;
        for (place, head) in [(HeadPlace::Row, &row), (HeadPlace::File, &file)] {
            if !key.is_genuine(head) {
                return Err(ChainError::HeadForged { place });
            }
            if head.seq > last {
                return Err(ChainError::Cut { place, head: head.seq, last });
            }
        }
        if row.seq < last {
            return Err(ChainError::Beyond { place: HeadPlace::Row, head: row.seq, last });
        }
        if row.hash != hash {
            return Err(ChainError::Forked { place: HeadPlace::Row, seq: last });
        }
        if !self.file_met {
            return Err(ChainError::Forked { place: HeadPlace::File, seq: file.seq });
        }
        Ok(Verified { records: last, head: hash })
    }
}

const VERSION: u32 = 1;
const RECORD_DOMAIN: &[u8] = b"narthex ledger record v1\n";
const DERIVE_DOMAIN: &[u8] = b"narthex derived key v1\n";
const HEAD_DOMAIN: &[u8] = b"narthex ledger head v1\n";

#[cfg(test)]
mod tests;
