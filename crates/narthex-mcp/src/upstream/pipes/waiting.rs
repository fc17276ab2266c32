//! Questions that wait for their answer, by our id.
//!
//! INVARIANT: an answer is handed to the question of its id, once, and to nobody else. What comes
//! under any other id, or again, or late, finds no question.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use narthex_gate::upstream::{UpstreamFault, UpstreamProgress};
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use crate::upstream::outgoing;
use crate::upstream::progress::Ear;

/// An answer, or why there is none.
pub(super) type Answered = Result<Box<RawValue>, UpstreamFault>;

/// Who waits.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    /// Why nobody can wait any more.
    closed: Option<UpstreamFault>,
    places: HashMap<u64, Place>,
}

#[derive(Debug)]
struct Place {
    answer: oneshot::Sender<Answered>,
    ear: Option<Ear>,
}

/// One question that waits. Dropped before its answer came, it tells the server so.
#[derive(Debug)]
pub(super) struct Pending {
    id: u64,
    answer: oneshot::Receiver<Answered>,
    waiting: Waiting,
    /// Where a cancellation goes, once there is something to cancel.
    cancels: Option<mpsc::Sender<Bytes>>,
}

impl Waiting {
    /// A place for a question, unless the connection has ended.
    pub(super) fn begin(&self, id: u64, ear: Option<Ear>) -> Result<Pending, UpstreamFault> {
        let (sender, answer) = oneshot::channel();
        let mut table = self.table();
        if let Some(why) = &table.closed {
            return Err(why.clone());
        }
        table.places.insert(id, Place { answer: sender, ear });
        Ok(Pending { id, answer, waiting: self.clone(), cancels: None })
    }

    /// Hands an answer to whoever asked; whether anybody did.
    pub(super) fn answer(&self, id: u64, answer: impl FnOnce() -> Answered) -> bool {
        let place = self.table().places.remove(&id);
        place.is_some_and(|place| place.answer.send(answer()).is_ok())
    }

    /// Passes progress on to whoever asked for it; whether anybody did.
    pub(super) fn progress(&self, token: u64, said: UpstreamProgress) -> bool {
        let mut table = self.table();
        let ear = table.places.get_mut(&token).and_then(|place| place.ear.as_mut());
        ear.is_some_and(|ear| {
            ear.hear(said);
            true
        })
    }

    /// Fails all that wait, and all that would.
    pub(super) fn close(&self, why: &UpstreamFault) {
        let mut table = self.table();
        table.closed.get_or_insert_with(|| why.clone());
        for (_, place) in table.places.drain() {
            let _ = place.answer.send(Err(why.clone()));
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pending {
    /// From here on the server knows of it, and is told if nobody waits any more.
    pub(super) fn cancels_by(&mut self, outgoing: mpsc::Sender<Bytes>) {
        self.cancels = Some(outgoing);
    }

    /// Its answer. May be dropped and called again.
    pub(super) async fn answer(&mut self) -> Answered {
        let gone = || Err(UpstreamFault::Ended("nobody answers any more".to_owned()));
        (&mut self.answer).await.unwrap_or_else(|_| gone())
    }

    /// Its answer, if it is there.
    pub(super) fn answered(&mut self) -> Option<Answered> {
        self.answer.try_recv().ok()
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let unanswered = self.waiting.table().places.remove(&self.id).is_some();
        if let Some(outgoing) = self.cancels.take().filter(|_| unanswered) {
            // Who does not read is not told.
            let _ = outgoing.try_send(outgoing::cancelled(self.id));
        }
    }
}
