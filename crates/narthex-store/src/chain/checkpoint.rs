//! Checkpoints: signed statements of what the ledger was at a size, and when one is due.
//!
//! The text is that of C2SP tlog-checkpoint (origin, size, root) with one line more: the value of
//! the chain at that size. It is signed as a note. A checkpoint is made at every multiple of
//! [`EVERY`] records, however many are committed at once, and when [`PERIOD`] has passed since
//! the last one and there are records it does not cover.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use narthex_core::Digest;

use super::{GENESIS, NoteError, PublicKey, SealKey, StoredRecord, Tree};

/// There is a checkpoint at each multiple of this many records.
pub const EVERY: u64 = 256;

/// While there is activity, at least one checkpoint is made in this time.
pub const PERIOD: Duration = Duration::from_secs(1);

/// What a checkpoint says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    /// How many records it covers.
    pub size: u64,
    /// The root of the tree over them.
    pub root: Digest,
    /// The chain's value at the last of them.
    pub chain: Digest,
}

/// A checkpoint as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    /// How many records it covers.
    pub size: u64,
    /// The signed note.
    pub note: String,
    /// The tree's frontier at that size, so that it can be gone on with from here.
    pub frontier: Vec<u8>,
}

impl Checkpoint {
    /// Signs it.
    pub fn sign(&self, key: &SealKey) -> String {
        key.sign(&self.text(key.public().name()))
    }

    /// Signs that everything up to here was taken out of the ledger by its owner.
    pub fn sign_base(&self, key: &SealKey) -> String {
        key.sign(&self.text(&base_origin(key.public())))
    }

    /// Reads a note that this key signed.
    pub fn open(note: &str, key: &PublicKey) -> Result<Self, NoteError> {
        Self::read(key.open(note)?, key.name()).ok_or(NoteError::Malformed)
    }

    /// Reads the note that stands for what was taken out.
    pub fn open_base(note: &str, key: &PublicKey) -> Result<Self, NoteError> {
        Self::read(key.open(note)?, &base_origin(key)).ok_or(NoteError::Malformed)
    }

    fn text(&self, origin: &str) -> String {
        let root = STANDARD.encode(self.root.as_bytes());
        format!("{origin}\n{}\n{root}\nchain {}\n", self.size, self.chain)
    }

    fn read(text: &str, origin: &str) -> Option<Self> {
        let mut lines = text.lines();
        let named = lines.next()?;
        let size: u64 = lines.next()?.parse().ok()?;
        let root = STANDARD.decode(lines.next()?).ok()?.try_into().ok()?;
        let chain = lines.next()?.strip_prefix("chain ")?.parse().ok()?;
        let read = Self { size, root: Digest::from_bytes(root), chain };
        // Written again it must be the same bytes: there is one way to say it.
        (named == origin && read.text(origin) == text).then_some(read)
    }
}

/// Another first line, so that neither kind of note can be taken for the other.
fn base_origin(key: &PublicKey) -> String {
    format!("{}/base", key.name())
}

/// The tree and what of it is sealed.
#[derive(Debug, Clone)]
pub struct Sealer {
    tree: Tree,
    chain: Digest,
    sealed: u64,
}

impl Sealer {
    /// Of an empty ledger.
    pub const fn new() -> Self {
        Self { tree: Tree::new(), chain: GENESIS, sealed: 0 }
    }

    /// From a stored checkpoint on. None if it is not what this key signed, or contradicts
    /// itself.
    pub fn resume(seal: &Seal, key: &PublicKey) -> Option<Self> {
        let said = Checkpoint::open(&seal.note, key).ok()?;
        let tree = Tree::from_frontier(seal.size, &seal.frontier)?;
        let holds = said.size == seal.size && tree.root() == said.root;
        holds.then_some(Self { tree, chain: said.chain, sealed: seal.size })
    }

    /// Adds a record, and seals if it fills a stretch.
    pub fn push(&mut self, record: &StoredRecord, key: &SealKey) -> Option<Seal> {
        self.tree.push(&record.bytes);
        self.chain = record.hash;
        if self.size().is_multiple_of(EVERY) { self.seal(key) } else { None }
    }

    /// Seals what is not sealed yet; nothing if all is.
    pub fn seal(&mut self, key: &SealKey) -> Option<Seal> {
        if !self.is_behind() {
            return None;
        }
        let (size, root) = (self.size(), self.tree.root());
        let note = Checkpoint { size, root, chain: self.chain }.sign(key);
        self.sealed = size;
        Some(Seal { size, note, frontier: self.tree.frontier() })
    }

    /// The checkpoint that the next one makes superfluous: one in the middle of a stretch.
    pub const fn passing(&self) -> Option<u64> {
        if self.sealed.is_multiple_of(EVERY) { None } else { Some(self.sealed) }
    }

    /// Whether nothing was ever sealed.
    pub const fn is_new(&self) -> bool {
        self.sealed == 0
    }

    /// Whether there are records that no checkpoint covers.
    pub const fn is_behind(&self) -> bool {
        self.tree.size() > self.sealed
    }

    /// How many records there are.
    pub const fn size(&self) -> u64 {
        self.tree.size()
    }

    /// The chain's value at the last.
    pub const fn chain(&self) -> Digest {
        self.chain
    }
}

impl Default for Sealer {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use narthex_core::Digest;

    use super::{Checkpoint, EVERY, Sealer};
    use crate::chain::{NoteError, SealKey, StoredRecord};

    fn key() -> SealKey {
        SealKey::from_seed(&[7; 32])
    }

    fn record(seq: u64) -> StoredRecord {
        let bytes = format!("{{\"seq\":{seq}}}").into_bytes();
        StoredRecord { seq, hash: Digest::of(&bytes), bytes }
    }

    #[test]
    fn a_stretch_is_sealed_exactly_when_it_is_full() {
        let (key, mut sealer) = (key(), Sealer::new());
        for seq in 1..=5 * EVERY {
            let sealed = sealer.push(&record(seq), &key);
            assert_eq!(sealed.map(|seal| seal.size), seq.is_multiple_of(EVERY).then_some(seq));
        }
        assert!(!sealer.is_behind());
        assert_eq!(sealer.seal(&key), None);
    }

    #[test]
    fn a_tail_is_sealed_once_and_the_next_stretch_still_at_its_end() {
        let (key, mut sealer) = (key(), Sealer::new());
        (1..=300).for_each(|seq| drop(sealer.push(&record(seq), &key)));
        assert_eq!(sealer.seal(&key).map(|seal| seal.size), Some(300));
        assert_eq!(sealer.seal(&key), None);
        let next = (301..=600).find_map(|seq| sealer.push(&record(seq), &key));
        assert_eq!(next.map(|seal| seal.size), Some(512));
    }

    #[test]
    fn sealing_goes_on_from_any_checkpoint_to_the_same_roots() {
        let (key, mut whole) = (key(), Sealer::new());
        for cut in [1, 2, 255, 256, 300] {
            while whole.size() < cut {
                whole.push(&record(whole.size() + 1), &key);
            }
            let checkpoint = Checkpoint { size: cut, root: whole.tree.root(), chain: whole.chain };
            let seal = super::Seal {
                size: cut,
                note: checkpoint.sign(&key),
                frontier: whole.tree.frontier(),
            };
            let mut resumed = Sealer::resume(&seal, key.public()).unwrap();
            let mut ahead = whole.clone();
            (cut + 1..cut + 700).for_each(|seq| {
                resumed.push(&record(seq), &key);
                ahead.push(&record(seq), &key);
            });
            assert_eq!((resumed.tree, resumed.chain), (ahead.tree, ahead.chain));
            let mut other = seal.clone();
            other.frontier[0] ^= 1;
            assert!(Sealer::resume(&other, key.public()).is_none());
            assert!(Sealer::resume(&super::Seal { size: cut + 1, ..seal }, key.public()).is_none());
        }
    }

    #[test]
    fn there_is_one_way_to_write_a_checkpoint() {
        let key = key();
        let said = Checkpoint { size: 7, root: Digest::of(b"r"), chain: Digest::of(b"c") };
        let note = said.sign(&key);
        assert_eq!(Checkpoint::open(&note, key.public()), Ok(said));
        let text = said.text(key.public().name());
        for other in [
            text.replace("\n7\n", "\n07\n"),
            text.replace("\n7\n", "\n+7\n"),
            text.replace("\n7\n", "\n-7\n"),
            text.replace("chain ", "Chain "),
            format!("{text}more\n"),
            text.replace('=', ""),
            text.replacen("narthex", "other", 1),
            text.trim_end().to_owned() + " \n",
        ] {
            assert_eq!(
                Checkpoint::open(&key.sign(&other), key.public()),
                Err(NoteError::Malformed)
            );
        }
    }

    #[test]
    fn a_base_is_no_checkpoint_and_a_checkpoint_no_base() {
        let key = key();
        let said = Checkpoint { size: 7, root: Digest::of(b"r"), chain: Digest::of(b"c") };
        assert_eq!(Checkpoint::open_base(&said.sign_base(&key), key.public()), Ok(said));
        assert!(Checkpoint::open(&said.sign_base(&key), key.public()).is_err());
        assert!(Checkpoint::open_base(&said.sign(&key), key.public()).is_err());
    }
}
