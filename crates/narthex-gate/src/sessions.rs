//! Legacy sessions: an unguessable id that belongs to the agent that opened it.
//!
//! A session holds nothing but what its client consented to. Taint, budget, ceiling and approvals
//! belong to the agent and the space, so a new session sheds none of them. They are kept in
//! memory: a restart ends them, and a client starts anew.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use narthex_core::{AgentId, Consent, Digest, Reason, SessionId};
use tokio_util::sync::CancellationToken;

use crate::{Admitted, Gate, Refusal, SessionConfig};

/// The sessions that are open.
#[derive(Debug)]
pub(crate) struct Sessions {
    config: Option<SessionConfig>,
    /// By the digest of the id: the id itself is kept nowhere.
    open: Mutex<HashMap<Digest, Session>>,
}

#[derive(Debug)]
struct Session {
    agent: AgentId,
    consent: Consent,
    opened: Instant,
    seen: Instant,
    ended: CancellationToken,
}

/// A session that a message belongs to.
#[derive(Debug, Clone)]
pub struct OpenSession {
    /// What the ledger calls it: a digest of the id.
    pub id: SessionId,
    /// What its client consented to when it was opened.
    pub consent: Consent,
    /// Cancelled when the session ends, by whatever.
    pub ended: CancellationToken,
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

impl Sessions {
    pub(crate) fn new(config: Option<SessionConfig>) -> Self {
        Self { config, open: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, agent: AgentId, consent: Consent, now: Instant) -> Result<String, Reason> {
        let config = self.config.as_ref().ok_or(Reason::UnknownSession)?;
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|_| Reason::Unavailable)?;
        let id = Digest::from_bytes(bytes).to_string();
        let mut open = self.lock();
        expire(&mut open, config, now);
        if open.values().filter(|session| session.agent == agent).count() >= config.per_agent {
            return Err(Reason::LimitReached);
        }
        let session =
            Session { agent, consent, opened: now, seen: now, ended: CancellationToken::new() };
        open.insert(Digest::of(id.as_bytes()), session);
        Ok(id)
    }

    fn resume(&self, agent: AgentId, id: &str, now: Instant) -> Option<OpenSession> {
        let config = self.config.as_ref()?;
        let key = Digest::of(id.as_bytes());
        let mut open = self.lock();
        expire(&mut open, config, now);
        // Another agent's session is no session.
        let session = open.get_mut(&key).filter(|session| session.agent == agent)?;
        session.seen = now;
        Some(OpenSession {
            id: SessionId::new(key.to_string()),
            consent: session.consent,
            ended: session.ended.clone(),
        })
    }

    fn end(&self, agent: AgentId, id: &str) -> bool {
        let key = Digest::of(id.as_bytes());
        let mut open = self.lock();
        if open.get(&key).is_none_or(|session| session.agent != agent) {
            return false;
        }
        open.remove(&key).is_some_and(|session| {
            session.ended.cancel();
            true
        })
    }

    fn list(&self, now: Instant) -> Vec<SessionInfo> {
        let Some(config) = &self.config else { return Vec::new() };
        let mut open = self.lock();
        expire(&mut open, config, now);
        let info = |session: &Session| SessionInfo {
            agent: session.agent,
            open_for: now.duration_since(session.opened),
            idle_for: now.duration_since(session.seen),
        };
        open.values().map(info).collect()
    }
}

/// Ends what was idle or open for too long.
fn expire(open: &mut HashMap<Digest, Session>, config: &SessionConfig, now: Instant) {
    open.retain(|_, session| {
        let stays = now.duration_since(session.seen) < config.idle
            && now.duration_since(session.opened) < config.absolute;
        if !stays {
            session.ended.cancel();
        }
        stays
    });
}

impl Gate {
    /// Whether legacy sessions are kept here.
    pub fn keeps_sessions(&self) -> bool {
        self.inner().sessions.config.is_some()
    }

    /// Opens a session for an agent. The id is told once, to its client.
    pub fn open_session(&self, admitted: &Admitted, consent: Consent) -> Result<String, Refusal> {
        let agent = admitted.principal.agent.id;
        self.inner().sessions.open(agent, consent, Instant::now()).map_err(Refusal::because)
    }

    /// The session a message says it belongs to, if this agent opened it and it has not ended.
    pub fn resume_session(&self, admitted: &Admitted, id: &str) -> Result<OpenSession, Refusal> {
        let agent = admitted.principal.agent.id;
        let resumed = self.inner().sessions.resume(agent, id, Instant::now());
        resumed.ok_or(Refusal::because(Reason::UnknownSession))
    }

    /// Ends a session of this agent's. False if there is none.
    pub fn end_session(&self, admitted: &Admitted, id: &str) -> bool {
        self.inner().sessions.end(admitted.principal.agent.id, id)
    }

    /// The sessions that are open.
    pub fn sessions(&self) -> Vec<SessionInfo> {
        self.inner().sessions.list(Instant::now())
    }

    /// Ends the sessions that were idle or open for too long: asked now and then.
    pub fn expire_sessions(&self) {
        drop(self.sessions());
    }
}

#[cfg(test)]
mod tests {
    use super::Sessions;
    use crate::SessionConfig;
    use narthex_core::{AgentId, Consent, Reason, Tier};
    use std::time::{Duration, Instant};
    use uuid::Uuid;

    const A: AgentId = AgentId::from_uuid(Uuid::from_u128(1));
    const B: AgentId = AgentId::from_uuid(Uuid::from_u128(2));

    #[test]
    fn a_session_is_its_agents_alone_and_ends_in_time() {
        let config = SessionConfig {
            idle: Duration::from_secs(10),
            absolute: Duration::from_secs(25),
            per_agent: 2,
        };
        let sessions = Sessions::new(Some(config));
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let id = sessions.open(A, Consent::AtMost(Tier::T0), start).expect("room");
        assert_eq!(id.len(), 64);
        assert!(sessions.resume(B, &id, start).is_none(), "another agent's");
        assert!(!sessions.end(B, &id));
        for wrong in ["", "x", &id[1..], &id.to_uppercase()] {
            assert!(sessions.resume(A, wrong, start).is_none(), "{wrong}");
        }
        let open = sessions.resume(A, &id, at(9)).expect("open");
        assert_eq!(open.consent, Consent::AtMost(Tier::T0));
        assert!(!open.id.as_str().contains(&id));
        assert!(sessions.resume(A, &id, at(18)).is_some(), "each message keeps it");
        assert!(sessions.resume(A, &id, at(24)).is_some());
        assert!(sessions.resume(A, &id, at(26)).is_none(), "but not for ever");
        assert!(open.ended.is_cancelled());
    }

    #[test]
    fn one_too_many_is_refused_and_nobody_is_put_out() {
        let config = SessionConfig { per_agent: 2, ..SessionConfig::default() };
        let sessions = Sessions::new(Some(config));
        let now = Instant::now();
        let ids: Vec<_> = (0..2).map(|_| sessions.open(A, Consent::Absent, now)).collect();
        assert_eq!(sessions.open(A, Consent::Absent, now), Err(Reason::LimitReached));
        assert!(sessions.open(B, Consent::Absent, now).is_ok(), "another agent has its own");
        for id in ids.into_iter().flatten() {
            assert!(sessions.resume(A, &id, now).is_some());
            assert!(sessions.end(A, &id) && !sessions.end(A, &id));
        }
        assert_eq!(sessions.list(now).len(), 1);
    }
}
