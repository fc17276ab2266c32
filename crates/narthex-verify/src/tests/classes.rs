//! Nine ways to tamper with a ledger, a good thousand random cases of each: all are found, and
//! nothing is found in ledgers that nobody touched.

#![allow(clippy::cast_possible_wrap, clippy::cast_possible_truncation, reason = "small numbers")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use narthex_core::Digest;
use narthex_store::chain::Checkpoint;

use super::model::{Dice, House, Model, words};
use crate::anchor::Anchor;
use crate::fault::{Fault, Place};
use crate::hash::{GENESIS, link, unhex_hash};
use crate::walk::{Keys, RecordRow, SealRow};

/// Of each class.
const CASES: u64 = 1_200;
const LENGTHS: [usize; 8] = [1, 2, 30, 255, 256, 257, 300, 530];

#[test]
fn ledgers_that_nobody_touched_are_whole() {
    let house = House::new(7);
    let keys = house.keys();
    let longest = house.ledger(&words(700));
    for count in 1..=700 {
        let model = prefix(&house, &longest, count);
        let report = model.check(&keys).unwrap_or_else(|fault| panic!("{count}: {fault}"));
        assert_eq!((report.records, report.sealed), (count as u64, count as u64));
        // Nor while it is being written: the end not sealed yet, the head file one step behind.
        let mut live = model.clone();
        let sealed = 1 + count * 5 % count;
        let older = prefix(&house, &longest, sealed);
        live.seals.retain(|seal| seal.size % 256 == 0);
        live.seals.extend(older.seals.last().filter(|seal| seal.size % 256 != 0).cloned());
        live.file = Some(house.head_at(&live, 1.max(count - 1)));
        let report = live.check(&keys).unwrap_or_else(|fault| panic!("{count}: {fault}"));
        assert!(report.sealed >= sealed as u64);
        // Nor held against any point it came by.
        let mut anchored = model;
        let point = 1 + count * 7 % count.max(1);
        let then = prefix(&house, &longest, point).check(&keys).unwrap();
        anchored.anchors = vec![anchor(&then.root, point)];
        anchored.check(&keys).unwrap_or_else(|fault| panic!("{count}, {point}: {fault}"));
    }
}

macro_rules! class {
    ($name:ident, $change:expr) => {
        #[test]
        fn $name() {
            all_found(stringify!($name), $change);
        }
    };
}

class!(flipped_bits_are_found, flip);
class!(deleted_rows_are_found, delete);
class!(inserted_records_are_found, insert);
class!(swapped_records_are_found, swap);
class!(cut_tails_are_found, truncate);
class!(emptied_ledgers_are_found, empty);
class!(ledgers_rolled_back_are_found_by_their_anchor, roll_back);
class!(forked_histories_are_found, fork);
class!(forged_checkpoints_are_found, forge);

type Change = fn(&House, &mut Model, &mut Dice);

fn all_found(class: &str, change: Change) {
    let house = House::new(7);
    let keys = house.keys();
    let wholes: Vec<Model> = LENGTHS.iter().map(|count| house.ledger(&words(*count))).collect();
    for case in 0..CASES {
        let mut dice = Dice::new(case);
        let mut model = wholes[dice.below(wholes.len())].clone();
        let count = model.records.len();
        change(&house, &mut model, &mut dice);
        let found = model.check(&keys);
        assert!(found.is_err(), "{class}, case {case}: not found in a ledger of {count}");
    }
}

fn flip(_: &House, model: &mut Model, dice: &mut Dice) {
    let bit = 1 << dice.below(8);
    let (record, seal) = (dice.below(model.records.len()), dice.below(model.seals.len()));
    let byte = |bytes: &mut [u8], dice: &mut Dice| bytes[dice.below(bytes.len())] ^= bit;
    match dice.below(8) {
        0..3 => byte(&mut model.records[record].bytes, dice),
        3 => byte(&mut model.records[record].hash, dice),
        4 => {
            let note = &mut model.seals[seal].note;
            let mut bytes = std::mem::take(note).into_bytes();
            byte(&mut bytes, dice);
            // What is no text is no note.
            *note = String::from_utf8(bytes).unwrap_or_default();
        }
        5 => byte(&mut model.seals[seal].frontier, dice),
        6 => {
            let head = model.row.as_mut().unwrap();
            byte(if dice.below(2) == 0 { &mut head.hash } else { &mut head.mac }, dice);
        }
        _ => {
            let head = model.file.as_mut().unwrap();
            byte(if dice.below(2) == 0 { &mut head.hash } else { &mut head.mac }, dice);
        }
    }
}

fn delete(_: &House, model: &mut Model, dice: &mut Dice) {
    let at = dice.below(model.records.len());
    match dice.below(4) {
        // A checkpoint of a full stretch, if there is one.
        0 if model.seals[0].size == 256 => drop(model.seals.remove(0)),
        // One record, and the numbers closed up after it.
        1 => {
            model.records.remove(at);
            renumber(model);
        }
        // The same, and the chain made to fit.
        2 => {
            model.records.remove(at);
            renumber(model);
            rechain(model);
        }
        _ => {
            let many = 1 + dice.below(model.records.len() - at);
            model.records.drain(at..at + many);
        }
    }
}

fn insert(_: &House, model: &mut Model, dice: &mut Dice) {
    let from = dice.below(model.records.len());
    let to = dice.below(model.records.len() + 1);
    let copy = model.records[from].clone();
    model.records.insert(to, copy);
    match dice.below(3) {
        0 => {}
        1 => renumber(model),
        _ => {
            renumber(model);
            rechain(model);
        }
    }
}

fn swap(house: &House, model: &mut Model, dice: &mut Dice) {
    if model.records.len() < 2 {
        return insert(house, model, dice);
    }
    let a = dice.below(model.records.len());
    let b = (a + 1 + dice.below(model.records.len() - 1)) % model.records.len();
    model.records.swap(a, b);
    match dice.below(3) {
        0 => {}
        1 => renumber(model),
        _ => {
            renumber(model);
            rechain(model);
        }
    }
}

fn truncate(house: &House, model: &mut Model, dice: &mut Dice) {
    let left = dice.below(model.records.len());
    let whole = model.clone();
    model.records.truncate(left);
    if dice.below(2) == 0 {
        model.seals.retain(|seal| seal.size <= left as i64);
    }
    // An old head is genuine; the head file remembers what came after it.
    if left > 0 && dice.below(2) == 0 {
        model.row = Some(house.head_at(&whole, left));
    }
}

fn empty(_: &House, model: &mut Model, dice: &mut Dice) {
    match dice.below(5) {
        0 => model.records.clear(),
        1 => model.row = None,
        2 => model.file = None,
        3 => {
            model.records.clear();
            model.seals.clear();
        }
        _ => {
            let anchors = std::mem::take(&mut model.anchors);
            *model = Model {
                records: Vec::new(),
                seals: Vec::new(),
                base: None,
                row: None,
                file: None,
                anchors,
            };
        }
    }
}

/// An older copy of everything. Only what was kept elsewhere can tell.
fn roll_back(house: &House, model: &mut Model, dice: &mut Dice) {
    let report = model.check(&house.keys()).unwrap();
    let size = model.records.len();
    let left = dice.below(size);
    let mut older = prefix(house, model, left.max(1));
    let key = house.keys().seal.unwrap();
    older.anchors = vec![if dice.below(2) == 0 {
        anchor(&report.root, size)
    } else {
        Anchor::signed(&model.seals.last().unwrap().note, &key).unwrap()
    }];
    // It may have gone on since, to another end than the one the anchor knows.
    if size == 1 || dice.below(3) == 0 {
        let anchors = older.anchors;
        older = Model { anchors, ..house.sealed(rewritten(model, left)) };
    }
    *model = older;
}

fn fork(house: &House, model: &mut Model, dice: &mut Dice) {
    let count = model.records.len();
    let at = dice.below(count);
    let said = rewritten(model, at);
    let thief = House::new(8);
    match dice.below(4) {
        // By someone who knows the format and has no key.
        0 => model.records = said,
        // By someone with keys of another house.
        1 => *model = thief.sealed(said),
        // By someone who stole the key of the heads, and not the one that signs.
        2 => {
            let (seals, mut forked) = (model.seals.clone(), house.sealed(said.clone()));
            forked.seals = match dice.below(3) {
                0 => seals,
                1 => thief.sealed(said).seals,
                // What nobody signs made to fit.
                _ => {
                    let fitting = forked.seals.iter().map(|seal| seal.frontier.clone());
                    let fit = |(seal, frontier)| SealRow { frontier, ..seal };
                    seals.into_iter().zip(fitting).map(fit).collect()
                }
            };
            *model = forked;
        }
        // Two genuine ends of one house, laid together.
        _ => {
            let other = house.sealed(said);
            if dice.below(2) == 0 {
                (model.row, model.file) = (other.row, other.file);
            } else {
                model.records = other.records;
            }
        }
    }
}

fn forge(house: &House, model: &mut Model, dice: &mut Dice) {
    let at = dice.below(model.seals.len());
    let other = house.sealed(rewritten(model, dice.below(model.records.len())));
    let thief = House::new(8).sealed(model.records.clone());
    let seal = &mut model.seals[at];
    match dice.below(7) {
        // Signed by someone else.
        0 => *seal = thief.seals[at].clone(),
        // A genuine one of another history.
        1 => seal.note.clone_from(&other.seals[other.seals.len() - 1].note),
        // Genuine and whole, in another place.
        2 => seal.size += 1 + dice.below(50) as i64,
        3 => {
            let further = SealRow { size: model.records.len() as i64 + 1, ..seal.clone() };
            model.seals.push(further);
        }
        // Another text above a genuine signature.
        4 => {
            let root = STANDARD.encode([dice.below(256) as u8; 32]);
            let old = seal.note.lines().nth(2).unwrap().to_owned();
            seal.note = seal.note.replace(&old, &root);
        }
        5 => seal.frontier = other.seals[0].frontier.iter().map(|byte| byte ^ 1).collect(),
        // A base that nobody signed, and the records before it gone.
        _ => {
            let base = SealRow { ..seal.clone() };
            model.records.retain(|row| row.seq > base.size);
            model.seals.retain(|other| other.size > base.size);
            model.base = Some(base);
        }
    }
}

/// The ledger as it was at this size.
fn prefix(house: &House, model: &Model, size: usize) -> Model {
    let mut older = model.clone();
    older.records.truncate(size);
    Model { anchors: older.anchors, ..house.sealed(older.records) }
}

fn anchor(root: &str, size: usize) -> Anchor {
    assert!(unhex_hash(root).is_some());
    Anchor::expected(&format!("{size}:{root}")).unwrap()
}

/// The records with another one in this place, and the chain made to fit.
fn rewritten(model: &Model, at: usize) -> Vec<RecordRow> {
    let mut other = model.clone();
    let row = &mut other.records[at];
    let text = String::from_utf8(row.bytes.clone()).unwrap();
    row.bytes = text.replace("tool-", "fork-").into_bytes();
    rechain(&mut other);
    other.records
}

/// Gives the records the numbers of their places, in their bytes as well.
fn renumber(model: &mut Model) {
    for (row, seq) in model.records.iter_mut().zip(1..) {
        let text = String::from_utf8(row.bytes.clone()).unwrap();
        let old = format!("\"seq\":{},", row.seq);
        row.bytes = text.replace(&old, &format!("\"seq\":{seq},")).into_bytes();
        row.seq = seq;
    }
}

/// What someone without a key can do: make the chain hold in itself.
fn rechain(model: &mut Model) {
    let mut previous = GENESIS;
    for RecordRow { bytes, hash, .. } in &mut model.records {
        previous = link(&previous, bytes);
        *hash = previous.to_vec();
    }
}

#[test]
fn what_is_found_is_said() {
    let house = House::new(7);
    let keys = house.keys();
    let whole = house.ledger(&words(300));
    let said = |change: &dyn Fn(&mut Model)| {
        let mut model = whole.clone();
        change(&mut model);
        model.check(&keys).expect_err("it was changed")
    };
    assert_eq!(said(&|model| drop(model.seals.remove(0))), Fault::Unsealed { size: 256 });
    assert_eq!(
        said(&|model| drop(model.records.remove(4))),
        Fault::Sequence { expected: 5, found: 6 }
    );
    assert_eq!(
        said(&|model| {
            model.records.truncate(290);
            model.seals.truncate(1);
        }),
        Fault::Cut { place: Place::Row, head: 300, last: 290 }
    );
    let mut rolled = house.ledger(&words(299));
    rolled.anchors = vec![anchor(&whole.check(&keys).unwrap().root, 300)];
    assert_eq!(rolled.check(&keys), Err(Fault::RolledBack { size: 300, last: 299 }));
    let mut robbed = house.ledger(&words(200));
    robbed.seals.clear();
    assert_eq!(robbed.check(&keys), Err(Fault::NeverSealed));
    let unchecked = Keys { seal: None, ..keys.clone() };
    assert_eq!(whole.check(&unchecked), Err(Fault::NoPublicKey), "signed, and nobody looks");
}

/// A house whose own hand signed something else than what it wrote.
#[test]
fn root_and_chain_are_each_held_against_what_was_signed() {
    let house = House::new(7);
    let keys = house.keys();
    let whole = house.ledger(&words(300));
    let key = keys.seal.clone().unwrap();
    let said = key.checkpoint(&whole.seals[1].note).unwrap();
    let digest = Digest::from_bytes;
    for (root, chain, what) in [
        ([1; 32], said.chain, "the root of the tree"),
        (said.root, [1; 32], "the value of the chain"),
    ] {
        let mut model = whole.clone();
        let other = Checkpoint { size: 300, root: digest(root), chain: digest(chain) };
        model.seals[1].note = other.sign(&house.seal);
        assert_eq!(model.check(&keys), Err(Fault::SealForked { size: 300, what }));
    }
}

#[test]
fn what_was_taken_out_is_gone_and_signed_for() {
    let house = House::new(7);
    let keys = house.keys();
    let whole = house.ledger(&words(700));
    let said = keys.seal.as_ref().unwrap().checkpoint(&whole.seals[1].note).unwrap();
    let base = Checkpoint {
        size: 512,
        root: Digest::from_bytes(said.root),
        chain: Digest::from_bytes(said.chain),
    };
    let mut pruned = whole.clone();
    pruned.records.drain(..512);
    pruned.seals.remove(0);
    pruned.base = Some(SealRow { note: base.sign_base(&house.seal), ..whole.seals[1].clone() });
    let report = pruned.check(&keys).unwrap();
    assert_eq!(
        (report.base, report.records, report.root),
        (512, 700, whole.check(&keys).unwrap().root)
    );
    let found = |change: &dyn Fn(&mut Model)| {
        let mut model = pruned.clone();
        change(&mut model);
        model.check(&keys).is_err()
    };
    assert!(found(&|model| model.seals.push(whole.seals[0].clone())), "an older checkpoint");
    assert!(found(&|model| model.records.insert(0, whole.records[511].clone())), "a record");
    assert!(found(&|model| model.base = None), "no base");
    assert!(found(&|model| model.base = Some(whole.seals[1].clone())), "a checkpoint as base");
    assert!(found(&|model| model.base.as_mut().unwrap().frontier[0] ^= 1), "another tree");
    assert!(found(&|model| model.base.as_mut().unwrap().size = 256), "another size");
    assert!(found(&|model| drop(model.records.remove(0))), "a record more is gone");
    let old = prefix(&house, &whole, 100).check(&keys).unwrap();
    assert!(found(&|model| model.anchors = vec![anchor(&old.root, 100)]), "it cannot be told");
}
