//! The tree against two other implementations: the writing side's, and a crate's.

use ct_merkle::mem_backed_tree::MemoryBackedTree;
use sha2::Sha256;

use crate::tree::Tree;

#[test]
fn roots_and_frontiers_are_those_of_the_others() {
    let mut ours = Tree::new();
    let mut writing = narthex_store::chain::Tree::new();
    let mut theirs = MemoryBackedTree::<Sha256, Vec<u8>>::new();
    for n in 0_u32..1_100 {
        assert!(ours.has_frontier(&writing.frontier()), "size {n}");
        assert_eq!(Tree::from_frontier(ours.size, &writing.frontier()).as_ref(), Some(&ours));
        let record = n.to_be_bytes().repeat(n as usize % 50);
        ours.push(&record);
        writing.push(&record);
        theirs.push(record);
        assert_eq!(ours.root()[..], theirs.root().as_bytes()[..], "size {n}");
        assert_eq!(&ours.root(), writing.root().as_bytes(), "size {n}");
    }
}
