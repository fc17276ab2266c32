//! What an upstream says to the log while a call is under way, on its way to the client.
//!
//! It is text that the owner did not write, like an answer: what it does to the latch is durable, and
//! the message in the ledger, before the client sees it.

use std::sync::Arc;

use narthex_core::Taint;
use narthex_store::UnitOfWork;
use serde_json::Value;
use tokio::sync::mpsc;

use super::aside::SAYS;
use super::decide::Permit;
use super::taint::brought;
use crate::gate::Inner;
use crate::upstream::LogLevel;

/// A client that wants to hear what an upstream says to the log while its call is under way.
#[derive(Debug, Clone)]
pub struct ClientLog {
    /// What matters less it does not want. None: as it said for all its calls.
    pub least: Option<LogLevel>,
    /// Where messages go, as the client is to see them. Full means dropped.
    pub to: mpsc::Sender<Value>,
}

/// The client of a call, as far as it hears what the upstream says to the log.
#[derive(Debug)]
pub struct Telling {
    inner: Arc<Inner>,
    permit: Arc<Permit>,
    client: ClientLog,
}

impl Telling {
    pub(super) const fn new(inner: Arc<Inner>, permit: Arc<Permit>, client: ClientLog) -> Self {
        Self { inner, permit, client }
    }

    /// What matters less is not wanted, if this call says so.
    pub const fn least(&self) -> Option<LogLevel> {
        self.client.least
    }

    /// Tells the client, once that is durable. What cannot be recorded is not told.
    pub async fn tell(&self, said: Value) {
        let (inner, permit) = (&self.inner, &self.permit);
        let mut record = inner.input_record(&permit.trace, SAYS, "log", &said);
        let brings = brought(permit.spec.effects, Taint::CLEAN);
        record.armed = brings.without(permit.context.taint);
        let arms = inner.arming(&permit.trace, permit.holder, brings, &record.subject);
        let guards = inner.still_stands(permit);
        let unit = UnitOfWork { guards, arms, ..UnitOfWork::records(vec![record]) };
        match inner.store.commit(unit).await {
            // Who is slow to listen misses some.
            Ok(_) => drop(self.client.to.try_send(said)),
            Err(error) => tracing::debug!(%error, "what an upstream says goes no further"),
        }
    }
}
