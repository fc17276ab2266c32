//! What the gate can be told.

use std::time::Duration;

use narthex_core::{Budget, Mode};

/// The gate's settings: a named bound for everything it keeps or waits for.
#[derive(Debug, Clone)]
pub struct GateConfig {
    /// The highest posture there may be; the owner can lower it while the house is open.
    pub mode: Mode,
    /// What an agent may use up, unless the owner gave it a budget of its own.
    pub budget: Budget,
    /// After how long what was taken in counts no more; none is never.
    pub taint_window: Option<Duration>,
    /// How long a request waits for the owner.
    pub approval_wait: Duration,
    /// How long an approval is good for.
    pub approval_valid: Duration,
    /// Requests of one agent that may wait at once.
    pub approvals_waiting: u32,
    /// Bytes of the arguments of a call that waits: more is nothing an owner can look at.
    pub approval_bytes: usize,
    /// Wrong nonces after which a request is void.
    pub wrong_nonces: u32,
    /// Legacy sessions, if they are kept.
    pub sessions: Option<SessionConfig>,
    /// Whether the ledger keeps a keyed hash of each argument, beside the one of all together.
    pub keep_values: bool,
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
    /// Bytes of what an upstream says on the way of one call that are passed on; more is left out.
    pub progress_bytes: u64,
    /// How long a call waits, all in all, for what its client answers to an upstream.
    pub input_wait: Duration,
    /// Calls of one agent that are put aside until their client has answered.
    pub inputs_waiting: usize,
    /// Calls under way at once; over it, 503.
    pub calls_in_flight: usize,
    /// How long counted refusals before identity are held back before one record of them.
    pub refusal_window: Duration,
}

impl Default for GateConfig {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            budget: Budget {
                calls: [None, Some(600), Some(120), Some(12)],
                bytes: Some(1024 * 1024 * 1024),
                ..Budget::default()
            },
            taint_window: None,
            approval_wait: Duration::from_hours(1),
            approval_valid: Duration::from_mins(10),
            approvals_waiting: 16,
            approval_bytes: 256 * 1024,
            wrong_nonces: 5,
            sessions: None,
            keep_values: false,
            requests_per_minute: 120,
            failures_per_minute: 30,
            remembered_sources: 10_000,
            remembered_tokens: 10_000,
            remembered_verdicts: 50_000,
            call_deadline: Duration::from_secs(30),
            progress_bytes: 64 * 1024,
            input_wait: Duration::from_mins(2),
            inputs_waiting: 8,
            calls_in_flight: 512,
            refusal_window: Duration::from_secs(10),
        }
    }
}

/// The bounds of legacy sessions.
#[derive(Debug, Clone)]
pub struct SessionConfig {
    /// After how long without a message a session ends.
    pub idle: Duration,
    /// After how long it ends in any case.
    pub absolute: Duration,
    /// How many an agent may have at once. One more is refused; none is ever put out for another.
    pub per_agent: usize,
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self { idle: Duration::from_mins(30), absolute: Duration::from_hours(24), per_agent: 16 }
    }
}
