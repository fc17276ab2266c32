//! The head of the ledger in a file of its own, apart from the database.
//!
//! Two slots of one disk sector each are written in turn, so that a write that tore leaves the
//! other slot whole. The file is written after each commit and may lag behind it after a power
//! cut; it never leads.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use narthex_core::Digest;

use crate::chain::{Head, HeadKey};

/// The open file.
#[derive(Debug)]
pub struct HeadFile {
    file: File,
    turn: u64,
}

impl HeadFile {
    /// Opens it, making it readable only by its owner if it is new.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)?;
        let turn = newest(&file).map_or(0, |(slot, _)| slot + 1);
        Ok(Self { file, turn })
    }

    /// Writes a head into the older slot.
    pub fn write(&mut self, head: &Head) -> io::Result<()> {
        let line = format!("{} {} {} {}\n", MAGIC, head.seq, head.hash, head.mac);
        let slot = self.turn % 2;
        self.file.write_all_at(&padded(&line), slot * SLOT)?;
        self.turn = slot + 1;
        Ok(())
    }

    /// Makes sure what was written is on the disk.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// The newest genuine head a file holds; none if there is no such file or nothing in it.
    pub fn read(path: &Path, key: &HeadKey) -> io::Result<Option<Head>> {
        match File::open(path) {
            Ok(file) => Ok(heads(&file)
                .into_iter()
                .map(|(_, head)| head)
                .filter(|h| key.is_genuine(h))
                .max_by_key(|h| h.seq)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn newest(file: &File) -> Option<(u64, Head)> {
    heads(file).into_iter().max_by_key(|(_, head)| head.seq)
}

fn heads(file: &File) -> Vec<(u64, Head)> {
    (0..2).filter_map(|slot| read_slot(file, slot).map(|head| (slot, head))).collect()
}

fn read_slot(file: &File, slot: u64) -> Option<Head> {
    let mut bytes = [0_u8; SLOT_BYTES];
    file.read_exact_at(&mut bytes, slot * SLOT).ok()?;
    let line = std::str::from_utf8(&bytes).ok()?.trim_end();
    let mut words = line.split(' ');
    if words.next() != Some(MAGIC) {
        return None;
    }
    let seq = words.next()?.parse().ok()?;
    let hash: Digest = words.next()?.parse().ok()?;
    let mac: Digest = words.next()?.parse().ok()?;
    words.next().is_none().then_some(Head { seq, hash, mac })
}

fn padded(line: &str) -> [u8; SLOT_BYTES] {
    let mut bytes = [b' '; SLOT_BYTES];
    for (slot, byte) in bytes.iter_mut().zip(line.bytes()) {
        *slot = byte;
    }
    bytes
}

const MAGIC: &str = "narthex-head-v1";
const SLOT_BYTES: usize = 512;
const SLOT: u64 = SLOT_BYTES as u64;
