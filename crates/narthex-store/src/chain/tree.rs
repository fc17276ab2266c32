//! The Merkle tree over the records (RFC 6962), kept as its frontier.
//!
//! A leaf is `SHA-256(0x00 ‖ record bytes)`, an inner node `SHA-256(0x01 ‖ left ‖ right)`. What is
//! kept are the roots of the complete subtrees that the records so far fall into, the largest
//! first: one for each bit that is set in the number of records, so never more than 64.

use narthex_core::Digest;
use sha2::{Digest as _, Sha256};

/// A tree that grows at its end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tree {
    size: u64,
    frontier: Vec<Digest>,
}

impl Tree {
    /// Without records.
    pub const fn new() -> Self {
        Self { size: 0, frontier: Vec::new() }
    }

    /// A tree of this size from what [`Tree::frontier`] gave. None if they do not fit together.
    pub fn from_frontier(size: u64, bytes: &[u8]) -> Option<Self> {
        let (hashes, rest) = bytes.as_chunks::<32>();
        let fits = rest.is_empty() && hashes.len() == size.count_ones() as usize;
        let frontier = hashes.iter().map(|hash| Digest::from_bytes(*hash)).collect();
        fits.then_some(Self { size, frontier })
    }

    /// Adds a record.
    pub fn push(&mut self, record: &[u8]) {
        let mut hash = leaf(record);
        // Each set bit at the low end is a complete subtree that this leaf completes a larger
        // one with.
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.frontier.pop() {
                hash = node(left, hash);
            }
        }
        self.frontier.push(hash);
        self.size += 1;
    }

    /// How many records are in it.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The root; of an empty tree the hash of nothing.
    pub fn root(&self) -> Digest {
        let smallest_first = self.frontier.iter().rev().copied();
        smallest_first.reduce(|right, left| node(left, right)).unwrap_or_else(|| Digest::of(b""))
    }

    /// The roots of the complete subtrees, the largest first, one after the other.
    pub fn frontier(&self) -> Vec<u8> {
        self.frontier.iter().flat_map(|hash| *hash.as_bytes()).collect()
    }
}

fn leaf(record: &[u8]) -> Digest {
    let hasher = Sha256::new().chain_update([0_u8]).chain_update(record);
    Digest::from_bytes(hasher.finalize().into())
}

fn node(left: Digest, right: Digest) -> Digest {
    let hasher = Sha256::new().chain_update([1_u8]).chain_update(left.as_bytes());
    Digest::from_bytes(hasher.chain_update(right.as_bytes()).finalize().into())
}

#[cfg(test)]
mod tests {
    use ct_merkle::mem_backed_tree::MemoryBackedTree;
    use narthex_core::Digest;
    use sha2::Sha256;

    use super::Tree;

    #[test]
    fn every_root_is_the_one_another_implementation_finds() {
        let (mut ours, mut theirs) = (Tree::new(), MemoryBackedTree::<Sha256, Vec<u8>>::new());
        assert_eq!(ours.root(), Digest::of(b""));
        for (n, length) in (0_u64..1_100).zip((0..97).cycle()) {
            let record = format!("{{\"seq\":{n},\"x\":\"{}\"}}", "y".repeat(length));
            ours.push(record.as_bytes());
            theirs.push(record.into_bytes());
            assert_eq!(ours.size(), n + 1);
            assert_eq!(ours.root().as_bytes()[..], theirs.root().as_bytes()[..], "size {}", n + 1);
        }
    }

    #[test]
    fn a_tree_goes_on_from_its_frontier() {
        let mut whole = Tree::new();
        for n in 0_u64..700 {
            let mut resumed = Tree::from_frontier(whole.size(), &whole.frontier()).unwrap();
            assert_eq!(resumed, whole);
            let record = n.to_be_bytes();
            resumed.push(&record);
            whole.push(&record);
            assert_eq!(resumed.root(), whole.root());
        }
    }

    #[test]
    fn a_frontier_of_another_size_is_none() {
        let mut tree = Tree::new();
        (0_u8..7).for_each(|n| tree.push(&[n]));
        let bytes = tree.frontier();
        assert_eq!(bytes.len(), 96);
        for (size, bytes) in
            [(8, &bytes[..]), (6, &bytes), (7, &bytes[..95]), (7, &bytes[..64]), (0, &bytes[..32])]
        {
            assert_eq!(Tree::from_frontier(size, bytes), None, "{size}");
        }
        assert_eq!(Tree::from_frontier(0, &[]), Some(Tree::new()));
    }

    #[test]
    fn the_roots_of_the_rfc_are_ours() {
        // The leaves and the roots that the reference implementation of RFC 6962 is tested with.
        let leaves = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657"];
        let leaves = leaves.iter().map(|hex| {
            (0..hex.len() / 2)
                .map(|n| u8::from_str_radix(&hex[2 * n..2 * n + 2], 16).unwrap())
                .collect::<Vec<u8>>()
        });
        let roots = [
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
            "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
            "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        ];
        let mut tree = Tree::new();
        for (leaf, root) in leaves.zip(roots) {
            tree.push(&leaf);
            assert_eq!(tree.root().to_string(), root);
        }
    }
}
