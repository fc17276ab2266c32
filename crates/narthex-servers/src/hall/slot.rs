//! Where one connection to a server stands: who has it, whether it is up, how often it failed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use narthex_core::AgentId;
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::Instant;

use super::HallFault;
use super::link::Link;
use super::starter::Said;
use crate::config::ServerConfig;

/// Whose connection it is. What a server keeps of one never answers another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Whose {
    /// Everyone's: the server was declared stateless.
    Everyone,
    /// One agent's.
    Agent(AgentId),
    /// The owner's own.
    Owner,
}

impl Whose {
    /// The name of the folder that its process has to itself.
    pub(super) fn room(self) -> String {
        match self {
            Self::Everyone => "everyone".to_owned(),
            Self::Agent(agent) => agent.to_string(),
            Self::Owner => "owner".to_owned(),
        }
    }
}

/// How a server is, in a word and a reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerState {
    /// Nothing runs: nobody asked.
    Idle,
    /// It is being started or reached.
    Connecting,
    /// It answers.
    Connected,
    /// It failed, and is left alone until asked for.
    Error(String),
}

impl ServerState {
    /// The word.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::Error(_) => "error",
        }
    }
}

/// A place for one connection.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) whose: Whose,
    pub(super) config: Arc<ServerConfig>,
    /// Held by whoever opens it, so that it is opened once.
    pub(super) opening: AsyncMutex<()>,
    connecting: AtomicBool,
    link: Mutex<Option<(Arc<Link>, Instant)>>,
    failures: Mutex<Failures>,
    log: Mutex<Option<Box<dyn Said>>>,
}

#[derive(Debug, Default)]
struct Failures {
    count: u32,
    until: Option<Instant>,
    why: String,
}

impl Slot {
    pub(super) fn new(whose: Whose, config: Arc<ServerConfig>) -> Self {
        Self {
            whose,
            config,
            opening: AsyncMutex::new(()),
            connecting: AtomicBool::new(false),
            link: Mutex::default(),
            failures: Mutex::default(),
            log: Mutex::default(),
        }
    }

    /// Whether it is this one's, started as this says.
    pub(super) fn is(&self, whose: Whose, config: &Arc<ServerConfig>) -> bool {
        let same = |a: &ServerConfig, b: &ServerConfig| {
            a.reach == b.reach
                && a.walls == b.walls
                && a.era == b.era
                && a.limits == b.limits
                && a.allow == b.allow
        };
        self.whose == whose && (Arc::ptr_eq(&self.config, config) || same(&self.config, config))
    }

    pub(super) fn link(&self) -> Option<Arc<Link>> {
        held(&self.link).as_ref().map(|(link, _)| Arc::clone(link))
    }

    /// The connection, if it can be asked something.
    pub(super) fn good_link(&self) -> Option<Arc<Link>> {
        self.link().filter(|link| link.ended().is_none() && !link.is_hung())
    }

    pub(super) fn put(&self, link: Arc<Link>) {
        *held(&self.link) = Some((link, Instant::now()));
    }

    /// Takes the connection out, if there is one, with how long it stood.
    pub(super) fn take(&self) -> Option<(Arc<Link>, Duration)> {
        held(&self.link).take().map(|(link, since)| (link, since.elapsed()))
    }

    pub(super) fn listen_to(&self, log: Box<dyn Said>) {
        *held(&self.log) = Some(log);
    }

    pub(super) fn said(&self) -> Vec<String> {
        held(&self.log).as_ref().map(|log| log.lines()).unwrap_or_default()
    }

    /// Says that it is being opened, until what comes back is dropped.
    pub(super) fn connects(&self) -> Connects<'_> {
        self.connecting.store(true, Ordering::Release);
        Connects(self)
    }

    /// One more failure. A connection that stood for a while makes up for what was before it.
    pub(super) fn failed(&self, why: String, stood: Duration) {
        let mut failures = held(&self.failures);
        if stood >= STEADY {
            failures.count = 0;
        }
        failures.count = failures.count.saturating_add(1);
        let wait = BACKOFF.saturating_mul(1 << failures.count.min(6).saturating_sub(1));
        failures.until = Some(Instant::now() + wait);
        failures.why = why;
    }

    /// Somebody asks for it anew.
    pub(super) fn forgive(&self) {
        *held(&self.failures) = Failures::default();
    }

    /// Whether it may be opened now.
    pub(super) fn may_open(&self) -> Result<(), HallFault> {
        let failures = held(&self.failures);
        if failures.count > self.config.limits.restarts {
            return Err(HallFault::GivenUp { why: failures.why.clone() });
        }
        let left = failures.until.map(|until| until.saturating_duration_since(Instant::now()));
        match left.filter(|left| !left.is_zero()) {
            Some(left) => Err(HallFault::Resting { left, why: failures.why.clone() }),
            None => Ok(()),
        }
    }

    pub(super) fn state(&self) -> ServerState {
        if self.good_link().is_some() {
            return ServerState::Connected;
        }
        if self.connecting.load(Ordering::Acquire) {
            return ServerState::Connecting;
        }
        let failures = held(&self.failures);
        if failures.count == 0 {
            ServerState::Idle
        } else {
            ServerState::Error(failures.why.clone())
        }
    }
}

/// While it is being opened.
pub(super) struct Connects<'a>(&'a Slot);

impl Drop for Connects<'_> {
    fn drop(&mut self) {
        self.0.connecting.store(false, Ordering::Release);
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Before the first restart; twice as long before each further one.
const BACKOFF: Duration = Duration::from_millis(500);
/// A connection that stood so long was no failure of its start.
const STEADY: Duration = Duration::from_mins(1);

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::{ServerState, Slot, Whose};
    use crate::config;
    use crate::hall::HallFault;

    fn slot(inner: &str) -> Slot {
        let text = format!("{{\"mcpServers\":{{\"a\":{{\"command\":\"x\"{inner}}}}}}}");
        let server = config::read(&text, 20).unwrap().servers.pop_first().unwrap().1;
        Slot::new(Whose::Owner, Arc::new(server))
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_tried_again_after_longer_and_longer_waits_and_then_left_alone() {
        let slot = slot("");
        assert_eq!(slot.state(), ServerState::Idle);
        for wait in [500, 1_000, 2_000] {
            assert!(slot.may_open().is_ok());
            slot.failed("it crashed".to_owned(), Duration::ZERO);
            assert_eq!(slot.state(), ServerState::Error("it crashed".to_owned()));
            let Err(HallFault::Resting { left, .. }) = slot.may_open() else { panic!("{wait}") };
            assert_eq!(left, Duration::from_millis(wait));
            tokio::time::advance(left).await;
        }
        assert!(slot.may_open().is_ok(), "the third restart");
        slot.failed("it crashed".to_owned(), Duration::ZERO);
        tokio::time::advance(Duration::from_hours(1)).await;
        assert!(matches!(slot.may_open(), Err(HallFault::GivenUp { .. })));
        slot.forgive();
        assert!(slot.may_open().is_ok());
        assert_eq!(slot.state(), ServerState::Idle);
    }

    #[tokio::test(start_paused = true)]
    async fn who_stood_for_a_while_starts_counting_anew() {
        let slot = slot(",\"limits\":{\"restarts\":1}");
        for _ in 0..10 {
            slot.failed("x".to_owned(), Duration::from_mins(2));
            tokio::time::advance(Duration::from_mins(2)).await;
            assert!(slot.may_open().is_ok());
        }
        slot.failed("x".to_owned(), Duration::ZERO);
        tokio::time::advance(Duration::from_mins(2)).await;
        assert!(matches!(slot.may_open(), Err(HallFault::GivenUp { .. })));
    }
}
