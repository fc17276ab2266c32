//! Records and heads. What a whole ledger is, `narthex-verify` says.

use narthex_core::{Actor, CallId, Digest, Phase, RecordDraft, Timestamp, Transport};
use uuid::Uuid;

use super::{GENESIS, Head, HeadKey, StoredRecord, seal};

const KEY: HeadKey = HeadKey::new([9; 32]);
const OTHER_KEY: HeadKey = HeadKey::new([8; 32]);

#[test]
fn a_record_follows_the_one_it_was_made_after() {
    let first = seal(draft("first"), 1, at(1), GENESIS).unwrap();
    let second = seal(draft("second"), 2, at(1), first.hash).unwrap();
    assert!(first.follows(GENESIS) && second.follows(first.hash));
    assert!(!first.follows(second.hash) && !second.follows(GENESIS));
    for at in 0..second.bytes.len() {
        let mut changed = second.clone();
        changed.bytes[at] ^= 1;
        assert!(!changed.follows(first.hash), "byte {at}");
    }
    for change in [
        |bytes: &mut Vec<u8>| bytes.push(b' '),
        |bytes: &mut Vec<u8>| bytes.insert(0, b' '),
        |bytes: &mut Vec<u8>| bytes.truncate(10),
        |bytes: &mut Vec<u8>| bytes.clear(),
    ] {
        let mut changed = second.clone();
        change(&mut changed.bytes);
        assert!(!changed.follows(first.hash), "{changed:?}");
    }
}

#[test]
fn a_head_is_genuine_only_as_it_was_made() {
    let head = KEY.head(7, Digest::of(b"x"));
    assert!(KEY.is_genuine(&head));
    assert!(!OTHER_KEY.is_genuine(&head));
    for changed in [
        Head { seq: 8, ..head },
        Head { hash: Digest::of(b"y"), ..head },
        Head { mac: Digest::of(b"z"), ..head },
    ] {
        assert!(!KEY.is_genuine(&changed), "{changed:?}");
    }
}

#[test]
fn bytes_that_are_no_record_do_not_read() {
    for bytes in ["", "{}", "null", "not json"] {
        let bytes = bytes.as_bytes().to_vec();
        let record = StoredRecord { seq: 7, hash: super::link(GENESIS, &bytes), bytes };
        assert_eq!(record.read().unwrap_err().seq, 7, "{record:?}");
    }
}

#[test]
fn sealing_is_one_line_and_reads_back() {
    let said = draft("a\nb\u{2028}\u{0}\u{1b}[31m\"}{\"seq\":1");
    let sealed = seal(said.clone(), 3, at(4), GENESIS).unwrap();
    assert!(sealed.bytes.iter().all(|byte| (b' '..=b'~').contains(byte)));
    let read = sealed.read().unwrap();
    assert_eq!((read.seq, read.at, read.draft), (3, at(4), said));
}

const fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn draft(tool: &str) -> RecordDraft {
    let call = CallId::from_uuid(Uuid::nil());
    RecordDraft::new(Phase::Observed, call, Actor::House, Transport::Local, tool)
}
