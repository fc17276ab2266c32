//! Every key of `narthex.toml`.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use narthex_core::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::code_keys::Code;
use super::gate_keys::{Approvals, BudgetKeys, Egress, Sessions, TaintKeys};
use super::graph_keys::GraphKeys;
use super::server_keys::Servers;

/// All settings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How far calls may reach at all. `readonly` lets agents look (T0), `guarded` lets them
    /// propose as well and asks you before anything that changes shared state (up to T2), `open`
    /// admits every tier, each behind its own gate.
    #[schemars(with = "String", extend("enum" = ["readonly", "guarded", "open"]))]
    pub mode: Mode,
    /// Where agents connect. Leaving loopback takes three decisions: an address,
    /// `reachable_from_outside`, and TLS or a declared proxy.
    pub listen: Listen,
    /// Bounds on what one agent, one request and all of them together may take.
    pub limits: Limits,
    /// Calls that wait for your go-ahead (`narthex approvals`).
    pub approvals: Approvals,
    /// What each agent may use up in a rolling window, unless you gave it a budget of its own
    /// (`narthex agent set`). Refused calls cost nothing.
    pub budget: BudgetKeys,
    /// What agents have taken in: your own data, and text you did not write (`narthex taint`).
    pub taint: TaintKeys,
    /// Sessions of clients that speak an older protocol.
    pub sessions: Sessions,
    /// What Narthex itself may fetch. Agents' calls are not meant here.
    pub egress: Egress,
    /// Graphs of this house, by their slugs.
    pub graphs: BTreeMap<String, GraphKeys>,
    /// Other people's MCP servers (`narthex mcp`). They are off until you turn them on.
    pub servers: Servers,
    /// Programs that agents send (`/code/mcp`, `narthex run`).
    pub code: Code,
    /// The embedded database.
    pub store: Store,
    /// What the ledger keeps, and who follows it: a second copy of what proves it, or of all of
    /// it, elsewhere.
    pub ledger: Ledger,
    /// Your own policies, beside the standard one.
    pub policy: Policy,
    /// What is said on standard error.
    pub log: Log,
}

/// Where agents connect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Listen {
    /// The address and port; port 0 takes a free one.
    #[schemars(with = "String")]
    pub address: SocketAddr,
    /// The names clients reach this server by, as in their `Host` header. On loopback
    /// `127.0.0.1`, `::1` and `localhost` are known without being listed.
    pub hosts: Vec<String>,
    /// The web origins whose pages may call, as in `https://app.example`. A request with any
    /// other `Origin` is refused, on loopback too.
    pub origins: Vec<String>,
    /// Says that this server is meant to be reached from other machines. Without it, only a
    /// loopback address is accepted.
    pub reachable_from_outside: bool,
    /// A PEM file with the certificate chain to serve TLS with.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub tls_certificate: Option<PathBuf>,
    /// A PEM file with that certificate's private key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub tls_key: Option<PathBuf>,
    /// Says that a proxy in front of this server ends TLS.
    pub behind_tls_proxy: bool,
}

impl Default for Listen {
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 7377)),
            hosts: Vec::new(),
            origins: Vec::new(),
            reachable_from_outside: false,
            tls_certificate: None,
            tls_key: None,
            behind_tls_proxy: false,
        }
    }
}

/// Bounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Requests an agent may make in a minute; over it 429.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub requests_per_minute: u32,
    /// Failed attempts to identify itself that one source may make in a minute; over it 429.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub failures_per_minute: u32,
    /// Bytes of one request body; over it 413.
    #[schemars(range(min = 1_024, max = 268_435_456))]
    pub body_bytes: usize,
    /// Bytes of the body of a request that loads a file into a graph; over it 413. It loosens no
    /// other request's bound.
    #[schemars(range(min = 1_024, max = 268_435_456))]
    pub graph_load_bytes: usize,
    /// Seconds a request's head may take to arrive, and an idle connection is kept.
    #[schemars(range(min = 1, max = 600))]
    pub header_seconds: u64,
    /// Seconds a request's body may take to arrive; over it 408.
    #[schemars(range(min = 1, max = 600))]
    pub body_seconds: u64,
    /// Seconds a tool may take.
    #[schemars(range(min = 1, max = 3_600))]
    pub call_seconds: u64,
    /// Calls under way at once; over it 503.
    #[schemars(range(min = 1, max = 65_536))]
    pub calls_in_flight: usize,
    /// Connections open at once; over it, new ones wait.
    #[schemars(range(min = 1, max = 65_536))]
    pub connections: usize,
    /// Seconds that calls under way may take to finish after a stop was asked for.
    #[schemars(range(min = 1, max = 600))]
    pub drain_seconds: u64,
    /// Proposals of one agent that may wait in your inbox at once.
    #[schemars(range(min = 1, max = 10_000))]
    pub open_proposals: u32,
    /// Milliseconds after which a call that is still under way has its response headers sent.
    #[schemars(range(min = 10, max = 60_000))]
    pub early_headers_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_minute: 120,
            failures_per_minute: 30,
            body_bytes: 16 * 1024 * 1024,
            graph_load_bytes: 32 * 1024 * 1024,
            header_seconds: 10,
            body_seconds: 30,
            call_seconds: 30,
            calls_in_flight: 512,
            connections: 1_024,
            drain_seconds: 35,
            open_proposals: 100,
            early_headers_ms: 1_000,
        }
    }
}

/// The embedded database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Store {
    /// Connections that read at once. There is always exactly one that writes.
    #[schemars(range(min = 1, max = 64))]
    pub readers: u32,
}

impl Default for Store {
    fn default() -> Self {
        Self { readers: 4 }
    }
}

/// Who follows the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ledger {
    /// Whether it keeps a keyed hash of each argument of a call, beside the one of all together, so
    /// that equal values can be found again. An argument that has parts (an object, a list) is one
    /// value: it is found as a whole, whatever the order of its keys, and in no part. The values
    /// themselves are never kept.
    pub keep_values: bool,
    /// A file that a running server keeps current with the newest signed checkpoint. On another
    /// volume it shows whether the ledger was rolled back: `narthex ledger verify --anchor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub anchor: Option<PathBuf>,
    /// Where every record goes besides. Never waited for; `narthex status` says how far it is.
    pub sink: LedgerSink,
}

/// Where every record goes besides.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LedgerSink {
    /// A file that every record is appended to, one line each, exactly as it is in the ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub file: Option<PathBuf>,
    /// Sends every record to the system log (`/dev/log`, RFC 5424, facility 13).
    pub syslog: bool,
}

/// Your own policies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// The folder whose `.cedar` files are in force, from the data directory on. It may be
    /// missing; a file in it that is wrong refuses the start.
    #[schemars(with = "String")]
    pub folder: PathBuf,
}

impl Default for Policy {
    fn default() -> Self {
        Self { folder: PathBuf::from("policies") }
    }
}

/// What is said on standard error.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// How much the server says. `-v` says more, and `RUST_LOG` overrides both.
    pub level: LogLevel,
    /// Lines for people, or one JSON object a line.
    pub format: LogFormat,
}

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum LogLevel {
    Error,
    Warn,
    #[default]
    Info,
    Debug,
    Trace,
}

impl LogLevel {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// In which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}
