//! Asking the client while its call is under way, and how long that may take.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use narthex_core::{Ruling, Standing, Taint, rule};
use narthex_store::{Guard, UnitOfWork};
use serde_json::Value;
use tokio::time::Instant;

use super::aside::{ANSWERED, ASKS};
use super::decide::Permit;
use super::taint::brought;
use crate::gate::Inner;
use crate::input::{Ask, AsksClient, NotAsked};

/// The client of a call that is under way. Every question and every answer passes the gate: what a
/// question does to the latch is durable before the client sees it, and an answer leaves only if the
/// call could still be made.
#[derive(Debug)]
pub struct ClientAsker {
    inner: Arc<Inner>,
    permit: Arc<Permit>,
    client: Arc<dyn AsksClient>,
    patience: Arc<Patience>,
}

impl ClientAsker {
    pub(super) const fn new(
        inner: Arc<Inner>,
        permit: Arc<Permit>,
        client: Arc<dyn AsksClient>,
        patience: Arc<Patience>,
    ) -> Self {
        Self { inner, permit, client, patience }
    }

    /// Asks, and waits for the answer as long as there is patience left.
    pub async fn ask(&self, ask: &Ask) -> Result<Value, NotAsked> {
        if self.patience.is_over() {
            return Err(NotAsked::Late);
        }
        let trace = &self.permit.trace;
        let record = self.inner.input_record(trace, ASKS, ask.kind.as_str(), &ask.params);
        let brings = brought(self.permit.spec.effects, Taint::CLEAN);
        let arms = self.inner.arming(trace, self.permit.holder, brings, &record.subject);
        let guards = self.guards(None);
        self.commit(UnitOfWork { guards, arms, ..UnitOfWork::records(vec![record]) }).await?;
        let answer = {
            let left = self.patience.begin();
            let _waits = Waits(&self.patience);
            tokio::time::timeout(left, self.client.ask(ask)).await
        };
        let answer = answer.map_err(|_| NotAsked::Late)??;
        let taint = self.inner.taint_of(self.permit.holder).await;
        let taint = taint.map_err(|_| NotAsked::Unavailable)?;
        if !self.may_leave(taint) {
            return Err(NotAsked::NotSent);
        }
        let record = self.inner.input_record(trace, ANSWERED, ask.kind.as_str(), &answer);
        let guards = self.guards(Some(taint));
        self.commit(UnitOfWork { guards, ..UnitOfWork::records(vec![record]) }).await?;
        Ok(answer)
    }

    /// Whether the call could still be made with what was taken in since.
    fn may_leave(&self, taint: Taint) -> bool {
        let Permit { standing, weight, covered, .. } = self.permit.as_ref();
        if **self.inner.mode.load() != standing.mode {
            return false;
        }
        match rule(&Standing { taint, ..*standing }, weight.tier, &weight.effects) {
            Ruling::Allow => true,
            Ruling::NeedsApproval { .. } => covered.is_some(),
            Ruling::Refuse(_) => false,
        }
    }

    fn guards(&self, taint: Option<Taint>) -> Vec<Guard> {
        let holder = self.permit.holder;
        let mut guards = self.inner.still_stands(&self.permit);
        guards.extend(taint.map(|decided| Guard::TaintWithin { holder, decided }));
        guards
    }

    async fn commit(&self, unit: UnitOfWork) -> Result<(), NotAsked> {
        self.inner.store.commit(unit).await.map(drop).map_err(|error| {
            tracing::debug!(%error, "what an upstream asks goes no further");
            NotAsked::Unavailable
        })
    }
}

/// How long a call waits for its client, all in all. What it waits counts for nobody's deadline.
#[derive(Debug)]
pub(crate) struct Patience {
    most: Duration,
    waited: Mutex<Waited>,
}

#[derive(Debug, Default)]
struct Waited {
    before: Duration,
    since: Option<Instant>,
}

impl Patience {
    pub(super) fn new(most: Duration) -> Self {
        Self { most, waited: Mutex::default() }
    }

    /// How long was waited so far.
    pub(crate) fn waited(&self) -> Duration {
        let waited = self.lock();
        waited.before + waited.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn is_over(&self) -> bool {
        self.waited() >= self.most
    }

    /// Begins to wait; how long it may be.
    fn begin(&self) -> Duration {
        let mut waited = self.lock();
        waited.since = Some(Instant::now());
        self.most.saturating_sub(waited.before)
    }

    fn end(&self) {
        let mut waited = self.lock();
        if let Some(since) = waited.since.take() {
            waited.before += since.elapsed();
        }
    }

    /// Returns when so much time has passed that was not spent waiting.
    pub(super) async fn over(&self, deadline: Duration) {
        let began = Instant::now();
        loop {
            let worked = began.elapsed().saturating_sub(self.waited());
            let left = deadline.saturating_sub(worked);
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waited> {
        self.waited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Waits<'a>(&'a Patience);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
