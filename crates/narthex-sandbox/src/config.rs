//! What a program may use up, and how many there may be.

use std::time::Duration;

/// The bounds of code mode: a named one for everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxConfig {
    /// Bytes of a program's text.
    pub source: usize,
    /// Bytes of a program's heap.
    pub heap: usize,
    /// Bytes of a program's stack.
    pub stack: usize,
    /// A program's own time: it stands still while a call is waited for.
    pub script: Duration,
    /// Everything together, waiting included.
    pub wall: Duration,
    /// How much longer than its own time a program gets before it is ended from outside.
    pub margin: Duration,
    /// Calls of one run.
    pub calls: u32,
    /// Calls of one run at once.
    pub at_once: usize,
    /// Bytes of a result.
    pub result: usize,
    /// Bytes of what a program says.
    pub console: usize,
    /// Bytes of the arguments of one call.
    pub arguments: usize,
    /// Bytes of what a run was told, for it to be parked.
    pub journal: usize,
    /// Runs at once.
    pub runs: usize,
    /// Runs of one agent at once; others of it wait.
    pub runs_per_agent: usize,
    /// How long a run waits for its turn.
    pub turn: Duration,
    /// Runs of one agent that wait for the owner.
    pub parked: u32,
    /// How long a run waits for the owner.
    pub parked_for: Duration,
    /// Workers that are kept ready.
    pub ready: usize,
}

impl Default for SandboxConfig {
    fn default() -> Self {
        Self {
            source: 256 * 1024,
            heap: 64 * 1024 * 1024,
            stack: 512 * 1024,
            script: Duration::from_secs(5),
            wall: Duration::from_secs(25),
            margin: Duration::from_millis(500),
            calls: 100,
            at_once: 16,
            result: 1024 * 1024,
            console: 256 * 1024,
            arguments: 4 * 1024 * 1024,
            journal: 8 * 1024 * 1024,
            runs: 8,
            runs_per_agent: 4,
            turn: Duration::from_secs(20),
            parked: 8,
            parked_for: Duration::from_hours(24),
            ready: 2,
        }
    }
}
