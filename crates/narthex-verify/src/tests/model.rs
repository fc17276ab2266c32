//! A ledger in memory, as the writing code makes it.

use narthex_core::{Actor, CallId, Digest, Phase, RecordDraft, Timestamp, Transport};
use narthex_store::chain::{self, GENESIS, Seal, SealKey, Sealer, StoredRecord, seal};
use uuid::Uuid;

use crate::anchor::Anchor;
use crate::fault::Fault;
use crate::head::{Head, HeadKey};
use crate::walk::{Keys, RecordRow, Report, SealRow, Walk};

/// Everything of a ledger that someone could change, and what it is held against.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) records: Vec<RecordRow>,
    pub(super) seals: Vec<SealRow>,
    pub(super) base: Option<SealRow>,
    pub(super) row: Option<Head>,
    pub(super) file: Option<Head>,
    pub(super) anchors: Vec<Anchor>,
}

/// Where a house of tests has its keys from.
pub(super) struct House {
    pub(super) head: chain::HeadKey,
    pub(super) seal: SealKey,
    seed: u8,
}

impl House {
    pub(super) fn new(seed: u8) -> Self {
        let seal = SealKey::from_seed(&[seed; 32]);
        Self { head: chain::HeadKey::new([seed; 32]), seal, seed }
    }

    pub(super) fn keys(&self) -> Keys {
        Keys {
            seal: Some(self.seal.public().to_string().parse().unwrap()),
            head: Some(HeadKey::new([self.seed; 32])),
        }
    }

    /// A ledger that says these words, sealed at its end.
    pub(super) fn ledger(&self, words: &[String]) -> Model {
        let mut previous = GENESIS;
        let mut records = Vec::new();
        for (word, seq) in words.iter().zip(1..) {
            let stored = seal(draft(word), seq, Timestamp::from_millis(1), previous).unwrap();
            previous = stored.hash;
            let hash = stored.hash.as_bytes().to_vec();
            records.push(RecordRow { seq: seq.cast_signed(), bytes: stored.bytes, hash });
        }
        self.sealed(records)
    }

    /// These records with the checkpoints and heads this house would give them.
    pub(super) fn sealed(&self, records: Vec<RecordRow>) -> Model {
        let mut sealer = Sealer::new();
        let mut seals = Vec::new();
        for row in &records {
            let hash = Digest::from_bytes(row.hash.clone().try_into().unwrap());
            let stored = StoredRecord { seq: 0, bytes: row.bytes.clone(), hash };
            seals.extend(sealer.push(&stored, &self.seal).map(seal_row));
        }
        seals.extend(sealer.seal(&self.seal).map(seal_row));
        let mut model =
            Model { records, seals, base: None, row: None, file: None, anchors: Vec::new() };
        let head = self.head_at(&model, model.records.len());
        (model.row, model.file) = (Some(head), Some(head));
        model
    }

    /// The head as it was at this size.
    pub(super) fn head_at(&self, model: &Model, size: usize) -> Head {
        let hash: [u8; 32] = model.records[size - 1].hash.clone().try_into().unwrap();
        let head = self.head.head(size as u64, Digest::from_bytes(hash));
        Head { seq: head.seq, hash, mac: *head.mac.as_bytes() }
    }
}

impl Model {
    pub(super) fn check(&self, keys: &Keys) -> Result<Report, Fault> {
        // Reading a head file passes over what is not genuine.
        let genuine = |head: &Head| keys.head.as_ref().is_none_or(|key| key.is_genuine(head));
        let file = self.file.filter(genuine);
        let mut walk = Walk::start(keys.clone(), self.base.as_ref(), file, self.anchors.clone())?;
        for chunk in self.records.chunks(300) {
            let from = chunk.first().map_or(0, |row| row.seq);
            let from = if from == self.records[0].seq { i64::MIN } else { from };
            let to = chunk.last().map_or(0, |row| row.seq);
            walk.advance(chunk, &self.seals_between(from, to))?;
        }
        let after = self.records.last().map_or(i64::MIN, |row| row.seq.saturating_add(1));
        walk.advance(&[], &self.seals_between(after, i64::MAX))?;
        walk.finish(self.row, true)
    }

    fn seals_between(&self, from: i64, to: i64) -> Vec<SealRow> {
        let mut seals: Vec<_> =
            self.seals.iter().filter(|seal| (from..=to).contains(&seal.size)).cloned().collect();
        seals.sort_by_key(|seal| seal.size);
        seals
    }
}

pub(super) fn words(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("tool-{n}")).collect()
}

pub(super) fn draft(tool: &str) -> RecordDraft {
    let call = CallId::from_uuid(Uuid::nil());
    RecordDraft::new(Phase::Observed, call, Actor::Owner, Transport::Local, tool)
}

pub(super) fn seal_row(seal: Seal) -> SealRow {
    SealRow { size: seal.size.cast_signed(), note: seal.note, frontier: seal.frontier }
}

/// Seeded, so that a failure can be seen again.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count.max(1) as u64).unwrap()
    }
}
