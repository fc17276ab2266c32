//! Stages five to seven: record the intent, act, record the outcome.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use narthex_core::{
    Cost, EffectSite, Holder, Outcome, Place, Reason, RecordDraft, Subject, Taint, Usage,
};
use narthex_store::{Committed, Guard, Receipt, Refused, StoreError, UnitOfWork};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::decide::Permit;
use super::record::{Released, Trace};
use super::taint::{brought, brought_by_error};
use super::{Admitted, Invocation};
use crate::answer::over_budget;
use crate::gate::Inner;
use crate::ready::ReadyTool;
use crate::surface::{Intent, RecordedIntent, Surface};
use crate::{CallError, Gate, ReadySurface, ToolError, ToolOutput};

impl Gate {
    /// Makes a call: decides, records, acts, records.
    ///
    /// Acting and recording run in a task of their own, so that a client that hangs up cannot
    /// leave a record half written; hanging up cancels what acts outside the house.
    pub async fn call(
        &self,
        admitted: &Admitted,
        surface: &Arc<ReadySurface>,
        invocation: Invocation,
    ) -> Result<ToolOutput, CallError> {
        let inner = Arc::clone(self.inner());
        let Ok(place) = Arc::clone(&inner.in_flight).try_acquire_owned() else {
            return Err(CallError::Overloaded);
        };
        let (admitted, surface) = (admitted.clone(), Arc::clone(surface));
        let hung_up = CancellationToken::new();
        let watch = hung_up.clone();
        let task = self.inner().tasks.spawn(async move {
            let _place = place;
            inner.decide_and_act(&admitted, &surface, invocation, &watch).await
        });
        let _cancels_when_dropped = hung_up.drop_guard();
        task.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a call ended abnormally");
            Err(CallError::Internal)
        })
    }
}

/// How acting ended; none if what was decided on moved before the intent was durable, and so
/// nothing happened.
type Acted = Option<Result<ToolOutput, CallError>>;

impl Inner {
    /// Decides anew as long as what was decided on moves before it is durable.
    async fn decide_and_act(
        &self,
        admitted: &Admitted,
        surface: &ReadySurface,
        invocation: Invocation,
        hung_up: &CancellationToken,
    ) -> Result<ToolOutput, CallError> {
        let changes = |tool: &ReadyTool| tool.spec.effects.site != EffectSite::Observe;
        if surface.tool(&invocation.tool).is_some_and(changes) {
            for _ in 1..MAX_DECISIONS {
                let permit = self.decide(admitted, surface, invocation.clone()).await?;
                let acted = self.act(surface.shared().as_ref(), permit, hung_up).await;
                if let Some(done) = acted {
                    return done;
                }
            }
        }
        let permit = self.decide(admitted, surface, invocation).await?;
        let acted = self.act(surface.shared().as_ref(), permit, hung_up).await;
        acted.unwrap_or(Err(CallError::Overloaded))
    }

    async fn act(
        &self,
        surface: &dyn Surface,
        mut permit: Permit,
        hung_up: &CancellationToken,
    ) -> Acted {
        let arguments = std::mem::take(&mut permit.arguments);
        match permit.weight.effects.site {
            EffectSite::Observe => Some(self.observe(surface, &permit, arguments).await),
            EffectSite::Local => self.change(surface, &permit, arguments).await,
            EffectSite::External => self.reach_out(surface, &permit, arguments, hung_up).await,
            // A call that does not say where its effect lives is not decided on.
            EffectSite::ByCall => Some(Err(CallError::Internal)),
        }
    }

    /// One record; the answer is released only against its receipt.
    async fn observe(
        &self,
        surface: &dyn Surface,
        permit: &Permit,
        arguments: Value,
    ) -> Result<ToolOutput, CallError> {
        let trace = &permit.trace;
        let intent = Intent::new(trace.call, trace.tool.clone(), permit.context.clone());
        let deadline = self.config.call_deadline;
        let observing = surface.observe(&intent, arguments);
        let acted = self.in_time(deadline, &permit.place, observing).await;
        if let Err(ToolError::Caller { reason: Reason::Stopped, .. }) = &acted {
            return self.fail(trace, permit.holder, stopped()).await;
        }
        let guards = std::iter::once(not_stopped(permit))
            .chain(self.within_budget(permit, Usage::default()));
        let guards = guards.collect();
        self.release(permit, Sealed(acted), guards, |trace| {
            trace.observed(Outcome::Ok, Reason::Permitted, Subject::default())
        })
        .await
    }

    /// Intent, effect and outcome in one transaction.
    async fn change(&self, surface: &dyn Surface, permit: &Permit, arguments: Value) -> Acted {
        let trace = &permit.trace;
        let intent = Intent::new(trace.call, trace.tool.clone(), permit.context.clone());
        let staging = surface.stage(&intent, arguments);
        let staged = self.in_time(self.config.call_deadline, &permit.place, staging).await;
        let staged = match staged {
            Ok(staged) => staged,
            Err(error) => return Some(self.fail(trace, permit.holder, error).await),
        };
        let grew = staged.weight.is_some_and(|weight| !permit.weighed.covers(weight));
        if grew || staged.space.is_some_and(|space| permit.space != Some(space)) {
            return None;
        }
        let mut answer = staged.answer;
        let brings = brought(permit.spec.effects, answer.taint);
        let released = Released {
            outcome: Outcome::Ok,
            reason: Reason::Permitted,
            subject: &staged.subject,
            bytes: Some(answer.sent_bytes()),
            cost: answer.cost,
            armed: brings.without(permit.context.taint),
        };
        let outcome = trace.outcome(Outcome::Ok, Reason::Permitted, Subject::default());
        let unit = UnitOfWork {
            guards: self.guards(permit, Usage::default()),
            effect: staged.effect,
            arms: self.arming(trace, permit.holder, brings, &staged.subject),
            records: vec![trace.intent(staged.subject.clone()), released.on(outcome)],
        };
        let committed = self.store.commit(unit).await;
        drop(staged.hold);
        match committed {
            Ok(_) => Some(Ok(answer)),
            Err(error) => self.not_made(permit, error).await,
        }
    }

    /// Intent durable, then the effect, then the outcome.
    async fn reach_out(
        &self,
        surface: &dyn Surface,
        permit: &Permit,
        arguments: Value,
        hung_up: &CancellationToken,
    ) -> Acted {
        let trace = &permit.trace;
        let time = match self.time_for(permit).await {
            Ok(time) => time,
            Err(error) => return Some(self.fail(trace, permit.holder, error.into()).await),
        };
        let unit = UnitOfWork {
            guards: self.guards(permit, Self::reserve(permit, time)),
            records: vec![trace.intent(Subject::default())],
            ..UnitOfWork::default()
        };
        let committed = match self.store.commit(unit).await {
            Ok(committed) => committed,
            Err(error) => return self.not_made(permit, error).await,
        };
        let Some(receipt) = first(&committed) else { return Some(Err(CallError::Internal)) };
        let context = permit.context.clone();
        let intent = RecordedIntent::new(trace.call, trace.tool.clone(), context, receipt)
            .saying(permit.progress.clone());
        let performing = self.in_time(time, &permit.place, surface.perform(&intent, arguments));
        let answer = tokio::select! {
            answer = performing => answer,
            () = hung_up.cancelled() => Err(ended(Reason::Interrupted)),
        };
        Some(self.settle(permit, Sealed(answer).after_acting()).await)
    }

    /// Makes the record of an answer durable, with what the answer does to the latch, and only
    /// then opens it.
    async fn release(
        &self,
        permit: &Permit,
        mut answer: Sealed,
        guards: Vec<Guard>,
        record: impl FnOnce(&Trace) -> RecordDraft,
    ) -> Result<ToolOutput, CallError> {
        let unit = UnitOfWork { guards, ..self.releasing(permit, &mut answer, record) };
        match self.store.commit(unit).await {
            Ok(committed) => answer.open(first(&committed).ok_or(CallError::Internal)?),
            Err(StoreError::Refused(refused)) => {
                self.fail(&permit.trace, permit.holder, StoreError::Refused(refused).into()).await
            }
            Err(error) => {
                tracing::error!(%error, "a record could not be made durable");
                Err(CallError::Unavailable)
            }
        }
    }

    /// The outcome of a call that acted outside. It was made, whatever can be said of it now: an
    /// answer that is too much is withheld and its outcome recorded all the same, and one whose
    /// outcome cannot be recorded is unknown and never to be tried again by itself.
    async fn settle(&self, permit: &Permit, mut answer: Sealed) -> Result<ToolOutput, CallError> {
        let outcome =
            |trace: &Trace| trace.outcome(Outcome::Ok, Reason::Permitted, Subject::default());
        let unit = self.releasing(permit, &mut answer, outcome);
        let guards = self.within_bytes(permit).into_iter().collect();
        let withheld = unit.records.clone();
        let error = match self.store.commit(UnitOfWork { guards, ..unit }).await {
            Ok(committed) => {
                return first(&committed).map_or(Err(unknown()), |receipt| answer.open(receipt));
            }
            Err(StoreError::Refused(Refused::OverBudget(over))) => {
                let over = ToolError::caller(Reason::OverBudget, over_budget(over));
                // Nothing of the answer is released: neither its bytes nor what it would have set.
                let (bytes, armed, reason) = (None, Taint::CLEAN, Reason::OverBudget);
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

    /// What releasing an answer makes durable.
    fn releasing(
        &self,
        permit: &Permit,
        answer: &mut Sealed,
        record: impl FnOnce(&Trace) -> RecordDraft,
    ) -> UnitOfWork {
        let brings = answer.brings(permit.spec.effects);
        let subject = answer.subject();
        let released = Released {
            outcome: answer.outcome(),
            reason: answer.reason(),
            bytes: answer.bytes(),
            cost: answer.cost(permit.spec.cost),
            armed: brings.without(permit.context.taint),
            subject: &subject,
        };
        UnitOfWork {
            guards: Vec::new(),
            effect: None,
            arms: self.arming(&permit.trace, permit.holder, brings, &subject),
            records: vec![released.on(record(&permit.trace))],
        }
    }

    /// A change whose intent was not made durable.
    async fn not_made(&self, permit: &Permit, error: StoreError) -> Acted {
        match error {
            StoreError::Refused(
                Refused::TaintMoved
                | Refused::NotApproved(_)
                | Refused::HeadMoved { .. }
                | Refused::BranchMoved { .. },
            ) => None,
            other => Some(self.fail(&permit.trace, permit.holder, other.into()).await),
        }
    }

    /// A change that was not made, recorded as such, with what is told about it.
    pub(super) async fn fail(
        &self,
        trace: &Trace,
        holder: Holder,
        error: ToolError,
    ) -> Result<ToolOutput, CallError> {
        let brings = error.taint();
        let answer = Sealed(Err(error));
        let armed = brings.without(trace.taint);
        let record = RecordDraft { armed, ..trace.refused(answer.reason(), 1) };
        let unit = UnitOfWork {
            arms: self.arming(trace, holder, brings, &Subject::default()),
            ..UnitOfWork::records(vec![record])
        };
        let committed = self.store.commit(unit).await.map_err(|error| {
            tracing::error!(%error, "a record could not be made durable");
            CallError::Unavailable
        })?;
        answer.open(first(&committed).ok_or(CallError::Internal)?)
    }

    async fn in_time<T>(
        &self,
        deadline: Duration,
        place: &Place,
        acting: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        // A tool that panics is a tool that failed: it leaves its record like any other.
        let acting = AssertUnwindSafe(acting).catch_unwind();
        tokio::select! {
            biased;
            acted = tokio::time::timeout(deadline, acting) => match acted {
                Ok(Ok(done)) => done,
                Ok(Err(_)) => Err(ToolError::Internal("the tool panicked".to_owned())),
                Err(_) => Err(ended(Reason::DeadlineExceeded)),
            },
            () = self.stops.stopped(place) => Err(stopped()),
        }
    }

    /// What must still hold when the writer gets to it. The approval comes last: it is used up
    /// only by a call that goes ahead.
    fn guards(&self, permit: &Permit, reserves: Usage) -> Vec<Guard> {
        let principal = &permit.context.principal;
        let token = principal.token;
        let token = token.and_then(|token| self.verifier.guard(token, permit.context.now));
        let (holder, decided) = (permit.holder, permit.context.taint);
        [
            Some(not_stopped(permit)),
            Some(Guard::AgentActive(principal.agent.id)),
            token,
            Some(Guard::CeilingAdmits {
                holder: Holder { space: permit.space, ..holder },
                tier: permit.weight.tier,
            }),
            permit.tier.clone().map(|(tool, decided)| Guard::TierStands {
                agent: principal.agent.id,
                tool,
                decided,
            }),
            Some(Guard::TaintWithin { holder, decided }),
            self.within_budget(permit, reserves),
            permit.approved.map(|approved| self.burns(&permit.trace, approved)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

fn not_stopped(permit: &Permit) -> Guard {
    Guard::NotStopped(permit.place.clone())
}

fn first(committed: &Committed) -> Option<Receipt> {
    committed.receipts.first().copied()
}

fn ended(reason: Reason) -> ToolError {
    ToolError::caller(reason, reason.message())
}

/// Made, perhaps: nobody can say any more.
fn unknown() -> CallError {
    let reason = Reason::OutcomeUnknown;
    CallError::Refused { reason, message: reason.message().to_owned() }
}

fn stopped() -> ToolError {
    ended(Reason::Stopped)
}

/// An answer that cannot be looked at before its record is durable.
struct Sealed(Result<ToolOutput, ToolError>);

impl Sealed {
    /// After the intent nobody can say that nothing was made.
    fn after_acting(self) -> Self {
        match self.0 {
            Err(ToolError::Unavailable(why)) => {
                tracing::error!(%why, "a call that acts outside cannot be told");
                Self(Err(ended(Reason::OutcomeUnknown)))
            }
            other => Self(other),
        }
    }

    fn outcome(&self) -> Outcome {
        match &self.0 {
            Ok(_) => Outcome::Ok,
            Err(ToolError::Caller {
                reason:
                    Reason::DeadlineExceeded
                    | Reason::Interrupted
                    | Reason::Stopped
                    | Reason::OutcomeUnknown,
                ..
            }) => Outcome::Unknown,
            Err(_) => Outcome::Error,
        }
    }

    fn reason(&self) -> Reason {
        match &self.0 {
            Ok(_) => Reason::Permitted,
            Err(ToolError::Caller { reason, .. }) => *reason,
            Err(ToolError::Upstream { .. }) => Reason::UpstreamFailed,
            Err(ToolError::Unavailable(_)) => Reason::Unavailable,
            Err(ToolError::Internal(_)) => Reason::Internal,
        }
    }

    fn subject(&self) -> Subject {
        self.0.as_ref().map(|output| output.subject.clone()).unwrap_or_default()
    }

    fn bytes(&mut self) -> Option<u64> {
        match &mut self.0 {
            Ok(output) => Some(output.sent_bytes()),
            Err(error) => error.sent_bytes(),
        }
    }

    /// What it cost. Of a call whose outcome nobody knows, as much as it may have.
    fn cost(&self, most: Option<Cost>) -> Option<Cost> {
        match &self.0 {
            Ok(output) => output.cost,
            Err(_) => most.filter(|_| self.outcome() == Outcome::Unknown),
        }
    }

    fn brings(&self, effects: narthex_core::Effects) -> Taint {
        match &self.0 {
            Ok(output) => brought(effects, output.taint),
            Err(error) => brought_by_error(effects, error.taint()),
        }
    }

    fn open(self, _receipt: Receipt) -> Result<ToolOutput, CallError> {
        self.0.map_err(|error| match error {
            ToolError::Caller { reason: Reason::Unauthorized, .. } => CallError::Unauthorized,
            ToolError::Caller { reason, message, .. } => CallError::Refused { reason, message },
            ToolError::Upstream { code, message, data, .. } => {
                CallError::Upstream { code, message, data }
            }
            ToolError::Unavailable(why) => {
                tracing::error!(%why, "the store is unavailable");
                CallError::Unavailable
            }
            ToolError::Internal(why) => {
                tracing::error!(%why, "a tool failed");
                CallError::Internal
            }
        })
    }
}

/// How often a call is decided on anew because something moved under it.
const MAX_DECISIONS: usize = 8;
