//! What the gate can be told.

use std::time::Duration;

use narthex_core::Mode;

/// The gate's settings: a named bound for everything it keeps or waits for.
#[derive(Debug, Clone)]
pub struct GateConfig {
    /// The server's posture.
    pub mode: Mode,
    /// Requests an agent may make in a minute.
    pub requests_per_minute: u32,
    /// Failed attempts a source may make in a minute.
    pub failures_per_minute: u32,
    /// Sources whose failures are remembered at once.
    pub remembered_sources: u64,
    /// Verified tokens remembered at once.
    pub remembered_tokens: u64,
    /// Answers of policy remembered at once.
    pub remembered_verdicts: u64,
    /// How long a tool may take.
    pub call_deadline: Duration,
    /// Calls under way at once; over it, 503.
    pub calls_in_flight: usize,
    /// How long counted refusals before identity are held back before one record of them.
    pub refusal_window: Duration,
}

impl Default for GateConfig {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            requests_per_minute: 120,
            failures_per_minute: 30,
            remembered_sources: 10_000,
            remembered_tokens: 10_000,
            remembered_verdicts: 50_000,
            call_deadline: Duration::from_secs(30),
            calls_in_flight: 512,
            refusal_window: Duration::from_secs(10),
        }
    }
}
