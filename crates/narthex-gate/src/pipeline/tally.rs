//! Refusals that would flood the ledger if each had a record: the first of a window is recorded
//! at once, the rest are counted and recorded as one.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use narthex_core::{Actor, AgentId, Reason, Transport};

use crate::GateConfig;

/// Whose refusals are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TallyKey {
    pub(crate) agent: Option<AgentId>,
    pub(crate) reason: Reason,
    pub(crate) transport: Transport,
}

#[derive(Debug)]
pub(crate) struct Tally {
    window: Duration,
    keys: usize,
    counts: Mutex<HashMap<TallyKey, Count>>,
}

#[derive(Debug)]
struct Count {
    since: Instant,
    held: u64,
    actor: Actor,
}

/// What to do about one more refusal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Tallied {
    /// Record it now, as this many.
    Record(u64),
    /// It was counted.
    Held,
}

impl Tally {
    pub(crate) fn new(config: &GateConfig) -> Self {
        Self { window: config.refusal_window, keys: MAX_KEYS, counts: Mutex::default() }
    }

    pub(crate) fn add(&self, key: TallyKey, actor: &Actor, now: Instant) -> Tallied {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&key) {
            if now.duration_since(count.since) < self.window {
                count.held += 1;
                return Tallied::Held;
            }
            let held = std::mem::take(&mut count.held);
            count.since = now;
            return Tallied::Record(held + 1);
        }
        if counts.len() >= self.keys {
            let window = self.window;
            counts.retain(|_, count| count.held > 0 || now.duration_since(count.since) < window);
        }
        if counts.len() < self.keys {
            counts.insert(key, Count { since: now, held: 0, actor: actor.clone() });
        }
        Tallied::Record(1)
    }

    /// Takes what is held of windows that have ended (or of all).
    pub(crate) fn take(&self, now: Instant, all: bool) -> Vec<(TallyKey, Actor, u64)> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = Vec::new();
        counts.retain(|key, count| {
            if !all && now.duration_since(count.since) < self.window {
                return true;
            }
            if count.held > 0 {
                taken.push((*key, count.actor.clone(), count.held));
            }
            false
        });
        taken
    }
}

/// Keys held at once: a handful of reasons, and one for each agent that is too fast.
const MAX_KEYS: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::{Tallied, Tally, TallyKey};
    use crate::GateConfig;
    use narthex_core::{Actor, Reason, Transport};
    use std::time::{Duration, Instant};

    #[test]
    fn a_million_refusals_make_a_handful_of_records_and_none_is_forgotten() {
        let tally = Tally::new(&GateConfig::default());
        let key =
            TallyKey { agent: None, reason: Reason::Unauthorized, transport: Transport::Http };
        let start = Instant::now();
        let (mut records, mut counted) = (0_u64, 0_u64);
        for n in 0..1_000_000_u64 {
            let now = start + Duration::from_micros(n * 50);
            if let Tallied::Record(count) = tally.add(key, &Actor::Nobody, now) {
                records += 1;
                counted += count;
            }
        }
        counted += tally.take(start, true).iter().map(|(_, _, held)| held).sum::<u64>();
        assert!(records <= 6, "{records}");
        assert_eq!(counted, 1_000_000);
    }
}
