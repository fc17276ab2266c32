//! Calls that were put aside: an upstream asks something in the middle of one, and its client answers
//! by repeating it.
//!
//! INVARIANT: a call that was put aside goes on once, for the agent that made it, with the tool and
//! the arguments it was made with, in time, and not past a kill switch. It is decided on anew all the
//! same; only an approval that was used up for it holds on, and only for exactly the call it was for.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use narthex_core::{
    Age, AgentId, CallId, Digest, Holder, Moment, Outcome, Phase, Place, Reason, RecordDraft,
    Subject, Switches, canonical_json,
};
use narthex_store::UnitOfWork;
use serde_json::Value;

use super::Invocation;
use super::decide::Permit;
use super::record::Trace;
use crate::gate::Inner;
use crate::input::{Ask, GoesOn, InputNeeded, Kept, KeptBox, Ticket};
use crate::{CallError, Gate, ReadySurface};

/// The calls that are put aside. In memory: with the process they are over.
#[derive(Debug, Default)]
pub(crate) struct Asides(Mutex<HashMap<Ticket, Aside>>);

#[derive(Debug)]
struct Aside {
    begun: Trace,
    place: Place,
    holder: Holder,
    surface: String,
    tool: String,
    arguments: Digest,
    approved: Option<Digest>,
    since: Moment,
    kept: KeptBox,
}

/// What a surface puts aside.
#[derive(Debug)]
pub(crate) struct PutAside {
    pub(crate) asks: Vec<(String, Ask)>,
    pub(crate) kept: KeptBox,
}

impl PutAside {
    pub(crate) fn new(asks: Vec<(String, Ask)>, kept: Kept) -> Self {
        Self { asks, kept: KeptBox(kept) }
    }
}

/// A call that goes on.
#[derive(Debug)]
pub(crate) struct Begun {
    /// The call that was put aside.
    pub(super) first: CallId,
    /// What was approved of it, and used up by it.
    pub(super) approved: Option<Digest>,
    pub(crate) goes_on: GoesOn,
}

impl Asides {
    fn all(&self) -> MutexGuard<'_, HashMap<Ticket, Aside>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends what is stopped.
    pub(super) fn end_stopped(&self, switches: &Switches) {
        let ended: Vec<Aside> = {
            let mut all = self.all();
            let stopped = all.extract_if(|_, aside| switches.stops(&aside.place).is_some());
            stopped.map(|(_, aside)| aside).collect()
        };
        // Outside of the lock: what was kept may have something to say when it goes.
        drop(ended);
    }

    fn expired(&self, now: Moment, wait: Duration) -> Vec<Aside> {
        let mut all = self.all();
        let over = all.extract_if(|_, aside| now.age(aside.since, wait) != Age::Within);
        over.map(|(_, aside)| aside).collect()
    }

    fn count(&self, agent: AgentId) -> usize {
        self.all().values().filter(|aside| aside.holder.agent == agent).count()
    }
}

impl Gate {
    /// Ends the calls that waited too long for their client: asked now and then.
    pub async fn expire_asides(&self) {
        self.inner().expire_asides().await;
    }
}

impl Inner {
    async fn expire_asides(&self) {
        let over = self.asides.expired(self.clock.moment(), self.config.input_wait);
        if over.is_empty() {
            return;
        }
        let records = over.iter().map(Aside::unanswered).collect();
        drop(over);
        if let Err(error) = self.store.commit(UnitOfWork::records(records)).await {
            tracing::error!(%error, "that nobody answered could not be recorded");
        }
    }

    /// Whether an agent may have one more call put aside.
    pub(super) async fn has_room_aside(&self, agent: AgentId) -> bool {
        self.expire_asides().await;
        self.asides.count(agent) < self.config.inputs_waiting
    }

    /// Puts a call aside, after what is asked is durable.
    pub(super) fn put_aside(
        &self,
        permit: &Permit,
        aside: PutAside,
    ) -> Result<InputNeeded, CallError> {
        let mut ticket = [0_u8; 16];
        getrandom::fill(&mut ticket).map_err(|_| CallError::Unavailable)?;
        let ticket = Ticket(ticket);
        let since = self.clock.moment();
        let wait = i64::try_from(self.config.input_wait.as_millis()).unwrap_or(i64::MAX);
        let trace = &permit.trace;
        let kept = Aside {
            place: permit.place.clone(),
            holder: permit.holder,
            surface: trace.surface.clone().unwrap_or_default(),
            tool: permit.spec.name.clone(),
            arguments: trace.arguments.ok_or(CallError::Internal)?,
            approved: permit.covered,
            since,
            kept: aside.kept,
            begun: trace.clone(),
        };
        self.asides.all().insert(ticket, kept);
        // What was stopped meanwhile was not there to be ended.
        self.asides.end_stopped(&self.stops.now());
        Ok(InputNeeded { ticket, until: since.wall.plus_millis(wait), asks: aside.asks })
    }

    /// Takes a call up again, if it is this one.
    pub(super) fn take_up(
        &self,
        holder: Holder,
        surface: &ReadySurface,
        invocation: &Invocation,
    ) -> Option<Begun> {
        let repeats = invocation.repeats.as_ref()?;
        let arguments = self.digest_of(&invocation.arguments);
        let is_it = |aside: &Aside| {
            aside.holder == holder
                && aside.surface == surface.surface().name()
                && aside.tool == invocation.tool
                && aside.arguments == arguments
        };
        let mut all = self.asides.all();
        if !all.get(&repeats.ticket).is_some_and(is_it) {
            return None;
        }
        let aside = all.remove(&repeats.ticket)?;
        drop(all);
        let in_time = self.clock.moment().age(aside.since, self.config.input_wait) == Age::Within;
        in_time.then(|| Begun {
            first: aside.begun.call,
            approved: aside.approved,
            goes_on: GoesOn::new(repeats.answers.clone(), aside.kept.0),
        })
    }

    pub(super) fn digest_of(&self, arguments: &Value) -> Digest {
        self.rows.value(canonical_json(arguments).as_bytes())
    }

    /// What is recorded of something that is asked, or answered: what kind of thing, by whom, and a
    /// keyed digest of it.
    pub(super) fn input_record(
        &self,
        trace: &Trace,
        action: &str,
        kind: &str,
        said: &Value,
    ) -> RecordDraft {
        let digest = self.rows.value(canonical_json(said).as_bytes());
        let surface = trace.surface.clone().unwrap_or_default();
        let subject = Subject { digest: Some(digest), ..Subject::one(kind, surface) };
        of_call(trace, action, subject)
    }
}

impl Aside {
    fn unanswered(&self) -> RecordDraft {
        let surface = self.begun.surface.clone().unwrap_or_default();
        RecordDraft {
            reason: Reason::DeadlineExceeded,
            outcome: Outcome::Error,
            ..of_call(&self.begun, UNANSWERED, Subject::one("server", surface))
        }
    }
}

fn of_call(trace: &Trace, action: &str, subject: Subject) -> RecordDraft {
    let (actor, transport) = (trace.actor.clone(), trace.transport);
    RecordDraft {
        token: trace.token,
        space: trace.space,
        surface: trace.surface.clone(),
        request: trace.request.clone(),
        session: trace.session.clone(),
        subject,
        ..RecordDraft::new(Phase::House, trace.call, actor, transport, action)
    }
}

/// What the ledger calls what an upstream asks, what its client answers, what nobody answers, and what
/// it says to the log.
pub(super) const ASKS: &str = "server.asks";
pub(super) const ANSWERED: &str = "server.answered";
pub(super) const SAYS: &str = "server.says";
const UNANSWERED: &str = "server.unanswered";
