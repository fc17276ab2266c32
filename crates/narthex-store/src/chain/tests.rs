//! Every way to tamper with a ledger that someone without the key has, and that each is found.

use narthex_core::{Actor, CallId, Digest, Phase, RecordDraft, Timestamp, Transport};
use uuid::Uuid;

use super::{
    ChainError, GENESIS, Head, HeadKey, HeadPlace, StoredRecord, Verification, Verified, seal,
};

const KEY: HeadKey = HeadKey::new([9; 32]);
const OTHER_KEY: HeadKey = HeadKey::new([8; 32]);

#[test]
fn an_untouched_ledger_is_whole() {
    for count in [1, 2, 7] {
        let ledger = ledger(count);
        let last = ledger[ledger.len() - 1].hash;
        assert_eq!(check(&ledger, count), Ok(Verified { records: count, head: last }));
        assert!(ledger[0].follows(GENESIS));
        assert!(ledger.windows(2).all(|two| two[1].follows(two[0].hash)));
    }
}

#[test]
fn a_flip_of_any_byte_is_found() {
    let whole = ledger(3);
    for (n, record) in whole.iter().enumerate() {
        for at in 0..record.bytes.len() {
            let mut changed = whole.clone();
            changed[n].bytes[at] ^= 1;
            let seq = record.seq;
            assert_eq!(
                check(&changed, 3),
                Err(ChainError::Broken { seq }),
                "record {seq}, byte {at}"
            );
        }
        for at in 0..32 {
            let mut changed = whole.clone();
            let mut hash = *record.hash.as_bytes();
            hash[at] ^= 0x80;
            changed[n].hash = Digest::from_bytes(hash);
            assert!(check(&changed, 3).is_err(), "record {n}, byte {at} of the hash");
        }
    }
}

#[test]
fn bytes_added_or_taken_away_are_found() {
    for change in [
        |bytes: &mut Vec<u8>| bytes.push(b' '),
        |bytes: &mut Vec<u8>| bytes.insert(0, b' '),
        |bytes: &mut Vec<u8>| bytes.truncate(10),
        |bytes: &mut Vec<u8>| bytes.clear(),
    ] {
        let mut changed = ledger(3);
        change(&mut changed[1].bytes);
        assert_eq!(check(&changed, 3), Err(ChainError::Broken { seq: 2 }));
    }
}

#[test]
fn deleted_doubled_and_swapped_records_are_found() {
    let whole = ledger(5);
    for n in 0..5 {
        let mut changed = whole.clone();
        changed.remove(n);
        assert!(check(&changed, 5).is_err(), "without {n}");
        let mut changed = whole.clone();
        changed.insert(n, whole[n].clone());
        assert!(check(&changed, 5).is_err(), "{n} twice");
    }
    for n in 0..4 {
        let mut changed = whole.clone();
        changed.swap(n, n + 1);
        assert!(check(&changed, 5).is_err(), "{n} swapped");
        // The same with the numbers made to fit.
        let (first, second) = (changed[n + 1].seq, changed[n].seq);
        (changed[n].seq, changed[n + 1].seq) = (first, second);
        assert!(check(&changed, 5).is_err(), "{n} swapped and numbered");
    }
}

#[test]
fn an_inserted_record_is_found() {
    let mut changed = ledger(3);
    let forged = seal(draft("forged"), 2, at(9), changed[0].hash).unwrap();
    changed.insert(1, forged);
    assert_eq!(check(&changed, 3), Err(ChainError::Sequence { expected: 3, found: 2 }));
}

#[test]
fn a_history_written_anew_is_found() {
    // Whoever can write the records but has no key can make a chain that holds in itself.
    let rewritten = chain(&["house.founded", "something else", "tool"]);
    let heads = heads(&ledger(3));
    let forked = ChainError::Forked { place: HeadPlace::File, seq: 3 };
    assert_eq!(walk(&rewritten, heads.0, heads.1), Err(forked));
    let forked = ChainError::Forked { place: HeadPlace::Row, seq: 3 };
    let file = Some(KEY.head(3, rewritten[2].hash));
    assert_eq!(walk(&rewritten, heads.0, file), Err(forked));
}

#[test]
fn a_cut_tail_is_found() {
    let whole = ledger(5);
    let (row, file) = heads(&whole);
    for left in 1..5_usize {
        let last = left as u64;
        let cut = ChainError::Cut { place: HeadPlace::Row, head: 5, last };
        assert_eq!(walk(&whole[..left], row, file), Err(cut));
        // An old stored head put back in its place does not hide it.
        let old = Some(KEY.head(last, whole[left - 1].hash));
        let cut = ChainError::Cut { place: HeadPlace::File, head: 5, last };
        assert_eq!(walk(&whole[..left], old, file), Err(cut));
    }
    assert_eq!(walk(&[], row, file), Err(ChainError::Empty));
}

#[test]
fn records_beyond_the_stored_head_are_found() {
    let whole = ledger(5);
    let short = Some(KEY.head(4, whole[3].hash));
    let beyond = ChainError::Beyond { place: HeadPlace::Row, head: 4, last: 5 };
    assert_eq!(walk(&whole, short, short), Err(beyond));
}

#[test]
fn a_head_file_may_lag_but_not_lie() {
    let whole = ledger(5);
    let (row, _) = heads(&whole);
    for (n, record) in whole.iter().enumerate() {
        let file = Some(KEY.head(record.seq, record.hash));
        assert!(walk(&whole, row, file).is_ok(), "lagging at {n}");
        let file = Some(KEY.head(record.seq, Digest::of(b"another history")));
        let forked = ChainError::Forked { place: HeadPlace::File, seq: record.seq };
        assert_eq!(walk(&whole, row, file), Err(forked));
    }
    let before_the_first = Some(KEY.head(0, GENESIS));
    assert!(walk(&whole, row, before_the_first).is_err());
}

#[test]
fn missing_and_forged_heads_are_found() {
    let whole = ledger(3);
    let (row, file) = heads(&whole);
    let missing = |place| Err(ChainError::HeadMissing { place });
    let forged = |place| Err(ChainError::HeadForged { place });
    assert_eq!(walk(&whole, None, file), missing(HeadPlace::Row));
    assert_eq!(walk(&whole, row, None), missing(HeadPlace::File));
    let by_another = Some(OTHER_KEY.head(3, whole[2].hash));
    assert_eq!(walk(&whole, by_another, file), forged(HeadPlace::Row));
    assert_eq!(walk(&whole, row, by_another), forged(HeadPlace::File));
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
fn a_record_that_chains_but_is_no_record_is_found() {
    // Made by someone who knows how to chain: the bytes must still be a record of this number.
    for bytes in ["", "{}", "null", "not json"] {
        let bytes = bytes.as_bytes().to_vec();
        let hash = super::link(GENESIS, &bytes);
        let record = StoredRecord { seq: 1, bytes, hash };
        assert_eq!(check(&[record], 1), Err(ChainError::Unreadable { seq: 1 }));
    }
    let renumbered = StoredRecord { seq: 1, ..seal(draft("x"), 2, at(1), GENESIS).unwrap() };
    assert_eq!(check(&[renumbered], 1), Err(ChainError::Unreadable { seq: 1 }));
}

#[test]
fn sealing_is_one_line_and_reads_back() {
    let said = draft("a\nb\u{2028}\u{0}\u{1b}[31m\"}{\"seq\":1");
    let sealed = seal(said.clone(), 3, at(4), GENESIS).unwrap();
    assert!(sealed.bytes.iter().all(|byte| (b' '..=b'~').contains(byte)));
    let read = sealed.read().unwrap();
    assert_eq!((read.seq, read.at, read.draft), (3, at(4), said));
}

/// Against the heads of a ledger of `count` records as it was before anyone touched it.
fn check(records: &[StoredRecord], count: u64) -> Result<Verified, ChainError> {
    let (row, file) = heads(&ledger(count));
    walk(records, row, file)
}

fn walk(
    records: &[StoredRecord],
    row: Option<Head>,
    file: Option<Head>,
) -> Result<Verified, ChainError> {
    let mut walk = Verification::start(file);
    records.iter().try_for_each(|record| walk.next(record))?;
    walk.finish(row, &KEY)
}

fn heads(records: &[StoredRecord]) -> (Option<Head>, Option<Head>) {
    let head = records.last().map(|last| KEY.head(last.seq, last.hash));
    (head, head)
}

fn ledger(count: u64) -> Vec<StoredRecord> {
    let tools: Vec<String> = (0..count).map(|n| format!("tool-{n}")).collect();
    chain(&tools.iter().map(String::as_str).collect::<Vec<_>>())
}

fn chain(tools: &[&str]) -> Vec<StoredRecord> {
    let mut previous = GENESIS;
    let mut records = Vec::new();
    for (tool, seq) in tools.iter().zip(1..) {
        let record = seal(draft(tool), seq, at(1), previous).unwrap();
        previous = record.hash;
        records.push(record);
    }
    records
}

const fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn draft(tool: &str) -> RecordDraft {
    let call = CallId::from_uuid(Uuid::nil());
    RecordDraft::new(Phase::Observed, call, Actor::House, Transport::Local, tool)
}
