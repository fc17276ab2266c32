//! Legacy sessions: an unguessable id that belongs to the agent that opened it.
//!
//! A session holds nothing but what its client said when it connected. Taint, budget, ceiling and
//! approvals belong to the agent and the space, so a new session sheds none of them. They are
//! kept in memory: a restart ends them, and a client starts anew.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use narthex_core::{Age, AgentId, Consent, Digest, Moment, Reason, SessionId};
use secrecy::SecretString;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::{Admitted, Gate, Refusal, SessionConfig};

/// The sessions that are open: at most so many an agent, so at most that many times the agents.
#[derive(Debug)]
pub(crate) struct Sessions {
    config: Option<SessionConfig>,
    /// By the digest of the id: the id itself is kept nowhere.
    open: Mutex<HashMap<Digest, Session>>,
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
    /// Idle or open for too long; in doubt (a clock jumped) it is.
    fn is_over(&self, config: &SessionConfig, now: Moment) -> bool {
        now.age(self.seen, config.idle) != Age::Within
            || now.age(self.opened, config.absolute) != Age::Within
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

impl Drop for Session {
    // INVARIANT: whatever takes a session out of the table ends what listens in it.
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

impl Sessions {
    pub(crate) fn new(config: Option<SessionConfig>) -> Self {
        Self { config, open: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, agent: AgentId, terms: SessionTerms, now: Moment) -> Result<NewSession, Reason> {
        let config = self.config.as_ref().ok_or(Reason::UnknownSession)?;
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|_| Reason::Unavailable)?;
        let secret = Digest::from_bytes(bytes).to_string();
        let key = Digest::of(secret.as_bytes());
        let mut open = self.lock();
        open.retain(|_, session| !session.is_over(config, now));
        if open.values().filter(|session| session.agent == agent).count() >= config.per_agent {
            return Err(Reason::LimitReached);
        }
        let (ended, listeners) = (CancellationToken::new(), Arc::new(Semaphore::new(LISTENERS)));
        let session = Session { agent, terms, opened: now, seen: now, ended, listeners };
        let shown = session.shown(key);
        open.insert(key, session);
        Ok(NewSession { secret: secret.into(), session: shown })
    }

    fn resume(&self, agent: AgentId, id: &str, now: Moment) -> Option<OpenSession> {
        let config = self.config.as_ref()?;
        let key = Digest::of(id.as_bytes());
        let mut open = self.lock();
        // Another agent's session is no session.
        let session = open.get_mut(&key).filter(|session| session.agent == agent)?;
        if session.is_over(config, now) {
            open.remove(&key);
            return None;
        }
        session.seen = now;
        Some(session.shown(key))
    }

    fn end(&self, agent: AgentId, id: &str) -> bool {
        let key = Digest::of(id.as_bytes());
        let mut open = self.lock();
        let own = open.get(&key).is_some_and(|session| session.agent == agent);
        own && open.remove(&key).is_some()
    }

    fn list(&self, now: Moment) -> Vec<SessionInfo> {
        let Some(config) = &self.config else { return Vec::new() };
        let mut open = self.lock();
        open.retain(|_, session| !session.is_over(config, now));
        let info = |session: &Session| SessionInfo {
            agent: session.agent,
            open_for: Duration::from_millis(now.up.saturating_sub(session.opened.up)),
            idle_for: Duration::from_millis(now.up.saturating_sub(session.seen.up)),
        };
        open.values().map(info).collect()
    }
}

impl Gate {
    /// Whether legacy sessions are kept here.
    pub fn keeps_sessions(&self) -> bool {
        self.inner().sessions.config.is_some()
    }

    /// Opens a session for an agent. One too many is refused; none is ever put out for another.
    pub fn open_session(
        &self,
        admitted: &Admitted,
        terms: SessionTerms,
    ) -> Result<NewSession, Refusal> {
        let (agent, now) = (admitted.principal.agent.id, self.clock().moment());
        self.inner().sessions.open(agent, terms, now).map_err(Refusal::because)
    }

    /// The session a message says it belongs to, if this agent opened it and it has not ended.
    pub fn resume_session(&self, admitted: &Admitted, id: &str) -> Result<OpenSession, Refusal> {
        let (agent, now) = (admitted.principal.agent.id, self.clock().moment());
        let resumed = self.inner().sessions.resume(agent, id, now);
        resumed.ok_or(Refusal::because(Reason::UnknownSession))
    }

    /// Ends a session of this agent's. False if there is none.
    pub fn end_session(&self, admitted: &Admitted, id: &str) -> bool {
        self.inner().sessions.end(admitted.principal.agent.id, id)
    }

    /// The sessions that are open.
    pub fn sessions(&self) -> Vec<SessionInfo> {
        self.inner().sessions.list(self.clock().moment())
    }

    /// Ends the sessions that were idle or open for too long: asked now and then.
    pub fn expire_sessions(&self) {
        drop(self.sessions());
    }
}

/// How many may listen in one session at once: the one a client has, and the one it opens when
/// it lost that and we have not noticed yet.
const LISTENERS: usize = 2;

#[cfg(test)]
mod tests;
