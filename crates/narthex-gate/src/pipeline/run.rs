//! A program of an agent's: many calls, each decided on by itself, in the agent's name.
//!
//! What only looks need not wait for the disk each time, as the program is shut in: its records are
//! durable before anything it does takes effect, before it is parked, and before its result leaves.
//! What it was told counts at once for what it does next.
//!
//! INVARIANT: nothing leaves a run before [`Run::flush`] said that everything it was told is in the
//! ledger.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use narthex_core::{
    Digest, EffectSite, Outcome, ParkedRun, Phase, Reason, RecordDraft, RunId, Scope, Subject,
    Taint, TakesIn,
};
use narthex_store::{Effect, Guard, Refused, StoreError, UnitOfWork};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::act::{Sealed, observed, stopped};
use super::decide::Permit;
use super::held::{Held, HeldUnit, MOST_TOGETHER};
use super::record::Trace;
use super::taint::brought;
use super::telling::Ahead;
use super::{Admitted, Invocation};
use crate::gate::new_call;
use crate::surface::ClientWord;
use crate::{CallContext, CallError, Gate, ReadySurface, RecordedIntent, ToolError, ToolOutput};

/// That a call is made by a program, and what the program was told that is not durable yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunMark {
    pub(crate) id: RunId,
    pub(crate) taint: Taint,
}

/// That an answer goes to a program that is shut in. Only a run makes one.
pub(super) struct Inside(());

/// A run of a program, for the agent whose call it is. All clones are one run.
#[derive(Debug, Clone)]
pub struct Run {
    gate: Gate,
    id: RunId,
    caller: Admitted,
    word: ClientWord,
    held: Arc<Held>,
}

impl Gate {
    /// Begins a run, or goes on with one, in the name of whoever made the call.
    pub fn run(&self, intent: &RecordedIntent, id: RunId) -> Run {
        self.run_with(intent, id, Taint::CLEAN)
    }

    /// The same, for one that was told things before.
    fn run_with(&self, intent: &RecordedIntent, id: RunId, taint: Taint) -> Run {
        Run {
            gate: self.clone(),
            id,
            caller: Admitted::of(intent.context()),
            word: intent.word.clone(),
            held: Arc::new(Held::new(taint)),
        }
    }

    /// What decides which answers an agent may be given. A run that was told things under other rules
    /// does not go on with them.
    fn rules_of(&self, admitted: &Admitted) -> Digest {
        Digest::of_json(&json!({
            "policy": self.inner().policy.load().version(),
            "grants": admitted.principal.agent.grants,
        }))
    }

    /// Whether a run of the caller's waits: looked at before what it takes to go on is made ready.
    pub async fn run_waits(&self, intent: &RecordedIntent, id: RunId) -> Result<bool, CallError> {
        let parked = self.inner().store.parked_run(intent.holder(), id).await;
        let now = self.inner().clock.now();
        Ok(parked.map_err(unavailable)?.is_some_and(|parked| parked.until >= now))
    }

    /// Takes up a run that waits, if it is the caller's: once, for from here on it waits no more. What it
    /// was told before counts as told now.
    pub async fn take_up_run(
        &self,
        intent: &RecordedIntent,
        id: RunId,
    ) -> Result<Option<(ParkedRun, Run)>, CallError> {
        let holder = intent.holder();
        let store = &self.inner().store;
        let Some(parked) = store.parked_run(holder, id).await.map_err(unavailable)? else {
            return Ok(None);
        };
        if parked.until < self.inner().clock.now() {
            return Ok(None);
        }
        let run = self.run_with(intent, id, parked.taint);
        if parked.rules != Some(self.rules_of(&run.caller)) {
            return Err(CallError::Refused {
                reason: Reason::Conflict,
                message: "what you may do has changed since this run began to wait: send its program again".to_owned(),
            });
        }
        let trace = run.trace("run.resumed");
        let arms = self.inner().arming(&trace, holder, parked.taint, &Subject::one("run", id));
        let effect = Effect::TakeUpRun { id, holder };
        let unit = UnitOfWork { arms, ..UnitOfWork::effect(effect, run.record(&trace)) };
        match store.commit(unit).await {
            Ok(_) => Ok(Some((parked, run))),
            // Somebody else was faster.
            Err(StoreError::Refused(Refused::NotFound(_))) => Ok(None),
            Err(error) => Err(unavailable(error)),
        }
    }

    /// The run of exactly this program that waits, if the caller has one.
    pub async fn parked_run_of(
        &self,
        intent: &RecordedIntent,
        asked: Digest,
    ) -> Result<Option<RunId>, CallError> {
        let store = &self.inner().store;
        let parked = store.parked_run_asked(intent.holder(), asked).await.map_err(unavailable)?;
        let now = self.inner().clock.now();
        Ok(parked.filter(|run| run.until >= now).map(|run| run.id))
    }
}

impl Run {
    /// Its id.
    pub const fn id(&self) -> RunId {
        self.id
    }

    /// Makes a call as the agent would have made it.
    ///
    /// It is begun here, and not where it is first waited for: a look that the program does not wait for is
    /// decided on, charged and in the ledger all the same, and a change that nobody waits for is cancelled.
    pub fn call(
        &self,
        surface: &Arc<ReadySurface>,
        tool: &str,
        arguments: Value,
    ) -> impl Future<Output = Result<ToolOutput, CallError>> + Send + use<> {
        let (run, surface) = (self.clone(), Arc::clone(surface));
        let invocation = self.invocation(tool, arguments);
        let hung_up = CancellationToken::new();
        let watch = hung_up.clone();
        let rest = Box::pin(async move { run.make(&surface, invocation, watch).await });
        ToItsEnd {
            tasks: self.gate.inner().tasks.clone(),
            rest: Some(rest),
            hangs_up: Some(hung_up.drop_guard()),
        }
    }

    async fn make(
        &self,
        surface: &Arc<ReadySurface>,
        invocation: Invocation,
        hung_up: CancellationToken,
    ) -> Result<ToolOutput, CallError> {
        self.held.is_whole()?;
        let admitted = self.admitted().await?;
        let inner = self.gate.inner();
        match surface.tool(&invocation.tool).map(|tool| tool.spec.effects.site) {
            // One that is not there is refused like any.
            Some(EffectSite::Observe) | None => {
                let permit = inner.decide(&admitted, surface, invocation, None).await?;
                self.look(surface, permit).await
            }
            Some(EffectSite::ByCall) => {
                not_hung_up(&hung_up)?;
                let permit = inner.decide(&admitted, surface, invocation.clone(), None).await?;
                if permit.weight.effects.site == EffectSite::Observe {
                    return self.look(surface, permit).await;
                }
                self.act(admitted, surface, invocation, hung_up).await
            }
            Some(EffectSite::Local | EffectSite::External) => {
                self.act(admitted, surface, invocation, hung_up).await
            }
        }
    }

    /// Waits until everything the program was told is in the ledger.
    pub async fn flush(&self) -> Result<(), CallError> {
        loop {
            let settled = self.held.settled.notified();
            tokio::pin!(settled);
            // From here on no sign is missed.
            settled.as_mut().enable();
            {
                let state = self.held.lock();
                if !state.under_way {
                    return state.broken.clone().map_or(Ok(()), Err);
                }
            }
            self.held.hurry.notify_one();
            settled.await;
        }
    }

    /// Keeps the run until the owner has decided, durably.
    pub async fn park(&self, parked: ParkedRun, cap: u32) -> Result<(), CallError> {
        self.flush().await?;
        let inner = self.gate.inner();
        let admitted = self.admitted().await?;
        let taint = self.held.lock().taint;
        let parked = ParkedRun { taint, rules: Some(self.gate.rules_of(&admitted)), ..parked };
        let place = narthex_core::Place {
            agent: self.caller.principal.agent.id,
            reaches: match self.caller.scope {
                Scope::Space(own) => narthex_core::Reaches::One(own),
                Scope::AllSpaces => narthex_core::Reaches::across(&inner.stops.now()),
            },
            upstream: None,
        };
        let now = inner.clock.now();
        let unit = UnitOfWork {
            guards: vec![Guard::NotStopped(place)],
            ..UnitOfWork::effect(
                Effect::ParkRun { run: Box::new(parked), cap, now },
                self.record(&self.trace("run.parked")),
            )
        };
        match inner.store.commit(unit).await {
            Ok(_) => Ok(()),
            Err(StoreError::Refused(refused)) => {
                let refused = ToolError::from(StoreError::Refused(refused));
                match refused {
                    ToolError::Caller { reason, message, .. } => {
                        Err(CallError::Refused { reason, message })
                    }
                    _ => Err(CallError::Unavailable),
                }
            }
            Err(error) => Err(unavailable(error)),
        }
    }

    /// Looks something up for the program; the record follows.
    async fn look(
        &self,
        surface: &ReadySurface,
        mut permit: Permit,
    ) -> Result<ToolOutput, CallError> {
        let inner = self.gate.inner();
        let arguments = std::mem::take(&mut permit.arguments);
        let looked = inner.look(surface.shared().as_ref(), &permit, arguments).await;
        if let Err(ToolError::Caller { reason: Reason::Stopped, .. }) = &looked {
            return inner.fail(&permit.trace, permit.holder, stopped()).await;
        }
        let mut answer = Sealed(looked);
        let unit = UnitOfWork {
            guards: inner.when_looked(&permit),
            ..inner.releasing(&permit, &mut answer, Ahead::default(), observed)
        };
        self.hold(HeldUnit { trace: permit.trace, holder: permit.holder, unit });
        answer.open_inside(Inside(()))
    }

    /// Does something for the program, after what it was told is durable, in a task of its own.
    async fn act(
        &self,
        admitted: Admitted,
        surface: &Arc<ReadySurface>,
        invocation: Invocation,
        hung_up: CancellationToken,
    ) -> Result<ToolOutput, CallError> {
        self.flush().await?;
        not_hung_up(&hung_up)?;
        let effects = surface.tool(&invocation.tool).map(|tool| tool.spec.effects);
        let (inner, surface) = (Arc::clone(self.gate.inner()), Arc::clone(surface));
        let task = self.gate.inner().tasks.spawn(async move {
            inner.decide_and_act(&admitted, &surface, invocation, &hung_up).await
        });
        let answer = task.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a call of a program ended abnormally");
            Err(CallError::Internal)
        });
        // The latch knows already; the run remembers it for when it waits longer than the latch holds.
        if let (true, Some(effects)) = (tells_something(&answer), effects) {
            let untrusted = effects.takes_in == TakesIn::ByAnswer;
            let brings = brought(effects, Taint { untrusted, ..Taint::CLEAN });
            let mut state = self.held.lock();
            state.taint = state.taint.and(brings);
        }
        answer
    }

    /// The agent as it is now, with what it was told.
    async fn admitted(&self) -> Result<Admitted, CallError> {
        if !self.gate.still_good(&self.caller).await {
            return Err(CallError::Unauthorized);
        }
        let id = self.caller.principal.agent.id;
        let agent = self.gate.current_agent(id).await.map_err(|refusal| match refusal.reason {
            Reason::Unavailable => CallError::Unavailable,
            _ => CallError::Unauthorized,
        })?;
        if agent.disabled {
            return Err(CallError::Unauthorized);
        }
        let mut now = self.caller.clone();
        now.principal.agent = agent;
        now.run = Some(RunMark { id: self.id, taint: self.held.lock().taint });
        Ok(now)
    }

    fn invocation(&self, tool: &str, arguments: Value) -> Invocation {
        Invocation {
            consent: self.word.consent,
            request: self.word.request.clone(),
            session: self.word.session.clone(),
            ..Invocation::new(tool, arguments)
        }
    }

    fn trace(&self, what: &str) -> Trace {
        let mut trace = Trace::inside(new_call(), &self.caller, "code", what);
        trace.run = Some(self.id);
        trace.request.clone_from(&self.word.request);
        trace.session.clone_from(&self.word.session);
        trace
    }

    fn record(&self, trace: &Trace) -> RecordDraft {
        RecordDraft {
            phase: Phase::House,
            ..trace.outcome(Outcome::Ok, Reason::Permitted, Subject::one("run", self.id))
        }
    }

    /// Puts a record where it will be written soon, in order.
    fn hold(&self, unit: HeldUnit) {
        let mut state = self.held.lock();
        if let Some(arms) = &unit.unit.arms {
            state.taint = state.taint.and(arms.taint);
        }
        state.waiting.push(unit);
        if state.waiting.len() >= MOST_TOGETHER {
            self.held.hurry.notify_one();
        }
        if !state.under_way {
            state.under_way = true;
            let (inner, held) = (Arc::clone(self.gate.inner()), Arc::clone(&self.held));
            self.gate.inner().tasks.spawn(async move { held.write_down(&inner).await });
        }
    }
}

impl Admitted {
    /// Whoever made a call that passed the gate.
    pub(crate) fn of(context: &CallContext) -> Self {
        let CallContext { principal, scope, transport, .. } = context;
        Self { principal: principal.clone(), scope: *scope, transport: *transport, run: None }
    }
}

/// Something that is done, whether or not anybody waits for it.
struct ToItsEnd<T: Send + 'static> {
    tasks: TaskTracker,
    rest: Option<BoxFuture<'static, T>>,
    /// Tells the rest that nobody waits any more.
    hangs_up: Option<DropGuard>,
}

impl<T: Send + 'static> Future for ToItsEnd<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Some(rest) = self.rest.as_mut() else { return Poll::Pending };
        let done = rest.as_mut().poll(context);
        if done.is_ready() {
            self.rest = None;
        }
        done
    }
}

impl<T: Send + 'static> Drop for ToItsEnd<T> {
    fn drop(&mut self) {
        // Before it goes on by itself.
        self.hangs_up.take();
        if let (Some(rest), Ok(runtime)) = (self.rest.take(), Handle::try_current()) {
            self.tasks.spawn_on(rest, &runtime);
        }
    }
}

/// What may change something, or ask the owner, is not begun once its run is over. Nobody is told.
fn not_hung_up(hung_up: &CancellationToken) -> Result<(), CallError> {
    if hung_up.is_cancelled() { Err(CallError::Internal) } else { Ok(()) }
}

/// Whether an answer has anything in it that whoever was called wrote.
const fn tells_something(answer: &Result<ToolOutput, CallError>) -> bool {
    match answer {
        Ok(_) | Err(CallError::Upstream { .. } | CallError::Input(_)) => true,
        Err(CallError::Refused { reason, .. }) => matches!(reason, Reason::UpstreamFailed),
        Err(_) => false,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
pub(super) fn unavailable(error: StoreError) -> CallError {
    tracing::error!(%error, "what a program did could not be recorded");
    CallError::Unavailable
}
