//! The walk along a ledger, record by record, wherever they come from.

use serde::Serialize;

use crate::anchor::Anchor;
use crate::fault::{Fault, Place};
use crate::gather::Gather;
use crate::hash::{GENESIS, Hash, hex, link};
use crate::head::{Head, HeadKey};
use crate::note::{Checkpoint, Kind, PublicKey};
use crate::record;
use crate::tree::Tree;

/// There is a checkpoint at each multiple of this many records.
pub const EVERY: u64 = 256;

/// What a ledger is held against. Without the public key nothing that is signed can be checked,
/// without the head key the heads are only compared; the [`Report`] says which was used.
#[derive(Debug, Clone, Default)]
pub struct Keys {
    /// The public key of the house.
    pub seal: Option<PublicKey>,
    /// The key heads are authenticated with.
    pub head: Option<HeadKey>,
}

/// A record as it lies there.
#[derive(Debug, Clone)]
pub(crate) struct RecordRow {
    pub(crate) seq: i64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) hash: Vec<u8>,
}

/// A checkpoint, or the base, as it lies there.
#[derive(Debug, Clone)]
pub(crate) struct SealRow {
    pub(crate) size: i64,
    pub(crate) note: String,
    pub(crate) frontier: Vec<u8>,
}

/// A ledger that was found whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The number of the last record.
    pub records: u64,
    /// The last record that was taken out; 0 if none was.
    pub base: u64,
    /// The chain's value at the last record.
    pub head: String,
    /// The root of the tree over all records.
    pub root: String,
    /// How many checkpoints were checked.
    pub checkpoints: u64,
    /// How many records the last of them covers.
    pub sealed: u64,
    /// With which public key they are signed; none if the house has no such key.
    pub signed_by: Option<String>,
    /// Whether the heads' MACs were checked, or only what they say.
    pub heads_authenticated: bool,
    /// How many anchors it was held against.
    pub anchors: usize,
    /// How many other sealed rows of the house were checked.
    pub rows: u64,
}

/// A walk under way.
#[derive(Debug)]
pub(crate) struct Walk {
    keys: Keys,
    base: u64,
    seq: u64,
    chain: Hash,
    tree: Tree,
    last: Option<(Checkpoint, String)>,
    checkpoints: u64,
    file: Option<Head>,
    file_met: bool,
    anchors: Vec<Anchor>,
    pub(crate) gather: Gather,
}

impl Walk {
    pub(crate) fn start(
        keys: Keys,
        base: Option<&SealRow>,
        file: Option<Head>,
        anchors: Vec<Anchor>,
    ) -> Result<Self, Fault> {
        let begin = match base {
            None => (0, GENESIS, Tree::new()),
            Some(row) => from_base(row, keys.seal.as_ref(), Kind::Base)?,
        };
        Self::from(keys, begin, file, anchors)
    }

    /// Begins at a checkpoint of the ledger that this is a piece of.
    pub(crate) fn start_at(keys: Keys, at: &SealRow, anchors: Vec<Anchor>) -> Result<Self, Fault> {
        let begin = from_base(at, keys.seal.as_ref(), Kind::Checkpoint)?;
        let said = Checkpoint { size: begin.0, root: begin.2.root(), chain: begin.1 };
        let mut walk = Self::from(keys, begin, None, anchors)?;
        walk.last = Some((said, at.note.clone()));
        Ok(walk)
    }

    fn from(
        keys: Keys,
        (seq, chain, tree): (u64, Hash, Tree),
        file: Option<Head>,
        anchors: Vec<Anchor>,
    ) -> Result<Self, Fault> {
        if let Some(old) = anchors.iter().find(|anchor| anchor.size < seq) {
            return Err(Fault::AnchorPruned { size: old.size, base: seq });
        }
        let gather = Gather::from(&tree);
        let mut walk = Self {
            keys,
            base: seq,
            seq,
            chain,
            tree,
            last: None,
            checkpoints: 0,
            file,
            file_met: false,
            anchors,
            gather,
        };
        walk.meet()?;
        Ok(walk)
    }

    /// Checks the next records, and the checkpoints that lie among them.
    pub(crate) fn advance(&mut self, rows: &[RecordRow], seals: &[SealRow]) -> Result<(), Fault> {
        let mut seals = seals.iter().peekable();
        // The checkpoint that the base stands on may still be there.
        while let Some(seal) = seals.next_if(|seal| seal.size.cast_unsigned() == self.base) {
            self.checkpoint(seal)?;
        }
        for row in rows {
            self.record(row)?;
            let mut sealed = false;
            while let Some(seal) = seals.next_if(|seal| seal.size <= row.seq) {
                self.checkpoint(seal)?;
                sealed = true;
            }
            if !sealed && self.keys.seal.is_some() && self.seq.is_multiple_of(EVERY) {
                return Err(Fault::Unsealed { size: self.seq });
            }
        }
        seals.try_for_each(|seal| self.checkpoint(seal))
    }

    fn record(&mut self, row: &RecordRow) -> Result<(), Fault> {
        let seq = self.seq + 1;
        if u64::try_from(row.seq) != Ok(seq) {
            return Err(Fault::Sequence { expected: seq, found: row.seq });
        }
        let hash = link(&self.chain, &row.bytes);
        if hash.as_slice() != row.hash {
            return Err(Fault::Broken { seq });
        }
        let said = record::read(&row.bytes).ok_or(Fault::Unreadable { seq })?;
        if said.seq != seq || said.version != VERSION {
            return Err(Fault::Unreadable { seq });
        }
        let leaf = self.tree.push(&row.bytes);
        self.gather.leaf(leaf);
        self.seq = seq;
        self.chain = hash;
        self.meet()
    }

    /// What names this very point must agree with it.
    fn meet(&mut self) -> Result<(), Fault> {
        let seq = self.seq;
        if let Some(file) = &self.file
            && file.seq == seq
        {
            if file.hash != self.chain {
                return Err(Fault::Forked { place: Place::File, seq });
            }
            self.file_met = true;
        }
        for anchor in self.anchors.iter().filter(|anchor| anchor.size == seq) {
            if !anchor.agrees(&self.tree.root(), &self.chain) {
                return Err(Fault::Forked { place: Place::Anchor, seq });
            }
        }
        Ok(())
    }

    fn checkpoint(&mut self, row: &SealRow) -> Result<(), Fault> {
        let why = |why| Fault::SealForged { size: row.size, why };
        // A signature that nobody checks is none: taking the key away must not pass for a house
        // that never had one.
        let key = self.keys.seal.as_ref().ok_or(Fault::NoPublicKey)?;
        let said = key.read(&row.note, Kind::Checkpoint).map_err(why)?;
        if i64::try_from(said.size) != Ok(row.size) {
            return Err(why("it is signed for another size"));
        }
        let size = said.size;
        if size > self.seq && self.seq == self.base {
            return Err(Fault::Empty);
        }
        if size > self.seq {
            return Err(Fault::Cut { place: Place::Checkpoint, head: size, last: self.seq });
        }
        let twice = self.last.as_ref().is_some_and(|(last, _)| last.size >= size);
        if size < self.seq || size < self.base || twice {
            return Err(why("it stands where none can be"));
        }
        let what = |what| Err(Fault::SealForked { size, what });
        if said.root != self.tree.root() {
            return what("the root of the tree");
        }
        if said.chain != self.chain {
            return what("the value of the chain");
        }
        if !self.tree.has_frontier(&row.frontier) {
            return what("the stored frontier of the tree");
        }
        self.checkpoints += 1;
        self.last = Some((said, row.note.clone()));
        Ok(())
    }

    /// The last checkpoint that was met.
    pub(crate) const fn last_checkpoint(&self) -> Option<&(Checkpoint, String)> {
        self.last.as_ref()
    }

    /// Ends: the chain must reach exactly the stored head, and at least the head file's.
    pub(crate) fn finish(&self, row: Option<Head>, with_file: bool) -> Result<Report, Fault> {
        if self.seq == self.base {
            return Err(Fault::Empty);
        }
        let row = row.ok_or(Fault::HeadMissing { place: Place::Row })?;
        self.head(Place::Row, &row)?;
        if row.seq < self.seq {
            return Err(Fault::Beyond { place: Place::Row, head: row.seq, last: self.seq });
        }
        if row.hash != self.chain {
            return Err(Fault::Forked { place: Place::Row, seq: self.seq });
        }
        if with_file {
            let file = self.file.ok_or(Fault::HeadMissing { place: Place::File })?;
            self.head(Place::File, &file)?;
            if !self.file_met {
                return Err(Fault::Forked { place: Place::File, seq: file.seq });
            }
        }
        self.end()
    }

    /// Ends a walk along records that have no heads of their own.
    pub(crate) fn end(&self) -> Result<Report, Fault> {
        if self.keys.seal.is_some() && self.last.is_none() {
            return Err(Fault::NeverSealed);
        }
        if let Some(lost) = self.anchors.iter().find(|anchor| anchor.size > self.seq) {
            return Err(Fault::RolledBack { size: lost.size, last: self.seq });
        }
        Ok(Report {
            records: self.seq,
            base: self.base,
            head: hex(&self.chain),
            root: hex(&self.tree.root()),
            checkpoints: self.checkpoints,
            sealed: self.last.as_ref().map_or(self.base, |(said, _)| said.size),
            signed_by: self.keys.seal.as_ref().map(|key| key.name().to_owned()),
            heads_authenticated: self.keys.head.is_some(),
            anchors: self.anchors.len(),
            rows: 0,
        })
    }

    fn head(&self, place: Place, head: &Head) -> Result<(), Fault> {
        if self.keys.head.as_ref().is_some_and(|key| !key.is_genuine(head)) {
            return Err(Fault::HeadForged { place });
        }
        if head.seq > self.seq {
            return Err(Fault::Cut { place, head: head.seq, last: self.seq });
        }
        Ok(())
    }
}

/// The point from which on records are there, as the house signed it when the others went.
fn from_base(
    row: &SealRow,
    key: Option<&PublicKey>,
    kind: Kind,
) -> Result<(u64, Hash, Tree), Fault> {
    let key = key.ok_or(Fault::Base("there is no public key to check it with"))?;
    let said = key.read(&row.note, kind).map_err(Fault::Base)?;
    if i64::try_from(said.size) != Ok(row.size) || !said.size.is_multiple_of(EVERY) {
        return Err(Fault::Base("it is signed for another size"));
    }
    let tree = Tree::from_frontier(said.size, &row.frontier)
        .filter(|tree| tree.root() == said.root)
        .ok_or(Fault::Base("its tree is not the one it signs"))?;
    Ok((said.size, said.chain, tree))
}

const VERSION: u64 = 1;
