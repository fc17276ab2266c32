//! What an upstream says while it is at work, on its way to the client.
//!
//! INVARIANT: what its words do to the latch is durable with the intent, before the first of them; they
//! are counted, and the outcome charges them like those of the answer.

use std::convert::Infallible;

use narthex_core::{Taint, TakesIn};
use narthex_store::StoreError;
use tokio::sync::mpsc;

use super::decide::Permit;
use super::taint::brought;
use crate::gate::Inner;
use crate::upstream::UpstreamProgress;

/// What was told ahead of an answer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ahead {
    /// What it did to the latch.
    pub(super) armed: Taint,
    /// Bytes of it.
    pub(super) bytes: u64,
}

/// The way to a client that wants to hear how far it is.
pub(super) struct Telling {
    from: mpsc::Receiver<UpstreamProgress>,
    to: mpsc::Sender<UpstreamProgress>,
    left: u64,
    ahead: Ahead,
}

impl Permit {
    /// What words on the way bring, where somebody hears them. Nobody has looked at them as at an
    /// answer, so where it is left to the answer they are foreign.
    pub(super) fn brings_ahead(&self) -> Taint {
        if self.progress.is_none() {
            return Taint::CLEAN;
        }
        let untrusted = self.spec.effects.takes_in == TakesIn::ByAnswer;
        brought(self.spec.effects, Taint { untrusted, ..Taint::CLEAN })
    }
}

impl Inner {
    /// How many bytes may be told on the way: no more than there are left in the budget.
    pub(super) async fn words_for(&self, permit: &Permit) -> Result<u64, StoreError> {
        if permit.progress.is_none() {
            return Ok(0);
        }
        let most = self.config.progress_bytes;
        if permit.budget.bytes.is_none() {
            return Ok(most);
        }
        let used = self.used(permit.holder, &permit.budget).await?;
        Ok(permit.budget.bytes_left(&used).map_or(most, |left| left.min(most)))
    }
}

impl Telling {
    /// The way, if there is anybody at its end, and where words are put onto it.
    pub(super) fn new(
        permit: &Permit,
        most: u64,
    ) -> Option<(Self, mpsc::Sender<UpstreamProgress>)> {
        let to = permit.progress.clone()?;
        let (says, from) = mpsc::channel(WAITING);
        let ahead = Ahead { armed: permit.brings_ahead(), bytes: 0 };
        Some((Self { from, to, left: most, ahead }, says))
    }

    /// Passes on what is said, as long as anything can be.
    pub(super) async fn pass_on(way: &mut Option<Self>) -> Infallible {
        if let Some(way) = way {
            while let Some(word) = way.from.recv().await {
                way.tell(word);
            }
        }
        std::future::pending().await
    }

    /// Passes on what was said before the answer. What was told in all.
    pub(super) fn end(way: Option<Self>) -> Ahead {
        let Some(mut way) = way else { return Ahead::default() };
        while let Ok(word) = way.from.try_recv() {
            way.tell(word);
        }
        way.ahead
    }

    /// Words that are too many are left out; how far it is says no more than itself.
    fn tell(&mut self, mut word: UpstreamProgress) {
        word.message = word.message.filter(|message| message.len() as u64 <= self.left);
        let bytes = word.message.as_ref().map_or(0, |message| message.len() as u64);
        // A client that does not listen hears nothing, and nothing is counted.
        if self.to.try_send(word).is_ok() {
            self.left -= bytes;
            self.ahead.bytes += bytes;
        }
    }
}

/// Words that wait to be passed on.
const WAITING: usize = 8;
