//! Other people's servers, asked over pipes or HTTP, in both eras: a client that keeps results as
//! they came.
//!
//! ```text
//! connect ─ greet (server/discover, else initialize) ─ ask ─ … ─ close
//!   pipes/   one reader, one writer, a table of who waits
//!   http/    one exchange a question, over a kept line of the egress filter
//! ```
//!
//! A server is hostile until proven otherwise, and it is never proven. So: everything read has a
//! bound, everything awaited a deadline; an answer reaches the question of its id or nobody; what a
//! server asks is answered by whoever the owner put there, or refused; no secret leaves for another
//! origin. A result is looked at as far as its envelope and handed on as bytes.
//!
//! To add a way to carry messages: a folder beside `pipes/` and `http/` with a `Connection`, over a
//! `Talk`; an arm in [`UpstreamConnector`].

mod greet;
mod http;
mod incoming;
mod log;
mod outgoing;
mod pace;
mod pipes;
mod progress;
mod talk;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use narthex_egress::EgressClient;
use narthex_gate::upstream::{AskedByServer, Connection, Connector, Line, Terms, UpstreamFault};
use tokio_util::task::TaskTracker;

use self::talk::Talk;

/// Opens connections to other people's servers. Those over HTTP go through the egress filter.
#[derive(Debug, Clone)]
pub struct UpstreamConnector {
    egress: EgressClient,
    config: UpstreamConfig,
    /// Goodbyes of connections that were dropped.
    goodbyes: TaskTracker,
}

/// What connections have in common, whichever server they lead to.
#[derive(Debug, Clone)]
pub struct UpstreamConfig {
    /// How long a process may be silent to `server/discover` before `initialize` is tried.
    pub silence: Duration,
    /// How long what was looked up and judged of an HTTP server is used.
    pub checked_for: Duration,
    /// How long a server may take to be told something that is no question: a cancellation, an
    /// answer to a request of its own, a goodbye.
    pub courtesy: Duration,
    /// How long one stream of announcements is listened to before it is opened anew.
    pub listen: Duration,
}

impl Default for UpstreamConfig {
    fn default() -> Self {
        Self {
            silence: Duration::from_secs(2),
            checked_for: Duration::from_mins(1),
            courtesy: Duration::from_secs(5),
            listen: Duration::from_hours(1),
        }
    }
}

impl UpstreamConnector {
    /// A connector whose HTTP goes out through this client.
    pub fn new(egress: EgressClient, config: UpstreamConfig) -> Self {
        Self { egress, config, goodbyes: TaskTracker::new() }
    }

    /// Waits until connections that were dropped have said goodbye.
    pub async fn finish(&self) {
        self.goodbyes.close();
        self.goodbyes.wait().await;
    }
}

#[async_trait]
impl Connector for UpstreamConnector {
    async fn connect(
        &self,
        line: Line,
        terms: Terms,
        asked: Arc<dyn AskedByServer>,
    ) -> Result<Arc<dyn Connection>, UpstreamFault> {
        let talk = Arc::new(Talk::new(terms, asked)?);
        Ok(match line {
            Line::Pipes { to, from } => {
                Arc::new(pipes::connect((to, from), talk, &self.config).await?)
            }
            Line::Http { url, headers, credentials } => {
                let to = http::To { url, headers, credentials };
                Arc::new(http::connect(to, talk, self).await?)
            }
        })
    }
}
