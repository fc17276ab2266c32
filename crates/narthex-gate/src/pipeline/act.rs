//! Stages five to seven: record the intent, act, record the outcome.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use narthex_core::{EffectSite, Outcome, Reason, Subject};
use narthex_store::{Guard, Receipt, UnitOfWork};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::decide::Permit;
use super::record::Trace;
use super::{Admitted, Invocation};
use crate::gate::Inner;
use crate::surface::{Intent, RecordedIntent, Surface};
use crate::{CallContext, CallError, Gate, ReadySurface, ToolError, ToolOutput};

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
            let permit = inner.decide(&admitted, &surface, invocation).await?;
            inner.act(surface.shared().as_ref(), permit, &watch).await
        });
        let _cancels_when_dropped = hung_up.drop_guard();
        task.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a call ended abnormally");
            Err(CallError::Internal)
        })
    }
}

impl Inner {
    async fn act(
        &self,
        surface: &dyn Surface,
        permit: Permit,
        hung_up: &CancellationToken,
    ) -> Result<ToolOutput, CallError> {
        let Permit { trace, spec, arguments, context } = permit;
        match spec.effects.site {
            EffectSite::Observe => self.observe(surface, &trace, context, arguments).await,
            EffectSite::Local => self.change(surface, &trace, context, arguments).await,
            EffectSite::External => {
                self.reach_out(surface, &trace, context, arguments, hung_up).await
            }
        }
    }

    /// One record; the answer is released only against its receipt.
    async fn observe(
        &self,
        surface: &dyn Surface,
        trace: &Trace,
        context: CallContext,
        arguments: Value,
    ) -> Result<ToolOutput, CallError> {
        let intent = Intent::new(trace.call, trace.tool.clone(), context);
        let answer = Sealed(self.in_time(surface.observe(&intent, arguments)).await);
        let record = trace.observed(answer.outcome(), answer.reason(), answer.subject());
        let receipt = self.append(record).await?;
        answer.open(receipt)
    }

    /// Intent, effect and outcome in one transaction.
    async fn change(
        &self,
        surface: &dyn Surface,
        trace: &Trace,
        context: CallContext,
        arguments: Value,
    ) -> Result<ToolOutput, CallError> {
        let guards = self.guards(&context);
        let intent = Intent::new(trace.call, trace.tool.clone(), context);
        let staged = match self.in_time(surface.stage(&intent, arguments)).await {
            Ok(staged) => staged,
            Err(error) => return self.fail(trace, error).await,
        };
        let records = vec![
            trace.intent(staged.subject.clone()),
            trace.outcome(Outcome::Ok, Reason::Permitted, staged.subject),
        ];
        let unit = UnitOfWork { guards, effect: Some(staged.effect), records };
        match self.store.commit(unit).await {
            Ok(_) => Ok(staged.answer),
            Err(error) => self.fail(trace, error.into()).await,
        }
    }

    /// Intent durable, then the effect, then the outcome.
    async fn reach_out(
        &self,
        surface: &dyn Surface,
        trace: &Trace,
        context: CallContext,
        arguments: Value,
        hung_up: &CancellationToken,
    ) -> Result<ToolOutput, CallError> {
        let unit = UnitOfWork {
            guards: self.guards(&context),
            effect: None,
            records: vec![trace.intent(Subject::default())],
        };
        let committed = match self.store.commit(unit).await {
            Ok(committed) => committed,
            Err(error) => return self.fail(trace, error.into()).await,
        };
        let receipt = committed.receipts.first().copied().ok_or(CallError::Internal)?;
        let intent = RecordedIntent::new(trace.call, trace.tool.clone(), context, receipt);
        let answer = tokio::select! {
            answer = self.in_time(surface.perform(&intent, arguments)) => Sealed(answer),
            () = hung_up.cancelled() => Sealed(Err(ToolError::caller(Reason::Interrupted, Reason::Interrupted.message()))),
        };
        let record = trace.outcome(answer.outcome(), answer.reason(), answer.subject());
        let receipt = self.append(record).await?;
        answer.open(receipt)
    }

    /// A change that was not made, recorded as such.
    async fn fail(&self, trace: &Trace, error: ToolError) -> Result<ToolOutput, CallError> {
        let answer = Sealed(Err(error));
        let receipt = self.append(trace.refused(answer.reason(), 1)).await?;
        answer.open(receipt)
    }

    async fn in_time<T>(
        &self,
        acting: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        // A tool that panics is a tool that failed: it leaves its record like any other.
        let acting = AssertUnwindSafe(acting).catch_unwind();
        match tokio::time::timeout(self.config.call_deadline, acting).await {
            Ok(Ok(done)) => done,
            Ok(Err(_)) => Err(ToolError::Internal("the tool panicked".to_owned())),
            Err(_) => {
                Err(ToolError::caller(Reason::DeadlineExceeded, Reason::DeadlineExceeded.message()))
            }
        }
    }

    /// What must still hold when the writer gets to it.
    fn guards(&self, context: &CallContext) -> Vec<Guard> {
        let agent = Guard::AgentActive(context.principal.agent.id);
        let token = context.principal.token;
        let token = token.and_then(|token| self.verifier.guard(token, context.now));
        std::iter::once(agent).chain(token).collect()
    }

    async fn append(&self, record: narthex_core::RecordDraft) -> Result<Receipt, CallError> {
        let committed =
            self.store.commit(UnitOfWork::records(vec![record])).await.map_err(|error| {
                tracing::error!(%error, "a record could not be made durable");
                CallError::Unavailable
            })?;
        committed.receipts.first().copied().ok_or(CallError::Internal)
    }
}

/// An answer that cannot be looked at before its record is durable.
struct Sealed(Result<ToolOutput, ToolError>);

impl Sealed {
    fn outcome(&self) -> Outcome {
        match &self.0 {
            Ok(_) => Outcome::Ok,
            Err(ToolError::Caller {
                reason: Reason::DeadlineExceeded | Reason::Interrupted,
                ..
            }) => Outcome::Unknown,
            Err(_) => Outcome::Error,
        }
    }

    fn reason(&self) -> Reason {
        match &self.0 {
            Ok(_) => Reason::Permitted,
            Err(ToolError::Caller { reason, .. }) => *reason,
            Err(ToolError::Unavailable(_)) => Reason::Unavailable,
            Err(ToolError::Internal(_)) => Reason::Internal,
        }
    }

    fn subject(&self) -> Subject {
        self.0.as_ref().map(|output| output.subject.clone()).unwrap_or_default()
    }

    fn open(self, _receipt: Receipt) -> Result<ToolOutput, CallError> {
        self.0.map_err(|error| match error {
            ToolError::Caller { reason: Reason::Unauthorized, .. } => CallError::Unauthorized,
            ToolError::Caller { reason, message } => CallError::Refused { reason, message },
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
