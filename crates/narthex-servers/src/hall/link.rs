//! One connection to a server, with the process behind it.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use narthex_gate::upstream::{Connection, Greeting, UpstreamFault, UpstreamQuestion};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit, watch};
use tokio::time::Instant;

use super::offered::Offered;
use super::starter::Running;
use crate::sanitise::Scrubber;
use crate::scan::Neighbours;

/// A connection that was greeted and whose offer was looked at.
#[derive(Debug)]
pub(super) struct Link {
    connection: Arc<dyn Connection>,
    process: AsyncMutex<Option<Box<dyn Running>>>,
    offered: Mutex<Arc<Offered>>,
    changes: Mutex<watch::Receiver<u64>>,
    refreshed: Mutex<Instant>,
    /// Its lists were asked for and have not come.
    owed: AtomicBool,
    under_way: AtomicUsize,
    used: Mutex<Instant>,
    late: AtomicU32,
    pub(super) scrubber: Arc<Scrubber>,
    /// Its place among the processes that may run at once.
    place: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Link {
    pub(super) fn new(
        connection: Arc<dyn Connection>,
        process: Option<Box<dyn Running>>,
        offered: Offered,
        scrubber: Arc<Scrubber>,
        place: Option<OwnedSemaphorePermit>,
    ) -> Self {
        let now = Instant::now();
        Self {
            changes: Mutex::new(connection.lists_changed()),
            connection,
            process: AsyncMutex::new(process),
            offered: Mutex::new(Arc::new(offered)),
            refreshed: Mutex::new(now),
            owed: AtomicBool::new(false),
            under_way: AtomicUsize::new(0),
            used: Mutex::new(now),
            late: AtomicU32::new(0),
            scrubber,
            place: Mutex::new(place),
        }
    }

    pub(super) fn offered(&self) -> Arc<Offered> {
        Arc::clone(&held(&self.offered))
    }

    pub(super) fn ended(&self) -> Option<UpstreamFault> {
        self.connection.ended()
    }

    /// Asks; counts who waits, and those that waited in vain.
    pub(super) async fn ask(
        &self,
        question: UpstreamQuestion,
    ) -> Result<Box<RawValue>, UpstreamFault> {
        let _counted = UnderWay::begin(self);
        let answer = self.connection.ask(question).await;
        match &answer {
            Err(UpstreamFault::Late(_)) => {
                self.late.fetch_add(1, Ordering::Relaxed);
            }
            _ => self.late.store(0, Ordering::Relaxed),
        }
        answer
    }

    /// Somebody gave up waiting for it.
    pub(super) fn was_late(&self) {
        self.late.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether it speaks the stateless revisions.
    pub(super) fn is_modern(&self) -> bool {
        self.connection.greeting().modern
    }

    /// Whether so many in a row were left without an answer that it counts as hung.
    pub(super) fn is_hung(&self) -> bool {
        self.late.load(Ordering::Relaxed) >= LATE_IN_A_ROW
    }

    /// Whether it said that a list of its changed, and was not asked since. Not more often than now
    /// and then, however often it says so.
    pub(super) fn is_stale(&self) -> bool {
        held(&self.refreshed).elapsed() >= BETWEEN_LOOKS
            && (self.owed.load(Ordering::Acquire)
                || held(&self.changes).has_changed().unwrap_or(false))
    }

    /// Asks for its lists again, within a limit. Until they are there it is stale, whoever gave up
    /// waiting; one that leaves them unanswered counts as late.
    pub(super) async fn refresh(
        &self,
        neighbours: &Neighbours,
        limit: Duration,
    ) -> Result<(), UpstreamFault> {
        self.owed.store(true, Ordering::Release);
        held(&self.changes).mark_unchanged();
        *held(&self.refreshed) = Instant::now();
        match Offered::ask(self.connection.as_ref(), neighbours, limit).await {
            Ok(offered) => *held(&self.offered) = Arc::new(offered),
            Err(fault) => {
                if matches!(fault, UpstreamFault::Late(_)) {
                    self.was_late();
                }
                return Err(fault);
            }
        }
        self.owed.store(false, Ordering::Release);
        Ok(())
    }

    /// What the server said of itself.
    pub(super) fn greeting(&self) -> &Greeting {
        self.connection.greeting()
    }

    /// Whether it says when a resource changes, to whoever wants to know.
    pub(super) fn offers_watching(&self) -> bool {
        let resources = self.greeting().capabilities.get("resources");
        resources.and_then(|resources| resources.get("subscribe")) == Some(&Value::Bool(true))
    }

    /// How long nobody has asked it anything; none while somebody waits.
    pub(super) fn idle(&self) -> Option<Duration> {
        let idle = held(&self.used).elapsed();
        (self.under_way.load(Ordering::Acquire) == 0).then_some(idle)
    }

    /// Whether it takes a place among the processes.
    pub(super) fn is_process(&self) -> bool {
        held(&self.place).is_some()
    }

    /// Says goodbye, ends the process and all that came of it, and waits until that is so.
    pub(super) async fn close(&self) -> Option<String> {
        self.connection.close().await;
        let process = self.process.lock().await.take();
        let ended = match process {
            Some(mut process) => Some(process.stop().await),
            None => None,
        };
        held(&self.place).take();
        ended
    }
}

struct UnderWay<'a>(&'a Link);

impl<'a> UnderWay<'a> {
    fn begin(link: &'a Link) -> Self {
        link.under_way.fetch_add(1, Ordering::AcqRel);
        Self(link)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        *held(&self.0.used) = Instant::now();
        self.0.under_way.fetch_sub(1, Ordering::AcqRel);
    }
}

fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Questions in a row that nobody answered in time.
const LATE_IN_A_ROW: u32 = 3;
/// Between two looks at the lists of a server that says that they change.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
