//! What all connections of one server share: the offer as it is now, and who hears of changes.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::announce::{Listener, changed};
use super::deeds;
use super::{Offer, Script, When};

/// One server.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) script: Script,
    /// Ended when the server is.
    pub(super) stop: CancellationToken,
    /// Whether an exit may end the process.
    pub(super) own_process: bool,
    now: Mutex<Now>,
}

#[derive(Debug, Default)]
struct Now {
    offer: Offer,
    /// Which turns were taken.
    taken: Vec<bool>,
    calls: u64,
    lists: u64,
    listeners: Vec<Listener>,
}

/// What may make the offer turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Called,
    Listed,
    Flipped,
    Looked,
}

impl Stage {
    pub(super) fn new(script: Script, own_process: bool) -> Self {
        let now = Now {
            offer: script.offer.clone(),
            taken: vec![false; script.turns.len()],
            ..Now::default()
        };
        Self { script, stop: CancellationToken::new(), own_process, now: Mutex::new(now) }
    }

    pub(super) fn offer(&self) -> Offer {
        self.now().offer.clone()
    }

    pub(super) fn listen(&self, listener: Listener) {
        self.now().listeners.push(listener);
    }

    /// Takes the turns that this makes due, and announces them where the script says so.
    pub(super) async fn turn(&self, event: Event) {
        let (lists, listeners) = {
            let mut now = self.now();
            now.count(event);
            let mut lists = Vec::new();
            for (n, turn) in self.script.turns.iter().enumerate() {
                let taken = now.taken.get(n).copied().unwrap_or(true);
                if taken || !now.is_due(&turn.when, event) {
                    continue;
                }
                if let Some(taken) = now.taken.get_mut(n) {
                    *taken = true;
                }
                now.offer.become_like(&turn.offer);
                if turn.announce {
                    lists.extend(changed(&turn.offer));
                }
                if event == Event::Flipped {
                    break;
                }
            }
            now.listeners.retain(Listener::listens);
            (lists, now.listeners.clone())
        };
        for list in lists {
            for listener in &listeners {
                listener.tell(list).await;
            }
        }
    }

    /// Looks for files that turns wait for, until the server ends.
    pub(super) async fn watch(&self) {
        if !self.script.turns.iter().any(|turn| matches!(turn.when, When::File(_))) {
            return;
        }
        loop {
            self.turn(Event::Looked).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Writes a message down, if the script says where.
    pub(super) fn log(&self, message: &Value) {
        if let Some(path) = &self.script.log {
            let _ = deeds::append(path, &format!("{message}\n"));
        }
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Now {
    fn count(&mut self, event: Event) {
        match event {
            Event::Called => self.calls += 1,
            Event::Listed => self.lists += 1,
            Event::Flipped | Event::Looked => {}
        }
    }

    fn is_due(&self, when: &When, event: Event) -> bool {
        match when {
            When::Calls(calls) => self.calls >= *calls,
            When::Lists(lists) => self.lists >= *lists,
            When::File(path) => path.exists(),
            When::Flipped => event == Event::Flipped,
        }
    }
}
