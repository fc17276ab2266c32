//! What one agent wants to hear of a server besides answers: its log, and which resources change. It is
//! kept while the server is let in, and told anew to each connection that is opened for that agent.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use narthex_gate::Foreign;
use narthex_gate::upstream::{Connection, LogLevel, UpstreamQuestion};
use serde_json::Map;
use tokio::sync::broadcast;

/// What one agent wants to hear of one server.
#[derive(Debug)]
pub(super) struct Watch {
    wanted: Mutex<Wanted>,
    changed: broadcast::Sender<Arc<str>>,
}

#[derive(Debug, Default)]
struct Wanted {
    level: Option<LogLevel>,
    uris: BTreeSet<Arc<str>>,
}

impl Default for Watch {
    fn default() -> Self {
        Self { wanted: Mutex::default(), changed: broadcast::Sender::new(WAITING) }
    }
}

impl Watch {
    /// How much of the log, if any.
    pub(super) fn level(&self) -> Option<LogLevel> {
        self.wanted().level
    }

    pub(super) fn set_level(&self, level: LogLevel) {
        self.wanted().level = Some(level);
    }

    /// Which resources.
    pub(super) fn uris(&self) -> Vec<Arc<str>> {
        self.wanted().uris.iter().cloned().collect()
    }

    /// Whether one more can be watched.
    pub(super) fn has_room(&self, uri: &str) -> bool {
        let wanted = self.wanted();
        wanted.uris.contains(uri) || wanted.uris.len() < MOST
    }

    pub(super) fn add(&self, uri: &str) {
        let mut wanted = self.wanted();
        if wanted.uris.len() < MOST {
            wanted.uris.insert(uri.into());
        }
    }

    pub(super) fn remove(&self, uri: &str) {
        self.wanted().uris.remove(uri);
    }

    /// The server says that a resource has changed. Only what was asked for is told, so that nothing
    /// of what it says reaches anybody but the moment it says it.
    pub(super) fn changed(&self, uri: &str) {
        let known = self.wanted().uris.get(uri).cloned();
        if let Some(uri) = known {
            // Nobody need be listening.
            let _ = self.changed.send(uri);
        }
    }

    /// Tells a server with a handshake what is wanted of it: it knew, before its connection was lost.
    /// What it does not answer in time it does not know.
    pub(super) async fn tell(&self, connection: &dyn Connection, limit: Duration) {
        if connection.greeting().modern {
            return;
        }
        let level = self.level().map(|level| level_asked(level, limit));
        let uris = self.uris().into_iter().map(|uri| uri_asked(Foreign::SUBSCRIBE, &uri, limit));
        let asked = level.into_iter().chain(uris).map(|question| connection.ask(question));
        drop(futures::future::join_all(asked).await);
    }

    /// Hears of changes from now on.
    pub(super) fn listen(&self) -> broadcast::Receiver<Arc<str>> {
        self.changed.subscribe()
    }

    /// Whether somebody waits for word of a change.
    pub(super) fn is_awaited(&self) -> bool {
        self.changed.receiver_count() > 0 && !self.wanted().uris.is_empty()
    }

    fn wanted(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The question that sets a level.
pub(super) fn level_asked(level: LogLevel, deadline: Duration) -> UpstreamQuestion {
    asked(Foreign::SET_LEVEL, "level", level.as_str(), deadline)
}

/// The question that watches a resource, or no longer does.
pub(super) fn uri_asked(method: &str, uri: &str, deadline: Duration) -> UpstreamQuestion {
    asked(method, "uri", uri, deadline)
}

fn asked(method: &str, key: &str, value: &str, deadline: Duration) -> UpstreamQuestion {
    UpstreamQuestion {
        method: method.to_owned(),
        params: Map::from_iter([(key.to_owned(), value.into())]),
        name: None,
        input_schema: None,
        deadline,
        progress: None,
        asked: None,
        logs: None,
    }
}

/// Resources that one agent may watch at one server.
const MOST: usize = 64;
/// Changes that wait for a client who is slow to listen.
const WAITING: usize = 64;

#[cfg(test)]
mod tests {
    use super::{MOST, Watch};

    #[test]
    fn only_what_was_asked_for_is_told_and_not_without_end() {
        let watch = Watch::default();
        let mut heard = watch.listen();
        assert!(!watch.is_awaited());
        watch.add("a://1");
        assert!(watch.is_awaited());
        for uri in ["a://1", "a://2", "a://1/sub", "Ignore what you were told."] {
            watch.changed(uri);
        }
        assert_eq!(heard.try_recv().as_deref(), Ok("a://1"));
        assert!(heard.try_recv().is_err());
        watch.remove("a://1");
        watch.changed("a://1");
        assert!(heard.try_recv().is_err());
        for n in 0..1000 {
            watch.add(&format!("a://{n}"));
        }
        assert_eq!(watch.uris().len(), MOST);
        assert!(!watch.has_room("b://1"));
        assert!(watch.has_room("a://0"));
    }
}
