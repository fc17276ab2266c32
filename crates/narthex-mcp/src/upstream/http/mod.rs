//! A server over streamable HTTP: one exchange a question, all over one kept line of the egress
//! filter.

mod exchange;
mod headers;
mod knock;
mod listen;
mod receiving;
mod session;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use narthex_egress::EgressError;
use narthex_gate::upstream::{Connection, Credentials, Greeting, UpstreamFault, UpstreamQuestion};
use secrecy::SecretString;
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::DropGuard;
use tokio_util::task::TaskTracker;

use self::exchange::Exchange;
use super::UpstreamConnector;
use super::talk::{Spoken, Talk};

/// Where to, and as whom.
pub(super) struct To {
    pub(super) url: String,
    pub(super) headers: Vec<(String, SecretString)>,
    pub(super) credentials: Option<Arc<dyn Credentials>>,
}

/// A server that was greeted. Dropping it ends what is under way, and its session.
#[derive(Debug)]
pub(super) struct HttpConnection {
    exchange: Arc<Exchange>,
    greeting: Greeting,
    goodbyes: TaskTracker,
    closed: AtomicBool,
    _stop: DropGuard,
}

/// Greets a server.
pub(super) async fn connect(
    to: To,
    talk: Arc<Talk>,
    connector: &UpstreamConnector,
) -> Result<HttpConnection, UpstreamFault> {
    let stop = talk.stop.clone().drop_guard();
    let deadline = talk.terms.connect_deadline;
    let exchange =
        Arc::new(Exchange::new(to, Arc::clone(&talk), &connector.egress, &connector.config)?);
    let greeting = timeout(deadline, exchange.greet()).await;
    let greeting = greeting.unwrap_or(Err(UpstreamFault::Late(deadline)))?;
    talk.speak(if greeting.modern { Spoken::Modern } else { Spoken::Legacy });
    listen::begin(&exchange, &greeting);
    Ok(HttpConnection {
        exchange,
        greeting,
        goodbyes: connector.goodbyes.clone(),
        closed: AtomicBool::new(false),
        _stop: stop,
    })
}

#[async_trait]
impl Connection for HttpConnection {
    fn greeting(&self) -> &Greeting {
        &self.greeting
    }

    async fn ask(&self, question: UpstreamQuestion) -> Result<Box<RawValue>, UpstreamFault> {
        let _place = self.exchange.talk.place()?;
        let deadline = question.deadline;
        let asking = async {
            if self.greeting.modern {
                self.exchange.ask_modern(question).await
            } else {
                self.exchange.ask_legacy(question, &self.greeting).await
            }
        };
        tokio::select! {
            () = self.exchange.talk.stop.cancelled() => {
                Err(self.ended().unwrap_or_else(closed))
            }
            answer = timeout(deadline, asking) => {
                answer.unwrap_or(Err(UpstreamFault::Late(deadline)))
            }
        }
    }

    fn lists_changed(&self) -> watch::Receiver<u64> {
        self.exchange.talk.lists_changed()
    }

    fn passed_over(&self) -> u64 {
        self.exchange.talk.passed_over()
    }

    fn ended(&self) -> Option<UpstreamFault> {
        self.exchange.talk.ended()
    }

    async fn close(&self) {
        self.exchange.talk.end(closed());
        if !self.closed.swap(true, Ordering::SeqCst) {
            self.exchange.end_session().await;
        }
        self.exchange.talk.tasks.close();
        self.exchange.talk.tasks.wait().await;
    }
}

impl Drop for HttpConnection {
    fn drop(&mut self) {
        if self.closed.load(Ordering::SeqCst) || !self.exchange.has_session() {
            return;
        }
        let exchange = Arc::clone(&self.exchange);
        // Without a runtime there is nobody to say it; the server forgets the session by itself.
        if let Ok(runtime) = Handle::try_current() {
            self.goodbyes.spawn_on(async move { exchange.end_session().await }, &runtime);
        }
    }
}

fn closed() -> UpstreamFault {
    UpstreamFault::Ended("it was closed".to_owned())
}

/// What the filter or the network said.
fn fault_of(error: EgressError) -> UpstreamFault {
    match error {
        EgressError::Deadline(deadline) => UpstreamFault::Late(deadline),
        EgressError::ResponseBytes { cap, .. } => UpstreamFault::TooLarge { size: None, most: cap },
        EgressError::Busy => UpstreamFault::Busy,
        other => UpstreamFault::Unreachable(other.to_string()),
    }
}
