//! The one writer: a task that owns the only connection that changes anything.
//!
//! It takes all the units that wait, runs them in one transaction and flushes once for all of
//! them. Each unit stands or falls alone; only when the database itself fails do they fall
//! together.

mod batch;
mod books;
mod checkpoints;
mod effects;
mod guards;
mod hands;
mod house;
mod known;
mod places;
mod probe;
mod reserves;
mod seal;
mod token_use;

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use narthex_core::Digest;
use narthex_store::chain::{HeadKey, SealKey};
use narthex_store::{Clock, Committed, HeadFile, RowKey, StoreError, UnitOfWork};
use sqlx::SqliteConnection;
use tokio::sync::{mpsc, oneshot, watch};

use crate::gate::{BudgetBooks, GateMemory};
use crate::lock::Lock;
pub(crate) use books::learn_to_write;
pub(crate) use checkpoints::Checkpoints;
pub(crate) use hands::Hands;
pub(crate) use house::Upkeep;
pub(crate) use known::Known;
pub(crate) use places::Places;
pub(crate) use probe::Probe;
pub(crate) use reserves::Reserves;
use token_use::TokenUse;

/// What the writer is asked to do.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all are the large one")]
pub(crate) enum Command {
    /// Make a unit durable.
    Commit {
        /// What.
        unit: UnitOfWork,
        /// Where the answer goes. Nobody may be there any more; the unit is made durable anyway.
        answer: oneshot::Sender<Result<Committed, StoreError>>,
    },
    /// Find out whether a write would reach the disk, and answer when that is known.
    Probe(oneshot::Sender<()>),
    /// Finish what waits, and end.
    Close,
}

/// What everyone may know of the writer without asking it.
#[derive(Debug)]
pub(crate) struct Standing {
    /// Why nothing is written any more.
    stopped: OnceLock<String>,
    /// The last commit failed; the next may not.
    failing: AtomicBool,
    identity_epoch: AtomicU64,
    content_epoch: AtomicU64,
    graph_epoch: AtomicU64,
    wal_is_long: AtomicBool,
}

impl Standing {
    pub(crate) const fn new() -> Self {
        Self {
            stopped: OnceLock::new(),
            failing: AtomicBool::new(false),
            identity_epoch: AtomicU64::new(0),
            content_epoch: AtomicU64::new(0),
            graph_epoch: AtomicU64::new(0),
            wal_is_long: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.stopped.get().is_none()
    }

    /// Why nothing is written until a restart, if that is so.
    pub(crate) fn stopped(&self) -> Option<&str> {
        self.stopped.get().map(String::as_str)
    }

    pub(crate) fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Acquire)
    }

    fn failing(&self, failing: bool) {
        self.failing.store(failing, Ordering::Release);
    }

    /// From a failed flush on, nobody can say what is on the disk: no more until a restart. The
    /// first reason stays.
    fn stop(&self, why: impl Into<String>) {
        let _ = self.stopped.set(why.into());
    }

    pub(crate) fn identity_epoch(&self) -> u64 {
        self.identity_epoch.load(Ordering::Acquire)
    }

    fn identity_changed(&self) {
        self.identity_epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Rises whenever a page or a space changed.
    pub(crate) fn content_epoch(&self) -> u64 {
        self.content_epoch.load(Ordering::Acquire)
    }

    fn content_changed(&self) {
        self.content_epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Rises whenever a graph changed, before whoever changed it is answered.
    pub(crate) fn graph_epoch(&self) -> u64 {
        self.graph_epoch.load(Ordering::Acquire)
    }

    fn graphs_changed(&self) {
        self.graph_epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Asks the writer to let the write-ahead log start over.
    pub(crate) fn wal_is_long(&self) {
        self.wal_is_long.store(true, Ordering::Release);
    }

    /// Whether the log is waiting to start over, which whoever looks at an old moment prevents.
    pub(crate) fn is_wal_long(&self) -> bool {
        self.wal_is_long.load(Ordering::Acquire)
    }
}

/// The end of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tail {
    pub(crate) seq: u64,
    pub(crate) hash: Digest,
}

/// The writer and all that is its own.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) conn: SqliteConnection,
    pub(crate) head_file: HeadFile,
    pub(crate) head_key: HeadKey,
    pub(crate) clock: Arc<dyn Clock>,
    /// What is committed; never what is only being tried.
    pub(crate) tail: Tail,
    pub(crate) standing: Arc<Standing>,
    /// Tells the checkpointer that the log has grown.
    pub(crate) commits: watch::Sender<u64>,
    pub(crate) token_use: TokenUse,
    /// The key rows are authenticated with.
    pub(crate) row_key: RowKey,
    /// What the gate remembers, as everyone reads it; changed only after a commit.
    pub(crate) memory: Arc<GateMemory>,
    /// The rows that accounts are kept in.
    pub(crate) budgets: BudgetBooks,
    /// What calls under way may still use up.
    pub(crate) reserves: Reserves,
    /// What it has read of whoever calls.
    pub(crate) known: Known,
    /// The files it writes to.
    pub(crate) places: Places,
    /// Whether another hand wrote.
    pub(crate) hands: Hands,
    /// The key checkpoints are signed with.
    pub(crate) seal_key: SealKey,
    /// The tree over the ledger, and what of it is signed.
    pub(crate) checkpoints: Checkpoints,
    /// What is known of the disk while nobody writes.
    pub(crate) probe: Probe,
    /// Held for as long as there is a writer.
    pub(crate) lock: Lock,
}

pub(crate) use token_use::TokenUse as RememberedUse;

impl Writer {
    /// Runs until everyone who could ask is gone, or until told to close.
    pub(crate) async fn run(mut self, mut queue: mpsc::Receiver<Command>, most: usize) -> Self {
        let mut waiting = Vec::with_capacity(most);
        loop {
            let received = tokio::select! {
                biased;
                received = queue.recv_many(&mut waiting, most.max(1)) => received,
                () = self.checkpoints.due() => {
                    self.look_after().await;
                    continue;
                }
            };
            if received == 0 {
                break;
            }
            let mut units = Vec::with_capacity(waiting.len());
            let mut answers = Vec::with_capacity(waiting.len());
            let mut asking = Vec::new();
            for command in waiting.drain(..) {
                match command {
                    Command::Commit { unit, answer } => {
                        units.push(unit);
                        answers.push(answer);
                    }
                    Command::Probe(answer) => asking.push(answer),
                    // No more come in; what is in the queue is still taken.
                    Command::Close => queue.close(),
                }
            }
            self.shorten_wal().await;
            let results = self.commit_all(units).await;
            for (answer, result) in answers.into_iter().zip(results) {
                let _ = answer.send(result);
            }
            if !asking.is_empty() {
                self.probe().await;
                for answer in asking {
                    let _ = answer.send(());
                }
            }
        }
        self.seal_tail().await;
        self.close_accounts().await;
        self
    }

    /// Under unbroken load the checkpointer never catches up with the last commit, and the log
    /// would grow without end. Between two batches nothing is being written: what is left to
    /// copy is little, and after it the log starts over.
    pub(super) async fn shorten_wal(&mut self) {
        if self.standing.wal_is_long.swap(false, Ordering::AcqRel) {
            let done = sqlx::query("PRAGMA wal_checkpoint(PASSIVE)").execute(&mut self.conn).await;
            if let Err(error) = done {
                tracing::warn!(%error, "the write-ahead log could not be shortened");
            }
        }
    }
}
