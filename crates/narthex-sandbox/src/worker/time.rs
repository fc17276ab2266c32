//! A program's own time: it passes only while the program runs.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// How long a program has run, and how long it may.
#[derive(Debug)]
pub(super) struct ScriptTime {
    most: Cell<Duration>,
    before: Cell<Duration>,
    since: Cell<Option<Instant>>,
}

impl Default for ScriptTime {
    fn default() -> Self {
        Self { most: Cell::new(Duration::MAX), before: Cell::default(), since: Cell::default() }
    }
}

impl ScriptTime {
    /// Begins, with so much.
    pub(super) fn begin(&self, most: Duration) {
        self.most.set(most);
        self.before.set(Duration::ZERO);
        self.since.set(Some(Instant::now()));
    }

    /// Stands still while something is waited for.
    pub(super) fn stand_still<T>(&self, wait: impl FnOnce() -> T) -> T {
        self.before.set(self.passed());
        self.since.set(None);
        let waited = wait();
        self.since.set(Some(Instant::now()));
        waited
    }

    pub(super) fn passed(&self) -> Duration {
        self.before.get() + self.since.get().map_or(Duration::ZERO, |since| since.elapsed())
    }

    pub(super) fn is_over(&self) -> bool {
        self.passed() > self.most.get()
    }
}
