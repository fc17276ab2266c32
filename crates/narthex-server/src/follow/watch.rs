//! How the followers are, for `status` and `doctor`.

use std::sync::{Arc, Mutex, PoisonError};

use narthex_core::Timestamp;
use serde::{Deserialize, Serialize};

/// How one follower is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowerStatus {
    /// `anchor`, `file` or `syslog`.
    pub what: String,
    /// Records it does not have yet.
    pub behind: u64,
    /// Since when it cannot go on.
    pub failing_since: Option<Timestamp>,
    /// Why not.
    pub error: Option<String>,
}

/// All of them. Cheap to clone; all clones show the same.
#[derive(Debug, Clone, Default)]
pub struct Watched(Vec<Arc<Mutex<FollowerStatus>>>);

impl Watched {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn add(&mut self, what: &'static str) -> Watch {
        let status =
            FollowerStatus { what: what.to_owned(), behind: 0, failing_since: None, error: None };
        let shared = Arc::new(Mutex::new(status));
        self.0.push(Arc::clone(&shared));
        Watch { what, shared }
    }

    /// How they are now.
    pub fn status(&self) -> Vec<FollowerStatus> {
        let look = |one: &Arc<Mutex<FollowerStatus>>| {
            one.lock().unwrap_or_else(PoisonError::into_inner).clone()
        };
        self.0.iter().map(look).collect()
    }
}

/// One follower's own hand on it.
#[derive(Debug)]
pub(super) struct Watch {
    what: &'static str,
    shared: Arc<Mutex<FollowerStatus>>,
}

impl Watch {
    pub(super) const fn what(&self) -> &'static str {
        self.what
    }

    pub(super) fn behind(&self, records: u64) {
        self.change(|status| status.behind = records);
    }

    pub(super) fn well(&self) {
        self.change(|status| (status.failing_since, status.error) = (None, None));
    }

    /// Notes what went wrong, and says whether that is news.
    pub(super) fn failing(&self, error: &std::io::Error, now: Timestamp) -> bool {
        self.change(|status| {
            let news = status.failing_since.is_none();
            status.failing_since.get_or_insert(now);
            status.error = Some(error.to_string());
            news
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut FollowerStatus) -> T) -> T {
        change(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
