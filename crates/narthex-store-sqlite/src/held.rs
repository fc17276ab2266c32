//! The MACs of rows as they were written last.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use narthex_core::Digest;
use narthex_store::RowKey;

/// What a kind of row is called by. Its order is the one the MACs are sealed in.
pub(crate) trait Named: Ord + Clone {
    /// What the seal over their MACs is made under.
    const SEAL: &'static str;
}

/// The MAC of every row of a kind that counts. Cloning shares them: most changes of the gate's
/// state are not theirs.
#[derive(Debug, Clone)]
pub(crate) struct Held<N> {
    macs: Arc<BTreeMap<N, Digest>>,
    seal: OnceLock<Digest>,
}

impl<N: Named> Held<N> {
    /// Whether this is the row as it was written last.
    pub(crate) fn holds(&self, name: &N, mac: &Digest) -> bool {
        self.macs.get(name) == Some(mac)
    }

    /// Whether there is such a row.
    pub(crate) fn knows(&self, name: &N) -> bool {
        self.macs.contains_key(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &N> {
        self.macs.keys()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.macs.is_empty()
    }

    pub(crate) fn keep(&mut self, name: N, mac: Digest) {
        Arc::make_mut(&mut self.macs).insert(name, mac);
        self.seal.take();
    }

    pub(crate) fn forget(&mut self, name: &N) {
        Arc::make_mut(&mut self.macs).remove(name);
        self.seal.take();
    }

    /// The MAC over all of them, in their order. It is made once after each change.
    pub(crate) fn seal(&self, key: &RowKey) -> Digest {
        *self.seal.get_or_init(|| {
            let macs: Vec<&[u8]> = self.macs.values().map(|mac| &mac.as_bytes()[..]).collect();
            key.row(N::SEAL, &macs)
        })
    }
}

impl<N> Default for Held<N> {
    fn default() -> Self {
        Self { macs: Arc::default(), seal: OnceLock::new() }
    }
}
