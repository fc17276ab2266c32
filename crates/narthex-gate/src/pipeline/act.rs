//! Stages five to seven: record the intent, act, record the outcome.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use narthex_core::{Cost, EffectSite, Holder, Outcome, Place, Reason, RecordDraft, Subject, Taint};
use narthex_store::{Committed, Guard, Receipt, Refused, StoreError, UnitOfWork};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::aside::Begun;
use super::decide::Permit;
use super::record::{Released, Trace};
use super::taint::{brought, brought_by_error};
use super::telling::Ahead;
use super::{Admitted, Invocation};
use crate::gate::{Inner, new_call};
use crate::ready::ReadyTool;
use crate::surface::{Intent, Surface};
use crate::{CallError, Gate, ReadySurface, ToolError, ToolOutput};

impl Gate {
    /// Makes a call: decides, records, acts, records.
    ///
    /// Acting and recording run in a task of their own, so that a client that hangs up cannot
    /// leave a record half written; hanging up ends what looks, and what acts outside the house.
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
pub(super) type Acted = Option<Result<ToolOutput, CallError>>;

impl Inner {
    /// Decides anew as long as what was decided on moves before it is durable.
    pub(super) async fn decide_and_act(
        self: &Arc<Self>,
        admitted: &Admitted,
        surface: &ReadySurface,
        invocation: Invocation,
        hung_up: &CancellationToken,
    ) -> Result<ToolOutput, CallError> {
        let begun = self.begun(admitted, surface, &invocation).await?;
        let changes = |tool: &ReadyTool| tool.spec.effects.site != EffectSite::Observe;
        if surface.tool(&invocation.tool).is_some_and(changes) {
            for _ in 1..MAX_DECISIONS {
                let invocation = invocation.clone();
                let permit = self.decide(admitted, surface, invocation, begun.as_deref()).await?;
                let surface = surface.shared();
                let acted = self.act(surface.as_ref(), permit, begun.as_ref(), hung_up).await;
                if let Some(done) = acted {
                    return done;
                }
            }
        }
        let permit = self.decide(admitted, surface, invocation, begun.as_deref()).await?;
        let acted = self.act(surface.shared().as_ref(), permit, begun.as_ref(), hung_up).await;
        acted.unwrap_or(Err(CallError::Overloaded))
    }

    /// The call that is repeated, if it is one: taken up once, or not at all.
    async fn begun(
        &self,
        admitted: &Admitted,
        surface: &ReadySurface,
        invocation: &Invocation,
    ) -> Result<Option<Arc<Begun>>, CallError> {
        if invocation.repeats.is_none() {
            return Ok(None);
        }
        if let Some(begun) = self.take_up(admitted.holder(), surface, invocation) {
            return Ok(Some(Arc::new(begun)));
        }
        let reason = Reason::InvalidRequest;
        let mut trace =
            Trace::inside(new_call(), admitted, surface.surface().name(), &invocation.tool);
        trace.request.clone_from(&invocation.request);
        trace.session.clone_from(&invocation.session);
        let message = "what this call waited for is over; make the call without requestState";
        let error = CallError::Refused { reason, message: message.to_owned() };
        Err(self.refuse(error, trace.refused(reason, 1)).await)
    }

    async fn act(
        self: &Arc<Self>,
        surface: &dyn Surface,
        mut permit: Permit,
        begun: Option<&Arc<Begun>>,
        hung_up: &CancellationToken,
    ) -> Acted {
        let arguments = std::mem::take(&mut permit.arguments);
        match permit.weight.effects.site {
            EffectSite::Observe => Some(self.observe(surface, &permit, arguments, hung_up).await),
            EffectSite::Local => self.change(surface, &permit, arguments).await,
            EffectSite::External => {
                let permit = Arc::new(permit);
                self.reach_out(surface, &permit, begun, arguments, hung_up).await
            }
            // A call that does not say where its effect lives is not decided on.
            EffectSite::ByCall => Some(Err(CallError::Internal)),
        }
    }

    /// One record; the answer is released only against its receipt. What nobody waits for any more
    /// is not looked up to its end, and is in the record like anything else.
    async fn observe(
        &self,
        surface: &dyn Surface,
        permit: &Permit,
        arguments: Value,
        hung_up: &CancellationToken,
    ) -> Result<ToolOutput, CallError> {
        let looked = tokio::select! {
            biased;
            looked = self.look(surface, permit, arguments) => looked,
            () = hung_up.cancelled() => Err(ended(Reason::Interrupted)),
        };
        if let Err(ToolError::Caller { reason: Reason::Stopped, .. }) = &looked {
            return self.fail(&permit.trace, permit.holder, stopped()).await;
        }
        self.release(permit, Sealed(looked), self.when_looked(permit), observed).await
    }

    /// Looks something up. What is found is to be sealed.
    pub(super) async fn look(
        &self,
        surface: &dyn Surface,
        permit: &Permit,
        arguments: Value,
    ) -> Result<ToolOutput, ToolError> {
        let trace = &permit.trace;
        let intent = Intent::new(trace.call, trace.tool.clone(), permit.context.clone());
        let observing = surface.observe(&intent, arguments);
        self.in_time(self.config.call_deadline, &permit.place, observing).await
    }

    /// What must hold for the answer of a look to be released.
    pub(super) fn when_looked(&self, permit: &Permit) -> Vec<Guard> {
        let budget = self.within_budget(permit);
        std::iter::once(not_stopped(permit)).chain(budget).collect()
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
            guards: self.guards(permit),
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

    /// Makes the record of an answer durable, with what the answer does to the latch, and only
    /// then opens it.
    async fn release(
        &self,
        permit: &Permit,
        mut answer: Sealed,
        guards: Vec<Guard>,
        record: impl FnOnce(&Trace) -> RecordDraft,
    ) -> Result<ToolOutput, CallError> {
        let ahead = Ahead::default();
        let unit = UnitOfWork { guards, ..self.releasing(permit, &mut answer, ahead, record) };
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

    /// What releasing an answer makes durable, after what was told ahead of it.
    pub(super) fn releasing(
        &self,
        permit: &Permit,
        answer: &mut Sealed,
        ahead: Ahead,
        record: impl FnOnce(&Trace) -> RecordDraft,
    ) -> UnitOfWork {
        let brings = answer.brings(permit.spec.effects);
        let subject = answer.subject();
        let released = Released {
            outcome: answer.outcome(),
            reason: answer.reason(),
            bytes: answer.bytes_after(ahead.bytes),
            cost: answer.cost(permit.spec.cost),
            armed: brings.without(permit.context.taint).without(ahead.armed),
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
    pub(super) async fn not_made(&self, permit: &Permit, error: StoreError) -> Acted {
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

    pub(super) async fn in_time<T>(
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
    pub(super) fn guards(&self, permit: &Permit) -> Vec<Guard> {
        let (holder, decided) = (permit.holder, permit.context.taint);
        let mut guards = self.still_stands(permit);
        guards.push(Guard::TaintWithin { holder, decided });
        guards.extend(self.within_budget(permit));
        guards.extend(permit.approved.map(|approved| self.burns(&permit.trace, approved)));
        guards
    }

    /// What must hold of whoever calls, whatever was taken in or used up.
    pub(super) fn still_stands(&self, permit: &Permit) -> Vec<Guard> {
        let principal = &permit.context.principal;
        let token = principal.token;
        let token = token.and_then(|token| self.verifier.guard(token, permit.context.now));
        let holder = permit.holder;
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
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// The record of a look.
pub(super) fn observed(trace: &Trace) -> RecordDraft {
    trace.observed(Outcome::Ok, Reason::Permitted, Subject::default())
}

pub(super) fn not_stopped(permit: &Permit) -> Guard {
    Guard::NotStopped(permit.place.clone())
}

pub(super) fn first(committed: &Committed) -> Option<Receipt> {
    committed.receipts.first().copied()
}

pub(super) fn ended(reason: Reason) -> ToolError {
    ToolError::caller(reason, reason.message())
}

/// Made, perhaps: nobody can say any more.
pub(super) fn unknown() -> CallError {
    let reason = Reason::OutcomeUnknown;
    CallError::Refused { reason, message: reason.message().to_owned() }
}

pub(super) fn stopped() -> ToolError {
    ended(Reason::Stopped)
}

/// An answer that cannot be looked at before its record is durable.
pub(super) struct Sealed(pub(super) Result<ToolOutput, ToolError>);

impl Sealed {
    /// After the intent nobody can say that nothing was made.
    pub(super) fn after_acting(self) -> Self {
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
            // It got as far as it could by itself.
            Ok(_) | Err(ToolError::InputNeeded { .. }) => Outcome::Ok,
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
            Err(ToolError::InputNeeded { .. }) => Reason::InputNeeded,
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

    /// Those and what was told before.
    fn bytes_after(&mut self, told: u64) -> Option<u64> {
        match self.bytes() {
            None if told == 0 => None,
            bytes => Some(bytes.unwrap_or(0).saturating_add(told)),
        }
    }

    /// What it cost. Of a call whose outcome or cost nobody knows, as much as it may have.
    fn cost(&self, most: Option<Cost>) -> Option<Cost> {
        match &self.0 {
            Ok(output) => output.cost,
            Err(ToolError::Caller { unpriced: true, .. }) => most,
            Err(_) => most.filter(|_| self.outcome() == Outcome::Unknown),
        }
    }

    fn brings(&self, effects: narthex_core::Effects) -> Taint {
        match &self.0 {
            Ok(output) => brought(effects, output.taint),
            Err(error) => brought_by_error(effects, error.taint()),
        }
    }

    pub(super) fn open(self, _receipt: Receipt) -> Result<ToolOutput, CallError> {
        self.told()
    }

    /// Opened to a program that is shut in: nothing it says leaves before the record is durable.
    pub(super) fn open_inside(self, _inside: super::run::Inside) -> Result<ToolOutput, CallError> {
        self.told()
    }

    fn told(self) -> Result<ToolOutput, CallError> {
        self.0.map_err(|error| match error {
            ToolError::Caller { reason: Reason::Unauthorized, .. } => CallError::Unauthorized,
            ToolError::Caller { reason, message, .. } => CallError::Refused { reason, message },
            ToolError::Upstream { code, message, data, .. } => {
                CallError::Upstream { code, message, data }
            }
            // Told by whoever put it aside; nobody else knows what is asked.
            ToolError::InputNeeded { .. } => CallError::Internal,
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
