//! Acting outside the house: the intent durable, then the effect, then the outcome. In the middle of
//! it an upstream may ask the client something.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use narthex_core::{Outcome, Place, Reason, RecordDraft, Reserve, Subject, Taint};
use narthex_store::{Refused, StoreError, UnitOfWork};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::act::{Acted, Sealed, ended, first, stopped, unknown};
use super::aside::{ANSWERED, ASKS, Begun, PutAside};
use super::asking::{ClientAsker, Patience};
use super::decide::Permit;
use super::record::Trace;
use super::saying;
use super::telling::{Ahead, Telling};
use crate::answer::over_budget;
use crate::gate::Inner;
use crate::input::{AskableClient, ClientCan, ClientWay};
use crate::surface::{RecordedIntent, Surface};
use crate::{CallError, ToolError, ToolOutput};

impl Inner {
    /// Intent durable, then the effect, then the outcome.
    pub(super) async fn reach_out(
        self: &Arc<Self>,
        surface: &dyn Surface,
        permit: &Arc<Permit>,
        begun: Option<&Arc<Begun>>,
        arguments: Value,
        hung_up: &CancellationToken,
    ) -> Acted {
        let trace = &permit.trace;
        let bounds = (self.time_for(permit).await, self.words_for(permit).await);
        let (time, words) = match bounds {
            (Ok(time), Ok(words)) => (time, words),
            (Err(error), _) | (_, Err(error)) => {
                return Some(self.fail(trace, permit.holder, error.into()).await);
            }
        };
        let reserve = Self::reserve(permit, time, words);
        let brings = permit.brings_ahead();
        let unit = UnitOfWork {
            guards: self.guards(permit),
            arms: self.arming(trace, permit.holder, brings, &Subject::default()),
            records: self.intent(permit, begun.map(Arc::as_ref), reserve),
            ..UnitOfWork::default()
        };
        let committed = match self.store.commit(unit).await {
            Ok(committed) => committed,
            Err(error) => return self.not_made(permit, error).await,
        };
        let Some(receipt) = first(&committed) else { return Some(Err(CallError::Internal)) };
        let context = permit.context.clone();
        let patience = Arc::new(Patience::new(self.patience_for(permit)));
        let (mut way, says) = Telling::new(permit, words).unzip();
        let intent = RecordedIntent::new(trace.call, trace.tool.clone(), context, receipt)
            .saying(says)
            .telling(self.saying(permit))
            .asking(self.asker(permit, &patience))
            .going_on(begun.cloned())
            .by(permit.consent, trace);
        let acting = surface.perform(&intent, arguments);
        let performing = self.in_time_but(&patience, time, &permit.place, acting);
        let answer = tokio::select! {
            answer = performing => answer,
            () = hung_up.cancelled() => Err(ended(Reason::Interrupted)),
            never = Telling::pass_on(&mut way) => match never {},
        };
        let ahead = Telling::end(way);
        if let (Err(ToolError::InputNeeded { .. }), Some(aside)) = (&answer, intent.was_put_aside())
        {
            return Some(self.wait_for_input(permit, Sealed(answer), ahead, aside).await);
        }
        Some(self.settle(permit, Sealed(answer).after_acting(), ahead, Vec::new()).await)
    }

    /// The intent, with what was answered to what was asked before it.
    fn intent(&self, permit: &Permit, begun: Option<&Begun>, reserve: Reserve) -> Vec<RecordDraft> {
        let trace = &permit.trace;
        let armed = permit.brings_ahead().without(permit.context.taint);
        let intent = |subject| RecordDraft { reserve, armed, ..trace.intent(subject) };
        let Some(begun) = begun else { return vec![intent(Subject::default())] };
        let goes_on = intent(Subject::one("continues", begun.first));
        let answers = begun.goes_on.answers.values();
        let answers = answers.map(|said| self.input_record(trace, ANSWERED, "answer", said));
        std::iter::once(goes_on).chain(answers).collect()
    }

    /// How long the client may take. A budget of time knows no patience.
    fn patience_for(&self, permit: &Permit) -> Duration {
        if permit.budget.millis.is_some() { Duration::ZERO } else { self.config.input_wait }
    }

    fn saying(self: &Arc<Self>, permit: &Arc<Permit>) -> Option<saying::Telling> {
        let client = permit.logs.clone()?;
        Some(saying::Telling::new(Arc::clone(self), Arc::clone(permit), client))
    }

    fn asker(
        self: &Arc<Self>,
        permit: &Arc<Permit>,
        patience: &Arc<Patience>,
    ) -> Option<(ClientCan, Option<ClientAsker>)> {
        let AskableClient { can, way } = permit.client.clone()?;
        let asker = |client| {
            ClientAsker::new(Arc::clone(self), Arc::clone(permit), client, Arc::clone(patience))
        };
        match way {
            ClientWay::InPlace(client) => Some((can, Some(asker(client)))),
            ClientWay::ByRepeating => Some((can, None)),
        }
    }

    /// The outcome of a call that waits for its client. What is asked is released like an answer, and
    /// only then is the call put aside.
    async fn wait_for_input(
        &self,
        permit: &Permit,
        answer: Sealed,
        ahead: Ahead,
        aside: PutAside,
    ) -> Result<ToolOutput, CallError> {
        if !self.has_room_aside(permit.holder.agent).await {
            let reason = Reason::LimitReached;
            let message = "too many calls wait for an answer of this client";
            let full = Sealed(Err(ToolError::caller(reason, message)));
            return self.settle(permit, full, ahead, Vec::new()).await;
        }
        let asks = aside
            .asks
            .iter()
            .map(|(_, ask)| self.input_record(&permit.trace, ASKS, ask.kind.as_str(), &ask.params));
        let asks = asks.collect();
        match self.settle(permit, answer, ahead, asks).await {
            // Sealed has no other word for what was put aside.
            Err(CallError::Internal) => {
                let needed = self.put_aside(permit, aside)?;
                Err(CallError::Input(Box::new(needed)))
            }
            other => other,
        }
    }

    /// The outcome of a call that acted outside. It was made, whatever can be said of it now: an
    /// answer that is too much is withheld and its outcome recorded all the same, and one whose
    /// outcome cannot be recorded is unknown and never to be tried again by itself.
    async fn settle(
        &self,
        permit: &Permit,
        mut answer: Sealed,
        ahead: Ahead,
        more: Vec<RecordDraft>,
    ) -> Result<ToolOutput, CallError> {
        let outcome =
            |trace: &Trace| trace.outcome(Outcome::Ok, Reason::Permitted, Subject::default());
        let mut unit = self.releasing(permit, &mut answer, ahead, outcome);
        let guards = self.within_bytes(permit).into_iter().collect();
        let withheld = unit.records.clone();
        unit.records.extend(more);
        let error = match self.store.commit(UnitOfWork { guards, ..unit }).await {
            Ok(committed) => {
                return first(&committed).map_or(Err(unknown()), |receipt| answer.open(receipt));
            }
            Err(StoreError::Refused(Refused::OverBudget(over))) => {
                let over = ToolError::caller(Reason::OverBudget, over_budget(over));
                // Nothing of the answer is released: neither its bytes nor what it would have set. What
                // was told before it is.
                let bytes = (ahead.bytes > 0).then_some(ahead.bytes);
                let (armed, reason) = (Taint::CLEAN, Reason::OverBudget);
                let plain = |record| RecordDraft { bytes, armed, reason, ..record };
                let records = withheld.into_iter().map(plain).collect();
                match self.store.commit(UnitOfWork::records(records)).await {
                    Ok(committed) => {
                        let answer = Sealed(Err(over));
                        return first(&committed)
                            .map_or(Err(unknown()), |receipt| answer.open(receipt));
                    }
                    Err(error) => error,
                }
            }
            Err(error) => error,
        };
        tracing::error!(%error, "the outcome of a call could not be recorded");
        Err(unknown())
    }

    /// In time, but for what is spent waiting for the client.
    async fn in_time_but<T>(
        &self,
        patience: &Patience,
        deadline: Duration,
        place: &Place,
        acting: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        // A tool that panics is a tool that failed: it leaves its record like any other.
        let acting = AssertUnwindSafe(acting).catch_unwind();
        tokio::select! {
            biased;
            acted = acting => match acted {
                Ok(done) => done,
                Err(_) => Err(ToolError::Internal("the tool panicked".to_owned())),
            },
            () = patience.over(deadline) => Err(ended(Reason::DeadlineExceeded)),
            () = self.stops.stopped(place) => Err(stopped()),
        }
    }
}
