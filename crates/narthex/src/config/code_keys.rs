//! The keys of code mode.

use std::time::Duration;

use narthex_sandbox::SandboxConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Programs that agents send, and what they may use up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Code {
    /// Whether agents may send programs at all (`/code/mcp`).
    pub enabled: bool,
    /// What a worker must be shut in by. `required`: landlock, seccomp and limits, or code mode is not
    /// served. `lowered`: it is served where they are missing too, and the ledger says so at each start.
    pub walls: CodeWalls,
    /// Megabytes of a program's heap.
    #[schemars(range(min = 8, max = 1024))]
    pub heap_mb: usize,
    /// Milliseconds of a program's own time; waiting for its calls does not count.
    #[schemars(range(min = 10, max = 60000))]
    pub script_ms: u64,
    /// Seconds of all of it, waiting included. A call's own deadline (`limits.call_seconds`) is above it.
    #[schemars(range(min = 1, max = 300))]
    pub wall_seconds: u64,
    /// Calls of one run.
    #[schemars(range(min = 1, max = 10000))]
    pub calls: u32,
    /// Kilobytes of a result.
    #[schemars(range(min = 1, max = 16384))]
    pub result_kb: usize,
    /// Kilobytes of what a program says.
    #[schemars(range(min = 1, max = 4096))]
    pub console_kb: usize,
    /// Kilobytes of a program's text.
    #[schemars(range(min = 1, max = 2048))]
    pub source_kb: usize,
    /// Runs at once, of all agents together.
    #[schemars(range(min = 1, max = 256))]
    pub runs: usize,
    /// Runs of one agent at once; more of its own wait.
    #[schemars(range(min = 1, max = 256))]
    pub runs_per_agent: usize,
    /// Workers that are kept ready.
    #[schemars(range(min = 0, max = 32))]
    pub ready: usize,
    /// Runs of one agent that may wait for you.
    #[schemars(range(min = 1, max = 100))]
    pub parked: u32,
    /// Hours a run waits for you.
    #[schemars(range(min = 1, max = 720))]
    pub parked_hours: u64,
}

/// What a worker must be shut in by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum CodeWalls {
    #[default]
    Required,
    Lowered,
}

impl Default for Code {
    fn default() -> Self {
        let usual = SandboxConfig::default();
        Self {
            enabled: true,
            walls: CodeWalls::default(),
            heap_mb: usual.heap / MEGA,
            script_ms: u64::try_from(usual.script.as_millis()).unwrap_or(5_000),
            wall_seconds: usual.wall.as_secs(),
            calls: usual.calls,
            result_kb: usual.result / KILO,
            console_kb: usual.console / KILO,
            source_kb: usual.source / KILO,
            runs: usual.runs,
            runs_per_agent: usual.runs_per_agent,
            ready: usual.ready,
            parked: usual.parked,
            parked_hours: usual.parked_for.as_secs() / 3600,
        }
    }
}

impl Code {
    /// What the sandbox is told.
    pub fn bounds(&self) -> SandboxConfig {
        SandboxConfig {
            heap: self.heap_mb * MEGA,
            script: Duration::from_millis(self.script_ms),
            wall: Duration::from_secs(self.wall_seconds),
            calls: self.calls,
            result: self.result_kb * KILO,
            console: self.console_kb * KILO,
            source: self.source_kb * KILO,
            runs: self.runs,
            runs_per_agent: self.runs_per_agent,
            ready: self.ready,
            parked: self.parked,
            parked_for: Duration::from_hours(self.parked_hours),
            ..SandboxConfig::default()
        }
    }
}

const KILO: usize = 1024;
const MEGA: usize = 1024 * KILO;
