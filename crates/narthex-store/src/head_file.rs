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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;

    use narthex_core::Digest;

    use super::{HeadFile, SLOT_BYTES};
    use crate::chain::HeadKey;

    const KEY: HeadKey = HeadKey::new([9; 32]);

    #[test]
    fn the_newest_head_is_read_back() {
        let (_dir, path) = place();
        assert_eq!(HeadFile::read(&path, &KEY).unwrap(), None, "there is no file");
        let mut file = HeadFile::open(&path).unwrap();
        assert_eq!(HeadFile::read(&path, &KEY).unwrap(), None, "there is nothing in it");
        for seq in 1..6 {
            let head = KEY.head(seq, Digest::of(&seq.to_be_bytes()));
            file.write(&head).unwrap();
            file.sync().unwrap();
            assert_eq!(HeadFile::read(&path, &KEY).unwrap(), Some(head));
        }
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&path).unwrap().len(), 2 * SLOT_BYTES as u64);
    }

    #[test]
    fn a_torn_write_leaves_the_head_before_it() {
        let (_dir, path) = place();
        let heads: Vec<_> = (1..5).map(|seq| KEY.head(seq, Digest::of(b"x"))).collect();
        for written in 2..=heads.len() {
            fs::remove_file(&path).ok();
            let mut file = HeadFile::open(&path).unwrap();
            for head in &heads[..written] {
                file.write(head).unwrap();
            }
            let whole = fs::read(&path).unwrap();
            let slot = (written - 1) % 2 * SLOT_BYTES;
            // However much of the last write reached the disk.
            for torn in [0, 1, 20, 90, 150] {
                let mut bytes = whole.clone();
                bytes[slot + torn..slot + SLOT_BYTES].fill(0);
                fs::write(&path, &bytes).unwrap();
                let read = HeadFile::read(&path, &KEY).unwrap();
                assert_eq!(read, Some(heads[written - 2]), "{written} written, torn at {torn}");
            }
        }
    }

    #[test]
    fn opening_again_goes_on_in_the_older_slot() {
        let (_dir, path) = place();
        for seq in 1..7 {
            let head = KEY.head(seq, Digest::of(b"x"));
            HeadFile::open(&path).unwrap().write(&head).unwrap();
            let before = seq.checked_sub(1).filter(|seq| *seq > 0);
            let bytes = String::from_utf8(fs::read(&path).unwrap()).unwrap();
            assert!(bytes.contains(&format!("v1 {seq} ")));
            assert!(before.is_none_or(|seq| bytes.contains(&format!("v1 {seq} "))));
        }
    }

    #[test]
    fn a_flip_of_any_byte_is_no_head() {
        let (_dir, path) = place();
        let head = KEY.head(7, Digest::of(b"x"));
        HeadFile::open(&path).unwrap().write(&head).unwrap();
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            fs::write(&path, &bytes).unwrap();
            let read = HeadFile::read(&path, &KEY).unwrap();
            assert!(read.is_none_or(|read| read == head), "byte {at}: {read:?}");
        }
        // What another key made is none of ours.
        fs::write(&path, &whole).unwrap();
        assert_eq!(HeadFile::read(&path, &HeadKey::new([1; 32])).unwrap(), None);
    }

    #[test]
    fn a_forged_later_head_does_not_hide_the_genuine_one() {
        let (_dir, path) = place();
        let mut file = HeadFile::open(&path).unwrap();
        let head = KEY.head(7, Digest::of(b"x"));
        file.write(&head).unwrap();
        file.write(&HeadKey::new([1; 32]).head(900, Digest::of(b"y"))).unwrap();
        assert_eq!(HeadFile::read(&path, &KEY).unwrap(), Some(head));
    }

    fn place() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("head");
        (dir, path)
    }
}
