//! What the edge can be told: a named bound for everything it reads, keeps or waits for.

use std::time::Duration;

use crate::ConsoleUrl;

/// The edge's bounds.
#[derive(Debug, Clone)]
pub struct EdgeConfig {
    /// Bytes of one request body, and of one line on stdio; over it 413.
    pub body_bytes: usize,
    /// How long a body may take to arrive; over it 408.
    pub body_deadline: Duration,
    /// Bytes of larger bodies held at once, over all requests; over it 503.
    pub body_memory: usize,
    /// How long a request's head may take to arrive, which is also how long an idle connection
    /// is kept.
    pub header_deadline: Duration,
    /// Bytes of a request's head; over it 431. (More than 100 headers are 431 as well.)
    pub header_bytes: usize,
    /// Connections open at once; over it, new ones wait to be accepted.
    pub connections: usize,
    /// How long a TLS handshake may take.
    pub handshake_deadline: Duration,
    /// How long requests under way may take to finish once a stop was asked for.
    pub drain_deadline: Duration,
    /// A call that takes longer than this has its response headers sent.
    pub early_headers_after: Duration,
    /// How often something is sent to keep such a response alive.
    pub keep_alive_every: Duration,
    /// How long a client may keep a list or a discovery.
    pub list_ttl: Duration,
    /// Calls under way at once on stdio; over it, reading waits.
    pub stdio_calls: usize,
    /// Where the owner decides on what waits; none until there is a console.
    pub console: Option<ConsoleUrl>,
}

impl Default for EdgeConfig {
    fn default() -> Self {
        Self {
            body_bytes: 16 * 1024 * 1024,
            body_deadline: Duration::from_secs(30),
            body_memory: 64 * 1024 * 1024,
            header_deadline: Duration::from_secs(10),
            header_bytes: 32 * 1024,
            connections: 12_000,
            handshake_deadline: Duration::from_secs(10),
            drain_deadline: Duration::from_secs(35),
            early_headers_after: Duration::from_secs(1),
            keep_alive_every: Duration::from_secs(5),
            list_ttl: Duration::from_mins(1),
            stdio_calls: 16,
            console: None,
        }
    }
}
