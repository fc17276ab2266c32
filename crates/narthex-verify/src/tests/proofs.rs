//! Proofs: those for every record lead to the root, those another implementation makes are the
//! same, and nothing else passes.

use ct_merkle::mem_backed_tree::MemoryBackedTree;
use sha2::Sha256;

use super::model::{House, words};
use crate::gather::Gather;
use crate::hash::leaf;
use crate::proof::{ConsistencyProof, InclusionProof, NoProof, Proof};
use crate::tree::Tree;

#[test]
fn paths_are_those_another_implementation_finds() {
    for size in [1_u64, 2, 3, 7, 255, 256, 257, 400, 512, 600, 770] {
        let mut theirs = MemoryBackedTree::<Sha256, Vec<u8>>::new();
        (0..size).for_each(|n| theirs.push(n.to_be_bytes().to_vec()));
        for record in (1..=size).filter(|seq| seq % 61 == 1 || *seq + 3 > size) {
            let gather = gathered(&[record], 0, size);
            let path = gather.inclusion(record - 1, size).unwrap().concat();
            let place = usize::try_from(record - 1).unwrap();
            assert_eq!(path, theirs.prove_inclusion(place).as_bytes(), "{record} of {size}");
            let path = gather.consistency(record, size).unwrap().concat();
            let more = usize::try_from(size - record).unwrap();
            assert_eq!(path, theirs.prove_consistency(more).as_bytes(), "{record} to {size}");
        }
    }
}

#[test]
fn records_after_a_base_are_proven_without_those_before_it() {
    for base in [256, 512, 768, 1_280] {
        for size in [base + 1, base + 77, base + 256, base + 600] {
            for record in [base + 1, base + 60.min(size - base), size] {
                let path = gathered(&[record], base, size).inclusion(record - 1, size);
                assert_eq!(path, gathered(&[record], 0, size).inclusion(record - 1, size));
                assert!(path.is_some());
            }
            assert_eq!(gathered(&[5], base, size).inclusion(4, size), None, "it was taken out");
        }
    }
}

#[test]
fn a_proof_proves_its_record_and_nothing_else() {
    let house = House::new(7);
    let key = house.keys().seal.unwrap();
    let model = house.ledger(&words(300));
    let note = &model.seals[1].note;
    let mut gather = Gather::from(&Tree::new());
    gather.want(&[42]);
    model.records.iter().for_each(|row| gather.leaf(leaf(&row.bytes)));
    let record = String::from_utf8(model.records[41].bytes.clone()).unwrap();
    let path = gather.inclusion(41, 300).unwrap();
    let proof = InclusionProof::new(42, record, &path, note.clone());
    assert_eq!(proof.check(&key).unwrap().size, 300);
    let text = serde_json::to_string(&proof).unwrap();
    assert_eq!(serde_json::from_str::<InclusionProof>(&text).unwrap(), proof);
    let neighbour = String::from_utf8(model.records[42].bytes.clone()).unwrap();
    let stranger = House::new(8).ledger(&words(300)).seals[1].note.clone();
    for (n, other) in [
        InclusionProof { record: proof.record.replace("tool-41", "tool-40"), ..proof.clone() },
        InclusionProof { record: neighbour.clone(), ..proof.clone() },
        InclusionProof { record: neighbour, seq: 43, ..proof.clone() },
        InclusionProof { seq: 43, ..proof.clone() },
        InclusionProof { seq: 0, ..proof.clone() },
        InclusionProof { checkpoint: model.seals[0].note.clone(), ..proof.clone() },
        InclusionProof { checkpoint: stranger, ..proof.clone() },
        InclusionProof { path: proof.path[1..].to_vec(), ..proof.clone() },
        InclusionProof { path: [&proof.path[..], &proof.path[..1]].concat(), ..proof.clone() },
        InclusionProof { path: vec![String::new(); 9], ..proof.clone() },
        InclusionProof { path: vec!["0".repeat(64); 70], ..proof.clone() },
        InclusionProof { format: "another".to_owned(), ..proof.clone() },
    ]
    .into_iter()
    .enumerate()
    {
        assert!(other.check(&key).is_err(), "{n}");
    }
    let thief = House::new(8).keys().seal.unwrap();
    assert!(matches!(proof.check(&thief), Err(NoProof::Checkpoint(_))));
}

#[test]
fn a_later_checkpoint_is_shown_to_continue_an_earlier_one() {
    let house = House::new(7);
    let key = house.keys().seal.unwrap();
    let new = house.ledger(&words(530));
    for old in [1, 2, 100, 255, 256, 257, 512, 529, 530] {
        let earlier = house.ledger(&words(old)).seals.pop().unwrap().note;
        let mut gather = Gather::from(&Tree::new());
        gather.want(&[old as u64]);
        new.records.iter().for_each(|row| gather.leaf(leaf(&row.bytes)));
        let path = gather.consistency(old as u64, 530).unwrap();
        let later = new.seals.last().unwrap().note.clone();
        let proof = ConsistencyProof::new(earlier, later, &path);
        let (from, to) = proof.check(&key).unwrap();
        assert_eq!((from.size, to.size), (old as u64, 530));
        let text = serde_json::to_string(&proof).unwrap();
        assert_eq!(Proof::read(&text).unwrap(), Proof::Consistency(proof.clone()));
        let mut other = words(old);
        other[old / 2] = "another".to_owned();
        let forked = house.ledger(&other).seals.pop().unwrap().note;
        let stranger = House::new(8).ledger(&words(old)).seals.pop().unwrap().note;
        let mut tampered = vec![
            ConsistencyProof { old: forked, ..proof.clone() },
            ConsistencyProof { old: stranger, ..proof.clone() },
            ConsistencyProof { new: new.seals[0].note.clone(), ..proof.clone() },
            ConsistencyProof { path: vec!["0".repeat(64); 70], ..proof.clone() },
            ConsistencyProof { path: vec![String::new(); 2], ..proof.clone() },
            ConsistencyProof {
                path: [&proof.path[..], &["0".repeat(64)]].concat(),
                ..proof.clone()
            },
            ConsistencyProof { format: "narthex-inclusion-proof-v1".to_owned(), ..proof.clone() },
        ];
        if old < 530 {
            let (old, new) = (proof.new.clone(), proof.old.clone());
            tampered.push(ConsistencyProof { old, new, ..proof.clone() });
            tampered.push(ConsistencyProof { path: proof.path[1..].to_vec(), ..proof.clone() });
        }
        for n in 0..proof.path.len() {
            let mut path = proof.path.clone();
            path[n] = "0".repeat(64);
            tampered.push(ConsistencyProof { path, ..proof.clone() });
        }
        for (n, other) in tampered.into_iter().enumerate() {
            assert!(other.check(&key).is_err(), "{n} of {old}");
        }
    }
}

#[test]
fn what_stood_where_records_were_taken_out_is_still_continued() {
    for base in [256, 512, 768, 1_280] {
        for size in [base, base + 1, base + 77, base + 256, base + 600] {
            for old in [base, base + 1, base + 60, size] {
                let path = gathered(&[old], base, size).consistency(old, size);
                assert_eq!(path, gathered(&[old], 0, size).consistency(old, size));
                assert_eq!(path.is_some(), old <= size);
            }
            assert_eq!(gathered(&[5], base, size).consistency(5, size), None, "it was taken out");
        }
    }
}

/// What a walk along a ledger remembers that begins after `base`.
fn gathered(wanted: &[u64], base: u64, size: u64) -> Gather {
    let mut tree = Tree::new();
    for n in 0..base {
        tree.push(&n.to_be_bytes());
    }
    let mut gather = Gather::from(&tree);
    gather.want(wanted);
    (base..size).for_each(|n| gather.leaf(leaf(&n.to_be_bytes())));
    gather
}
