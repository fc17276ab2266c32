//! Proofs that anyone can check with the public key alone.

use serde::{Deserialize, Serialize};

use crate::hash::{Hash, hex, leaf, node, unhex_hash};
use crate::note::{Checkpoint, PublicKey};
use crate::record;

/// That a record is in the ledger a checkpoint signs. As JSON it stands alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InclusionProof {
    /// The form of this document.
    pub format: String,
    /// The record's number.
    pub seq: u64,
    /// The record, exactly as it is stored.
    pub record: String,
    /// The hashes beside the way from the record up to the root.
    pub path: Vec<String>,
    /// The signed checkpoint with the root.
    pub checkpoint: String,
}

/// That one checkpoint's ledger is the beginning of another's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConsistencyProof {
    /// The form of this document.
    pub format: String,
    /// The earlier checkpoint.
    pub old: String,
    /// The later one.
    pub new: String,
    /// The hashes both roots can be made from.
    pub path: Vec<String>,
}

/// A proof of either kind, as its document says which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// That a record is in the ledger.
    Inclusion(InclusionProof),
    /// That the ledger continues an earlier one.
    Consistency(ConsistencyProof),
}

/// A proof that does not prove.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoProof {
    /// It is of another form.
    #[error("this is not a proof: {0}")]
    Form(&'static str),
    /// The checkpoint in it is not this house's.
    #[error("the checkpoint in the proof is not genuine: {0}")]
    Checkpoint(&'static str),
    /// The hashes do not lead to the signed root.
    #[error("the proof does not lead to the signed root")]
    OtherRoot,
}

impl Proof {
    /// Reads a document. It may still prove nothing.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        let Form { format } = serde_json::from_str(text)?;
        if format == CONSISTENCY {
            return serde_json::from_str(text).map(Self::Consistency);
        }
        serde_json::from_str(text).map(Self::Inclusion)
    }
}

#[derive(Deserialize)]
struct Form {
    format: String,
}

impl InclusionProof {
    pub(crate) fn new(seq: u64, record: String, path: &[Hash], checkpoint: String) -> Self {
        let path = path.iter().map(|hash| hex(hash)).collect();
        Self { format: INCLUSION.to_owned(), seq, record, path, checkpoint }
    }

    /// Checks it. The answer is what the checkpoint says.
    pub fn check(&self, key: &PublicKey) -> Result<Checkpoint, NoProof> {
        let path = hashes(&self.path)?;
        if self.format != INCLUSION {
            return Err(NoProof::Form("it names another format"));
        }
        let bytes = self.record.as_bytes();
        if record::read(bytes).is_none_or(|said| said.seq != self.seq) {
            return Err(NoProof::Form("its record is of another number or form"));
        }
        let said = key.checkpoint(&self.checkpoint).map_err(NoProof::Checkpoint)?;
        let place = self.seq.checked_sub(1).filter(|place| *place < said.size);
        let place = place.ok_or(NoProof::Form("its checkpoint does not reach the record"))?;
        match climb(place, said.size, leaf(bytes), &path) {
            Some(root) if root == said.root => Ok(said),
            _ => Err(NoProof::OtherRoot),
        }
    }
}

impl ConsistencyProof {
    pub(crate) fn new(old: String, new: String, path: &[Hash]) -> Self {
        let path = path.iter().map(|hash| hex(hash)).collect();
        Self { format: CONSISTENCY.to_owned(), old, new, path }
    }

    /// Checks it. The answer is what both checkpoints say.
    pub fn check(&self, key: &PublicKey) -> Result<(Checkpoint, Checkpoint), NoProof> {
        let path = hashes(&self.path)?;
        if self.format != CONSISTENCY {
            return Err(NoProof::Form("it names another format"));
        }
        let old = key.checkpoint(&self.old).map_err(NoProof::Checkpoint)?;
        let new = key.checkpoint(&self.new).map_err(NoProof::Checkpoint)?;
        match grow(&old, new.size, &path) {
            Some(root) if root == new.root => Ok((old, new)),
            _ => Err(NoProof::OtherRoot),
        }
    }
}

/// From a leaf up to the root (RFC 9162, 2.1.3.2).
fn climb(place: u64, size: u64, leaf: Hash, path: &[Hash]) -> Option<Hash> {
    let (mut at, mut last, mut root) = (place, size.checked_sub(1)?, leaf);
    for sibling in path {
        if last == 0 {
            return None;
        }
        if at & 1 == 1 || at == last {
            root = node(sibling, &root);
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            root = node(&root, sibling);
        }
        at >>= 1;
        last >>= 1;
    }
    (last == 0).then_some(root)
}

/// From the smaller tree to the root of the larger (RFC 9162, 2.1.4.2). None if the path does not
/// give the smaller one's root.
fn grow(old: &Checkpoint, size: u64, path: &[Hash]) -> Option<Hash> {
    if old.size == 0 || old.size > size {
        return None;
    }
    if old.size == size {
        return path.is_empty().then_some(old.root);
    }
    let mut path = path.iter();
    let first = if old.size.is_power_of_two() { old.root } else { *path.next()? };
    let (mut at, mut last) = (old.size - 1, size - 1);
    while at & 1 == 1 {
        at >>= 1;
        last >>= 1;
    }
    let (mut small, mut large) = (first, first);
    for hash in path {
        if last == 0 {
            return None;
        }
        if at & 1 == 1 || at == last {
            small = node(hash, &small);
            large = node(hash, &large);
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            large = node(&large, hash);
        }
        at >>= 1;
        last >>= 1;
    }
    (last == 0 && small == old.root).then_some(large)
}

fn hashes(path: &[String]) -> Result<Vec<Hash>, NoProof> {
    if path.len() > LONGEST {
        return Err(NoProof::Form("its path is longer than any can be"));
    }
    let hashes: Option<Vec<Hash>> = path.iter().map(|text| unhex_hash(text)).collect();
    hashes.ok_or(NoProof::Form("its path is not of hashes"))
}

const INCLUSION: &str = "narthex-inclusion-proof-v1";
const CONSISTENCY: &str = "narthex-consistency-proof-v1";
/// A tree of 2^64 leaves has no longer way up (and a consistency proof one hash more).
const LONGEST: usize = 66;
