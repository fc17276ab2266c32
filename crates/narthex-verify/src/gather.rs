//! What a walk remembers so that it can prove something about one record afterwards.
//!
//! The root of each full stretch of 256 records, and the leaves of the few stretches that a proof
//! looks into: 32 bytes for every 256 records, however long the ledger is.

use std::collections::BTreeMap;

use crate::hash::{Hash, node};
use crate::tree::Tree;
use crate::walk::EVERY;

/// The remembered nodes of a tree.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    wanted: Option<Vec<u64>>,
    /// Where the records that are there begin.
    base: u64,
    size: u64,
    below: BTreeMap<(u32, u64), Hash>,
    stretches: Vec<Hash>,
    kept: BTreeMap<u64, Vec<Hash>>,
    open: Vec<Hash>,
}

impl Gather {
    /// Remembers nothing until [`Gather::want`].
    pub(crate) fn from(tree: &Tree) -> Self {
        let below = tree.subtrees().map(|(level, place, hash)| ((level, place), hash)).collect();
        Self { base: tree.size, size: tree.size, below, ..Self::default() }
    }

    /// From now on remembers, and the leaves around these records in particular.
    pub(crate) fn want(&mut self, records: &[u64]) {
        let stretch = |seq: &u64| seq.saturating_sub(1) / EVERY;
        self.wanted = Some(records.iter().map(stretch).collect());
    }

    pub(crate) fn leaf(&mut self, leaf: Hash) {
        let Some(wanted) = &self.wanted else { return };
        self.open.push(leaf);
        self.size += 1;
        if self.size.is_multiple_of(EVERY) {
            let stretch = self.size / EVERY - 1;
            self.stretches.push(fold(&self.open));
            if wanted.contains(&stretch) {
                self.kept.insert(stretch, self.open.clone());
            }
            self.open.clear();
        }
    }

    /// The siblings on the way from a leaf (counted from 0) to the root of the first `size`
    /// leaves (RFC 6962, 2.1.1). None if too little was remembered.
    pub(crate) fn inclusion(&self, leaf: u64, size: u64) -> Option<Vec<Hash>> {
        (leaf < size).then(|| self.path(leaf, 0, size)).flatten()
    }

    fn path(&self, leaf: u64, from: u64, to: u64) -> Option<Vec<Hash>> {
        if to - from == 1 {
            return Some(Vec::new());
        }
        let middle = from + split(to - from);
        let (mut path, sibling) = if leaf < middle {
            (self.path(leaf, from, middle)?, self.root(middle, to)?)
        } else {
            (self.path(leaf, middle, to)?, self.root(from, middle)?)
        };
        path.push(sibling);
        Some(path)
    }

    /// What shows that the first `old` leaves are the beginning of the first `new` (RFC 6962,
    /// 2.1.2).
    pub(crate) fn consistency(&self, old: u64, new: u64) -> Option<Vec<Hash>> {
        (0 < old && old <= new).then(|| self.subproof(old, 0, new, true)).flatten()
    }

    fn subproof(&self, old: u64, from: u64, to: u64, whole: bool) -> Option<Vec<Hash>> {
        if old == to {
            return if whole { Some(Vec::new()) } else { Some(vec![self.root(from, to)?]) };
        }
        let middle = from + split(to - from);
        let (mut proof, other) = if old <= middle {
            (self.subproof(old, from, middle, whole)?, self.root(middle, to)?)
        } else {
            (self.subproof(old, middle, to, false)?, self.root(from, middle)?)
        };
        proof.push(other);
        Some(proof)
    }

    /// The root of the leaves from `from` to before `to`.
    fn root(&self, from: u64, to: u64) -> Option<Hash> {
        let count = to.checked_sub(from)?;
        if count.is_power_of_two() && from.is_multiple_of(count) {
            let level = count.trailing_zeros();
            if let Some(known) = self.below.get(&(level, from >> level)) {
                return Some(*known);
            }
            if count <= EVERY {
                return self.small(from, to);
            }
        }
        let middle = from + (count > 1).then(|| split(count))?;
        Some(node(&self.root(from, middle)?, &self.root(middle, to)?))
    }

    /// The root of a complete subtree inside one stretch.
    fn small(&self, from: u64, to: u64) -> Option<Hash> {
        let stretch = from / EVERY;
        let after_base = stretch.checked_sub(self.base / EVERY)?;
        if to - from == EVERY
            && let Some(known) = self.stretches.get(usize::try_from(after_base).ok()?)
        {
            return Some(*known);
        }
        let open = || (stretch == self.size / EVERY).then_some(&self.open);
        let leaves = self.kept.get(&stretch).or_else(open)?;
        let place = |seq: u64| usize::try_from(seq - stretch * EVERY).ok();
        Some(fold(leaves.get(place(from)?..place(to)?)?))
    }
}

/// The largest power of two smaller than a count above one.
const fn split(count: u64) -> u64 {
    1 << (u64::BITS - 1 - (count - 1).leading_zeros())
}

/// The root of a power of two of leaves.
fn fold(leaves: &[Hash]) -> Hash {
    let mut level = leaves.to_vec();
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|pair| match pair {
                [left, right] => node(left, right),
                other => other.first().copied().unwrap_or_default(),
            })
            .collect();
    }
    level.first().copied().unwrap_or_default()
}
