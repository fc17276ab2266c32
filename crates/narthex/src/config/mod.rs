//! The settings: the one module that reads files and the environment.
//!
//! Every key is a field with its words, its default and its bounds beside it; the reference in
//! `docs/configuration.md`, the bounds that are checked and the keys that are known all come from
//! there. To add a key: a field in `keys.rs`, then `UPDATE=1 cargo nextest run -p narthex drift`.

mod check;
mod code_keys;
pub mod env;
mod excerpt;
mod gate_keys;
mod graph_keys;
pub mod graphs;
mod keys;
pub mod policies;
mod read;
pub mod reference;
mod server_keys;

use std::time::Duration;

use narthex_gate::{GateConfig, SessionConfig};
use narthex_workspace::WorkspaceConfig;

pub use self::code_keys::{Code, CodeWalls};
pub use self::excerpt::excerpt;
pub use self::gate_keys::{Approvals, BudgetKeys, Egress, Sessions, TaintKeys};
pub use self::graph_keys::{GraphKeys, McpKeys, QueryPath, QueryPaths, ShownKeys};
pub use self::keys::{
    Config, Ledger, LedgerSink, Limits, Listen, Log, LogFormat, LogLevel, Policy, Store,
};
pub use self::server_keys::Servers;

impl Config {
    /// What the gate is told.
    pub fn gate(&self) -> GateConfig {
        GateConfig {
            mode: self.mode,
            budget: self.budget.budget(),
            taint_window: self.taint.window_seconds.map(Duration::from_secs),
            approval_wait: Duration::from_secs(self.approvals.wait_seconds),
            approval_valid: Duration::from_secs(self.approvals.valid_seconds),
            approvals_waiting: self.approvals.waiting,
            wrong_nonces: self.approvals.wrong_nonces,
            sessions: self.sessions.enabled.then(|| self.session()),
            keep_values: self.ledger.keep_values,
            requests_per_minute: self.limits.requests_per_minute,
            failures_per_minute: self.limits.failures_per_minute,
            call_deadline: Duration::from_secs(self.limits.call_seconds),
            calls_in_flight: self.limits.calls_in_flight,
            ..GateConfig::default()
        }
    }

    fn session(&self) -> SessionConfig {
        SessionConfig {
            idle: Duration::from_secs(self.sessions.idle_seconds),
            absolute: Duration::from_secs(self.sessions.absolute_seconds),
            per_agent: self.sessions.per_agent,
        }
    }

    /// What the workspace surface is told.
    pub fn workspace(&self) -> WorkspaceConfig {
        WorkspaceConfig { open_proposals: self.limits.open_proposals, ..WorkspaceConfig::default() }
    }
}
