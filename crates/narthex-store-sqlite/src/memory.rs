//! What was read lately. Every entry carries the epoch it was read at and counts only while that
//! epoch stands, so a reader never sees anything older than the last commit that was answered.

use std::sync::Arc;

use moka::sync::Cache;
use narthex_core::{PageKey, PageView, Space, SpaceId};

/// A space with its short key.
#[derive(Debug, Clone)]
pub(crate) struct KnownSpace {
    pub(crate) space: Space,
    pub(crate) number: i64,
}

/// What was read lately, within bounds.
#[derive(Debug)]
pub(crate) struct Memory {
    pages: Cache<(SpaceId, PageKey), (u64, Arc<PageView>)>,
    spaces: Cache<SpaceId, (u64, KnownSpace)>,
}

impl Memory {
    pub(crate) fn new(page_bytes: u64) -> Self {
        let weight = |_: &(SpaceId, PageKey), (_, view): &(u64, Arc<PageView>)| weight(view);
        Self {
            pages: Cache::builder().max_capacity(page_bytes).weigher(weight).build(),
            spaces: Cache::new(MOST_SPACES),
        }
    }

    pub(crate) fn page(&self, epoch: u64, space: SpaceId, key: &PageKey) -> Option<Arc<PageView>> {
        let (read_at, view) = self.pages.get(&(space, key.clone()))?;
        (read_at == epoch).then_some(view)
    }

    /// `epoch` is the one from before the page was read. What is not there is not remembered: a
    /// guesser would fill the memory with nothing.
    pub(crate) fn keep_page(&self, epoch: u64, key: PageKey, view: &PageView) {
        self.pages.insert((view.page.space, key), (epoch, Arc::new(view.clone())));
    }

    pub(crate) fn space(&self, epoch: u64, id: SpaceId) -> Option<KnownSpace> {
        let (read_at, known) = self.spaces.get(&id)?;
        (read_at == epoch).then_some(known)
    }

    pub(crate) fn keep_space(&self, epoch: u64, known: KnownSpace) {
        self.spaces.insert(known.space.id, (epoch, known));
    }
}

/// About what a page takes in memory.
fn weight(view: &PageView) -> u32 {
    let links = (view.links.len() + view.backlinks.len()) * 128;
    u32::try_from(view.page.draft.body.len() + links + 1_024).unwrap_or(u32::MAX)
}

const MOST_SPACES: u64 = 1_000;
