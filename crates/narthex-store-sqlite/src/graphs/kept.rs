//! Views that are over, kept open for whoever looks at the same place next.
//!
//! Most of a short look is opening it: a transaction, where the branch stands, and ending it. While
//! no graph was changed a view that was just looked at shows what a new one would, so it is kept and
//! lent again. It counts as long as the epoch it was opened at stands, which rises before any change
//! is answered; so nobody is shown less than what was answered before they asked.
//!
//! A kept view holds back the write-ahead log. So there are few, they are let go of when they are a
//! second old or the log is to be copied, and none is kept while it waits to start over.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use narthex_core::{BranchName, Digest, GraphId};
use narthex_store::{
    At, GraphView, IndexRange, Layer, LineNo, Placed, RowNo, Seen, Side, StoreError, StoredRow, Tag,
};

use super::view::SqliteView;
use crate::fault::Fault;
use crate::writer::Standing;

/// What a view that may be kept is of: a branch as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    graph: GraphId,
    branch: BranchName,
}

impl Place {
    /// None for what is looked at once: a commit, a time.
    pub(super) fn of(graph: GraphId, at: &At) -> Option<Self> {
        match at {
            At::Branch(branch) => Some(Self { graph, branch: branch.clone() }),
            At::Commit(_) | At::Time(..) => None,
        }
    }
}

#[derive(Debug)]
struct Kept {
    place: Place,
    epoch: u64,
    opened: Instant,
    view: Box<SqliteView>,
}

/// The views that are kept.
#[derive(Debug)]
pub(crate) struct KeptViews {
    standing: Arc<Standing>,
    most: usize,
    /// None once the store is closed: then nothing is kept any more.
    kept: Mutex<Option<Vec<Kept>>>,
}

impl KeptViews {
    pub(crate) const fn new(standing: Arc<Standing>, most: usize) -> Self {
        Self { standing, most, kept: Mutex::new(Some(Vec::new())) }
    }

    /// One of this place that shows all that was answered at this epoch.
    pub(super) fn take(self: &Arc<Self>, graph: GraphId, at: &At, epoch: u64) -> Option<Lent> {
        let place = Place::of(graph, at)?;
        let mut all = self.lock();
        let kept = all.as_mut()?;
        let found = kept
            .iter()
            .position(|of| of.epoch == epoch && of.place == place && of.opened.elapsed() < OLD)?;
        let kept = kept.swap_remove(found);
        let mut lent = Lent::new(self, Some(kept.place), kept.epoch, kept.view);
        lent.opened = kept.opened;
        Some(lent)
    }

    /// Takes back a view that is over. Whatever cannot be kept ends here.
    fn give_back(&self, view: Kept) {
        let current = view.epoch == self.standing.graph_epoch();
        if !current || view.opened.elapsed() >= OLD || self.standing.is_wal_long() {
            return;
        }
        let mut all = self.lock();
        let Some(kept) = all.as_mut() else { return };
        kept.retain(|of| of.epoch == view.epoch);
        if kept.len() < self.most {
            kept.push(view);
        }
    }

    /// Lets go of those that were opened a while ago.
    pub(crate) fn let_go_of_old(&self) {
        if let Some(kept) = self.lock().as_mut() {
            kept.retain(|of| of.opened.elapsed() < OLD);
        }
    }

    /// Lets go of all.
    pub(crate) fn let_go(&self) {
        if let Some(kept) = self.lock().as_mut() {
            kept.clear();
        }
    }

    /// Lets go of all, for good.
    pub(crate) fn close(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<Kept>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A view in someone's hands. Goes back to the kept ones when it is dropped, unless it was in the
/// middle of something then.
pub(super) struct Lent {
    from: Arc<KeptViews>,
    place: Option<Place>,
    epoch: u64,
    opened: Instant,
    placed: Arc<Placed>,
    /// Nothing was asked that was not answered, and answered well.
    at_rest: bool,
    /// None only once it is given back.
    view: Option<Box<SqliteView>>,
}

impl std::fmt::Debug for Lent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lent").field("view", &self.view).finish_non_exhaustive()
    }
}

impl Lent {
    /// `epoch` is the one from before the view was opened.
    pub(super) fn new(
        from: &Arc<KeptViews>,
        place: Option<Place>,
        epoch: u64,
        view: Box<SqliteView>,
    ) -> Self {
        Self {
            from: Arc::clone(from),
            place,
            epoch,
            opened: Instant::now(),
            placed: Arc::clone(&view.placed),
            at_rest: true,
            view: Some(view),
        }
    }

    fn asked(&mut self) -> Result<&mut SqliteView, StoreError> {
        self.at_rest = false;
        let gone = || StoreError::from(Fault::damaged("a view was given back and then asked"));
        self.view.as_deref_mut().ok_or_else(gone)
    }

    fn answered<T>(&mut self, answer: Result<T, Fault>) -> Result<T, StoreError> {
        self.at_rest = answer.is_ok();
        Ok(answer?)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let (true, Some(place), Some(view)) = (self.at_rest, self.place.take(), self.view.take())
        {
            let (epoch, opened) = (self.epoch, self.opened);
            self.from.give_back(Kept { place, epoch, opened, view });
        }
    }
}

#[async_trait]
impl GraphView for Lent {
    fn placed(&self) -> &Placed {
        &self.placed
    }

    async fn rows(&mut self, tag: Tag, rows: &[RowNo]) -> Result<Vec<StoredRow>, StoreError> {
        let asked = self.asked()?.some_rows(tag, rows).await;
        self.answered(asked)
    }

    async fn scan(
        &mut self,
        tag: Tag,
        after: Option<RowNo>,
        limit: u32,
    ) -> Result<Vec<StoredRow>, StoreError> {
        let asked = self.asked()?.rows_after(tag, after, limit, true).await;
        self.answered(asked)
    }

    async fn edges(
        &mut self,
        tag: Tag,
        side: Side,
        of: &[RowNo],
        bodies: bool,
    ) -> Result<Vec<StoredRow>, StoreError> {
        let asked = self.asked()?.edges_of(tag, side, of, bodies).await;
        self.answered(asked)
    }

    async fn scan_edges(
        &mut self,
        tag: Tag,
        after: Option<RowNo>,
        limit: u32,
    ) -> Result<Vec<StoredRow>, StoreError> {
        let asked = self.asked()?.rows_after(tag, after, limit, false).await;
        self.answered(asked)
    }

    async fn index(
        &mut self,
        index: Tag,
        range: &IndexRange,
        limit: u32,
    ) -> Result<Option<Vec<RowNo>>, StoreError> {
        let asked = self.asked()?.in_range(index, range, limit).await;
        self.answered(asked)
    }

    async fn search(
        &mut self,
        index: Tag,
        words: &[String],
        prefix: bool,
        limit: u32,
    ) -> Result<Option<Vec<RowNo>>, StoreError> {
        let asked = self.asked()?.with_words(index, words, prefix, limit).await;
        self.answered(asked)
    }

    async fn touched(
        &mut self,
        spans: &[(LineNo, u64, u64)],
    ) -> Result<Vec<(Tag, RowNo)>, StoreError> {
        let asked = self.asked()?.rows_touched(spans).await;
        self.answered(asked)
    }

    async fn writes(
        &mut self,
        lines: &[Layer],
        rows: &[(Tag, RowNo)],
    ) -> Result<Vec<StoredRow>, StoreError> {
        let asked = self.asked()?.own_writes(lines, rows).await;
        self.answered(asked)
    }

    async fn seen(&mut self, commits: &[(LineNo, u64)]) -> Result<Vec<Seen>, StoreError> {
        let asked = self.asked()?.seen_by(commits).await;
        self.answered(asked)
    }

    async fn schemas(&mut self, commits: &[(LineNo, u64)]) -> Result<Vec<Digest>, StoreError> {
        let asked = self.asked()?.schemas_of(commits).await;
        self.answered(asked)
    }
}

/// From when on a view is no longer kept.
const OLD: Duration = Duration::from_secs(1);
