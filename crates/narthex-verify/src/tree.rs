//! The Merkle tree of RFC 6962, as its frontier.

use crate::hash::{Hash, leaf, node, nothing};

/// A tree that grows at its end: the roots of its complete subtrees, the largest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tree {
    pub(crate) size: u64,
    frontier: Vec<Hash>,
}

impl Tree {
    pub(crate) const fn new() -> Self {
        Self { size: 0, frontier: Vec::new() }
    }

    /// None if the frontier is not one of a tree of this size.
    pub(crate) fn from_frontier(size: u64, bytes: &[u8]) -> Option<Self> {
        let (frontier, rest) = bytes.as_chunks::<32>();
        let fits = rest.is_empty() && frontier.len() == size.count_ones() as usize;
        fits.then(|| Self { size, frontier: frontier.to_vec() })
    }

    /// Adds a record and says what its leaf is.
    pub(crate) fn push(&mut self, record: &[u8]) -> Hash {
        let added = leaf(record);
        let mut hash = added;
        let mut complete = self.size;
        while complete & 1 == 1 {
            let Some(left) = self.frontier.pop() else { break };
            hash = node(&left, &hash);
            complete >>= 1;
        }
        self.frontier.push(hash);
        self.size += 1;
        added
    }

    pub(crate) fn root(&self) -> Hash {
        let smallest_first = self.frontier.iter().rev().copied();
        smallest_first.reduce(|right, left| node(&left, &right)).unwrap_or_else(nothing)
    }

    pub(crate) fn has_frontier(&self, bytes: &[u8]) -> bool {
        self.frontier.as_flattened() == bytes
    }

    /// The complete subtrees: level, place on that level, root.
    pub(crate) fn subtrees(&self) -> impl Iterator<Item = (u32, u64, Hash)> {
        let levels = (0..u64::BITS).rev().filter(|level| self.size >> level & 1 == 1);
        levels.zip(&self.frontier).map(|(level, hash)| {
            // What lies left of it, in subtrees of its own size: the bits above its own.
            let place = (self.size >> level) - 1;
            (level, place, *hash)
        })
    }
}
