//! What a program was told, on its way to the ledger: many records in one trip, in their order.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use narthex_core::{Holder, Taint};
use narthex_store::{Guard, StoreError, UnitOfWork};
use tokio::sync::Notify;

use super::record::Trace;
use super::run::unavailable;
use crate::CallError;
use crate::gate::Inner;

/// What a program was told and what is not in the ledger yet.
#[derive(Debug, Default)]
pub(super) struct Held {
    state: Mutex<State>,
    pub(super) settled: Notify,
    /// Somebody waits for the disk, or there is enough for one trip to it.
    pub(super) hurry: Notify,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) waiting: Vec<HeldUnit>,
    pub(super) under_way: bool,
    pub(super) taint: Taint,
    pub(super) broken: Option<CallError>,
}

#[derive(Debug)]
pub(super) struct HeldUnit {
    pub(super) trace: Trace,
    pub(super) holder: Holder,
    pub(super) unit: UnitOfWork,
}

impl Held {
    pub(super) fn new(taint: Taint) -> Self {
        let state = State { taint, ..State::default() };
        Self { state: Mutex::new(state), ..Self::default() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_whole(&self) -> Result<(), CallError> {
        self.lock().broken.clone().map_or(Ok(()), Err)
    }

    /// Writes down what there is, and what comes meanwhile.
    pub(super) async fn write_down(&self, inner: &Arc<Inner>) {
        loop {
            // What a program looks at next goes along.
            tokio::select! {
                () = self.hurry.notified() => {}
                () = tokio::time::sleep(LINGER) => {}
            }
            let waiting = std::mem::take(&mut self.lock().waiting);
            for together in in_groups(waiting) {
                if let Err(error) = commit(inner, together).await {
                    self.lock().broken.get_or_insert(error);
                }
            }
            let mut state = self.lock();
            if state.waiting.is_empty() {
                state.under_way = false;
                break;
            }
        }
        self.settled.notify_waiters();
    }
}

/// Makes what belongs together durable; one by one where not all of it may be.
async fn commit(inner: &Arc<Inner>, mut together: Vec<HeldUnit>) -> Result<(), CallError> {
    if together.len() > 1 {
        let all = merged(together.iter().map(|held| &held.unit));
        match inner.store.commit(all).await {
            Ok(_) => return Ok(()),
            Err(StoreError::Refused(_)) => {}
            Err(error) => return Err(unavailable(error)),
        }
    }
    let mut ended = Ok(());
    for held in together.drain(..) {
        let one = match inner.store.commit(held.unit).await {
            Ok(_) => Ok(()),
            Err(error @ StoreError::Refused(_)) => {
                inner.fail(&held.trace, held.holder, error.into()).await.map(drop)
            }
            Err(error) => Err(unavailable(error)),
        };
        ended = ended.and(one);
    }
    ended
}

/// What can be one unit: it does the same to the latch, and is checked against the same.
fn in_groups(waiting: Vec<HeldUnit>) -> Vec<Vec<HeldUnit>> {
    let mut groups: Vec<Vec<HeldUnit>> = Vec::new();
    for held in waiting {
        let armed = |held: &HeldUnit| held.unit.arms.as_ref().map(|arms| arms.taint);
        match groups.last_mut() {
            Some(group)
                if group.len() < MOST_TOGETHER && group.last().map(armed) == Some(armed(&held)) =>
            {
                group.push(held);
            }
            _ => groups.push(vec![held]),
        }
    }
    groups
}

fn merged<'a>(units: impl Iterator<Item = &'a UnitOfWork>) -> UnitOfWork {
    let mut all = UnitOfWork::default();
    for unit in units {
        for guard in &unit.guards {
            merge_guard(&mut all.guards, guard);
        }
        match (&mut all.arms, &unit.arms) {
            (Some(known), Some(new)) => known.cause.last = new.cause.last,
            (arms @ None, new) => arms.clone_from(new),
            (Some(_), None) => {}
        }
        all.records.extend(unit.records.iter().cloned());
    }
    all
}

/// The budget is checked over all records of a unit, so once is enough; a place is asked about once.
fn merge_guard(guards: &mut Vec<Guard>, guard: &Guard) {
    let known = guards.iter().any(|known| match (known, guard) {
        (Guard::WithinBudget { holder: a, .. }, Guard::WithinBudget { holder: b, .. }) => a == b,
        (Guard::NotStopped(a), Guard::NotStopped(b)) => a == b,
        _ => false,
    });
    if !known {
        guards.push(guard.clone());
    }
}

/// How long records wait for others to go along, while nobody waits for them.
const LINGER: Duration = Duration::from_millis(2);
/// Records in one unit.
pub(super) const MOST_TOGETHER: usize = 512;
