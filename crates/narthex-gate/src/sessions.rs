//! Legacy sessions: an unguessable id that belongs to the agent that opened it.
//!
//! A session holds nothing but what its client said when it connected. Taint, budget, ceiling and
//! approvals belong to the agent and the space, so a new session sheds none of them. They are
//! kept in memory: a restart ends them, and a client starts anew. One that ran out leaves a record
//! of its end, whoever found it: the next message or the one who looks now and then.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use narthex_core::{
    Actor, Age, AgentId, Consent, Digest, Moment, Phase, Reason, RecordDraft, SessionId, Subject,
    Transport,
};
use narthex_store::UnitOfWork;
use secrecy::SecretString;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::gate::new_call;
use crate::{Admitted, ClientCan, Gate, Refusal, SessionConfig};

/// The sessions that are open: at most so many an agent, so at most that many times the agents.
#[derive(Debug)]
pub(crate) struct Sessions {
    config: Option<SessionConfig>,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// By the digest of the id: the id itself is kept nowhere.
    open: HashMap<Digest, Session>,
    /// What ran out and is in no record yet. Each session gets here at most once.
    run_out: Vec<RunOut>,
}

/// A session that ended by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RunOut {
    key: Digest,
    agent: AgentId,
    why: Reason,
}

#[derive(Debug)]
struct Session {
    agent: AgentId,
    terms: SessionTerms,
    opened: Moment,
    seen: Moment,
    ended: CancellationToken,
    listeners: Arc<Semaphore>,
}

/// What a client says once, for as long as it is connected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionTerms {
    /// How far it consents to go.
    pub consent: Consent,
    /// Whether it can send the person in front of it to a URL.
    pub opens_urls: bool,
    /// What an upstream may ask it while a call is under way.
    pub can: ClientCan,
}

/// A session that was just opened.
#[derive(Debug)]
pub struct NewSession {
    /// The id, told once and to its client alone.
    pub secret: SecretString,
    /// The session.
    pub session: OpenSession,
}

/// A session that a message belongs to.
#[derive(Debug, Clone)]
pub struct OpenSession {
    /// What the ledger calls it: a digest of the id.
    pub id: SessionId,
    /// What its client said when it was opened.
    pub terms: SessionTerms,
    /// Cancelled when the session ends, by whatever.
    pub ended: CancellationToken,
    listeners: Arc<Semaphore>,
}

impl OpenSession {
    /// A place to listen in this session, given back when it is dropped. None if all are taken.
    pub fn listen(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.listeners).try_acquire_owned().ok()
    }
}

/// What the owner may know of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionInfo {
    /// Whose.
    pub agent: AgentId,
    /// How long it has been open.
    pub open_for: Duration,
    /// How long nothing was heard in it.
    pub idle_for: Duration,
}

impl Session {
    /// Why it is over: idle or open for too long; in doubt (a clock jumped) it is.
    fn is_over(&self, config: &SessionConfig, now: Moment) -> Option<Reason> {
        if now.age(self.opened, config.absolute) != Age::Within {
            return Some(Reason::SessionExpired);
        }
        (now.age(self.seen, config.idle) != Age::Within).then_some(Reason::SessionIdle)
    }

    fn shown(&self, key: Digest) -> OpenSession {
        OpenSession {
            id: SessionId::new(key.to_string()),
            terms: self.terms,
            ended: self.ended.clone(),
            listeners: Arc::clone(&self.listeners),
        }
    }
}

impl Table {
    /// Takes out what ran out.
    fn expire(&mut self, config: &SessionConfig, now: Moment) {
        let Self { open, run_out } = self;
        open.retain(|key, session| {
            let Some(why) = session.is_over(config, now) else { return true };
            run_out.push(RunOut { key: *key, agent: session.agent, why });
            false
        });
    }
}

impl RunOut {
    fn record(&self) -> RecordDraft {
        RecordDraft {
            reason: self.why,
            session: Some(SessionId::new(self.key.to_string())),
            subject: Subject::one("agent", self.agent),
            ..RecordDraft::new(Phase::House, new_call(), Actor::House, Transport::Http, RAN_OUT)
        }
    }
}

impl Drop for Session {
    // INVARIANT: whatever takes a session out of the table ends what listens in it.
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

impl Sessions {
    pub(crate) fn new(config: Option<SessionConfig>) -> Self {
        Self { config, table: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, agent: AgentId, terms: SessionTerms, now: Moment) -> Result<NewSession, Reason> {
        let config = self.config.as_ref().ok_or(Reason::UnknownSession)?;
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|_| Reason::Unavailable)?;
        let secret = Digest::from_bytes(bytes).to_string();
        let key = Digest::of(secret.as_bytes());
        let mut table = self.lock();
        table.expire(config, now);
        if table.open.values().filter(|session| session.agent == agent).count() >= config.per_agent
        {
            return Err(Reason::LimitReached);
        }
        let (ended, listeners) = (CancellationToken::new(), Arc::new(Semaphore::new(LISTENERS)));
        let session = Session { agent, terms, opened: now, seen: now, ended, listeners };
        let shown = session.shown(key);
        table.open.insert(key, session);
        Ok(NewSession { secret: secret.into(), session: shown })
    }

    fn resume(&self, agent: AgentId, id: &str, now: Moment) -> Option<OpenSession> {
        let config = self.config.as_ref()?;
        let key = Digest::of(id.as_bytes());
        let mut table = self.lock();
        // Another agent's session is no session.
        let session = table.open.get_mut(&key).filter(|session| session.agent == agent)?;
        if session.is_over(config, now).is_some() {
            table.expire(config, now);
            return None;
        }
        session.seen = now;
        Some(session.shown(key))
    }

    fn end(&self, agent: AgentId, id: &str) -> bool {
        let key = Digest::of(id.as_bytes());
        let open = &mut self.lock().open;
        let own = open.get(&key).is_some_and(|session| session.agent == agent);
        own && open.remove(&key).is_some()
    }

    fn list(&self, now: Moment) -> Vec<SessionInfo> {
        let Some(config) = &self.config else { return Vec::new() };
        let mut table = self.lock();
        table.expire(config, now);
        let info = |session: &Session| SessionInfo {
            agent: session.agent,
            open_for: Duration::from_millis(now.up.saturating_sub(session.opened.up)),
            idle_for: Duration::from_millis(now.up.saturating_sub(session.seen.up)),
        };
        table.open.values().map(info).collect()
    }

    /// What ran out and has to be recorded, once.
    fn take_run_out(&self) -> Vec<RunOut> {
        std::mem::take(&mut self.lock().run_out)
    }

    /// It could not be recorded yet.
    fn put_back(&self, run_out: Vec<RunOut>) {
        self.lock().run_out.extend(run_out);
    }
}

impl Gate {
    /// Whether legacy sessions are kept here.
    pub fn keeps_sessions(&self) -> bool {
        self.inner().sessions.config.is_some()
    }

    /// Opens a session for an agent. One too many is refused; none is ever put out for another.
    pub async fn open_session(
        &self,
        admitted: &Admitted,
        terms: SessionTerms,
    ) -> Result<NewSession, Refusal> {
        let (agent, now) = (admitted.principal.agent.id, self.clock().moment());
        let opened = self.inner().sessions.open(agent, terms, now);
        self.record_run_out().await;
        opened.map_err(Refusal::because)
    }

    /// The session a message says it belongs to, if this agent opened it and it has not ended.
    pub async fn resume_session(
        &self,
        admitted: &Admitted,
        id: &str,
    ) -> Result<OpenSession, Refusal> {
        let (agent, now) = (admitted.principal.agent.id, self.clock().moment());
        if let Some(resumed) = self.inner().sessions.resume(agent, id, now) {
            return Ok(resumed);
        }
        self.record_run_out().await;
        Err(Refusal::because(Reason::UnknownSession))
    }

    /// Ends a session of this agent's. False if there is none. Whoever asks has recorded it.
    pub fn end_session(&self, admitted: &Admitted, id: &str) -> bool {
        self.inner().sessions.end(admitted.principal.agent.id, id)
    }

    /// The sessions that are open.
    pub fn sessions(&self) -> Vec<SessionInfo> {
        self.inner().sessions.list(self.clock().moment())
    }

    /// Ends the sessions that were idle or open for too long: asked now and then.
    pub async fn expire_sessions(&self) {
        drop(self.sessions());
        self.record_run_out().await;
    }

    /// Records what ran out. What cannot be recorded now is tried again the next time.
    pub(crate) async fn record_run_out(&self) {
        let run_out = self.inner().sessions.take_run_out();
        if run_out.is_empty() {
            return;
        }
        let inner = Arc::clone(self.inner());
        // A task of its own: a client that hangs up must not lose what was taken.
        let recorded = self.inner().tasks.spawn(async move {
            let unit = UnitOfWork::records(run_out.iter().map(RunOut::record).collect());
            if let Err(error) = inner.store.commit(unit).await {
                tracing::error!(%error, "the end of a session could not be recorded yet");
                inner.sessions.put_back(run_out);
            }
        });
        // It fails only with the process.
        let _ = recorded.await;
    }
}

/// How many may listen in one session at once: the one a client has, and the one it opens when
/// it lost that and we have not noticed yet.
const LISTENERS: usize = 2;
/// What the ledger calls the end of a session that nobody asked for.
const RAN_OUT: &str = "session.end";

#[cfg(test)]
mod tests;
