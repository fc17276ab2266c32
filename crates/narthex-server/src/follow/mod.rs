//! Those who follow the ledger: an anchor kept on another volume, and a second sink.
//!
//! A follower reads the ledger like anyone else and is never waited for: the writer does not know
//! that there is one. After a restart it goes on where it left off. If it cannot write it says so
//! (in the log, in `status`, in `doctor`) and tries again.
//!
//! To add a sink: its file here with its [`Sink`], its arm in [`Following::start`], its key in the
//! settings.

mod anchor;
mod file;
mod syslog;
mod watch;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use narthex_store::chain::{Seal, StoredRecord};
use narthex_store::{Clock, Store, StoreError};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use anchor::Anchor;
use file::FileSink;
use syslog::Syslog;
pub use watch::{FollowerStatus, Watched};

/// Who is to follow the ledger.
#[derive(Debug, Clone, Default)]
pub struct Following {
    /// A file that always holds a recent signed checkpoint.
    pub anchor: Option<PathBuf>,
    /// A file that every record is appended to.
    pub file: Option<PathBuf>,
    /// The system log's socket, and the file that remembers how far it was told.
    pub syslog: Option<(PathBuf, PathBuf)>,
}

impl Following {
    /// Starts the followers; they end when told to stop, after having caught up once more.
    pub fn start(
        self,
        store: &Arc<dyn Store>,
        clock: &Arc<dyn Clock>,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) -> Watched {
        let mut watched = Watched::new();
        let mut follow = |what: &'static str, sink: Box<dyn Sink>| {
            let follower = Follower {
                store: Arc::clone(store),
                clock: Arc::clone(clock),
                watch: watched.add(what),
                sink: Some(sink),
                told: None,
            };
            tasks.spawn(follower.run(stop.clone()));
        };
        if let Some(path) = self.anchor {
            follow("anchor", Box::new(Anchor::new(path)));
        }
        if let Some(path) = self.file {
            follow("file", Box::new(FileSink::new(path)));
        }
        if let Some((socket, state)) = self.syslog {
            follow("syslog", Box::new(Syslog::new(socket, state)));
        }
        watched
    }
}

/// What goes to a sink.
#[derive(Debug)]
pub(crate) enum News {
    /// Records, in order.
    Records(Vec<StoredRecord>),
    /// A newer checkpoint.
    Seal(Seal),
}

/// Where the ledger is followed to. Everything in it may block.
pub(crate) trait Sink: std::fmt::Debug + Send + Sync {
    /// Whether it takes checkpoints rather than records.
    fn takes_seals(&self) -> bool {
        false
    }
    /// The last record it has, or has a checkpoint of; 0 if none.
    fn last(&mut self) -> io::Result<u64>;
    /// Takes what is new. When this returns it is durable there.
    fn take(&mut self, news: &News) -> io::Result<()>;
}

#[derive(Debug)]
struct Follower {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    watch: watch::Watch,
    /// Away while it works on a thread that may block.
    sink: Option<Box<dyn Sink>>,
    told: Option<u64>,
}

impl Follower {
    async fn run(mut self, stop: CancellationToken) {
        loop {
            let stopping = stop.is_cancelled();
            let pause = match self.catch_up().await {
                Ok(()) => {
                    self.watch.well();
                    BETWEEN
                }
                Err(error) => {
                    if self.watch.failing(&error, self.clock.now()) {
                        tracing::error!(follower = self.watch.what(), %error, "cannot follow the ledger");
                    }
                    // What it has is asked for again: the fault may have left half of something.
                    self.told = None;
                    AGAIN
                }
            };
            if stopping {
                return;
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    async fn catch_up(&mut self) -> io::Result<()> {
        let end = self.store.head().await.map_err(unread)?.map_or(0, |head| head.seq);
        let mut told = match self.told {
            Some(told) => told,
            None => self.blocking(|sink| sink.last()).await?,
        };
        if told > end {
            return Err(io::Error::other(format!(
                "it has record {told}, but the ledger ends at {end}: was the ledger rolled back?"
            )));
        }
        self.told = Some(told);
        while told < end {
            self.watch.behind(end - told);
            let Some((news, last)) = self.news(told).await.map_err(unread)? else { break };
            self.blocking(move |sink| sink.take(&news)).await?;
            told = last;
            self.told = Some(told);
        }
        self.watch.behind(end.saturating_sub(told));
        Ok(())
    }

    /// What comes after this record, and how far it goes.
    async fn news(&self, told: u64) -> Result<Option<(News, u64)>, StoreError> {
        if self.sink.as_ref().is_some_and(|sink| sink.takes_seals()) {
            let newest = self.store.newest_seal().await?.filter(|seal| seal.size > told);
            return Ok(newest.map(|seal| {
                let size = seal.size;
                (News::Seal(seal), size)
            }));
        }
        // What was taken out before it was told here is in the exported segment.
        let base = self.store.base().await?.map_or(0, |base| base.size);
        let records = self.store.records(told.max(base) + 1, PAGE).await?;
        let last = records.last().map(|record| record.seq);
        Ok(last.map(|last| (News::Records(records), last)))
    }

    async fn blocking<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut dyn Sink) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let Some(mut sink) = self.sink.take() else {
            return Err(io::Error::other("the follower is gone"));
        };
        let done = tokio::task::spawn_blocking(move || {
            let done = work(sink.as_mut());
            (sink, done)
        });
        let (sink, done) = done.await.map_err(io::Error::other)?;
        self.sink = Some(sink);
        done
    }
}

fn unread(error: StoreError) -> io::Error {
    io::Error::other(error)
}

/// Between two looks at the ledger, and after something went wrong.
const BETWEEN: Duration = Duration::from_millis(200);
const AGAIN: Duration = Duration::from_secs(2);
/// Records taken over at once.
const PAGE: u32 = 500;
