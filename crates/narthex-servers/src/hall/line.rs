//! A connection to a server, as one call has it.

use std::pin::pin;
use std::sync::Arc;

use narthex_core::DefinitionName;
use narthex_gate::upstream::{UpstreamFault, UpstreamProgress, UpstreamQuestion};
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::link::Link;
use super::{HallFault, View};
use crate::sanitise::Scrubber;

/// A line to a server. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ServerLine {
    pub(super) link: Arc<Link>,
    /// Whether other agents ask through it too.
    pub(super) shared: bool,
}

impl ServerLine {
    /// Asks. What the server says on the way is made harmless before anybody hears it.
    pub async fn ask(
        &self,
        mut question: UpstreamQuestion,
    ) -> Result<Box<RawValue>, UpstreamFault> {
        let Some(to) = question.progress.take() else { return self.link.ask(question).await };
        let (says, mut said) = mpsc::channel(WAITING);
        question.progress = Some(says);
        let mut asking = pin!(self.link.ask(question));
        let pass_on = |word: UpstreamProgress| {
            // Whoever is slow to listen misses some of it.
            let _ = to.try_send(self.harmless(word));
        };
        let answer = loop {
            tokio::select! {
                biased;
                Some(word) = said.recv() => pass_on(word),
                answer = &mut asking => break answer,
            }
        };
        while let Ok(word) = said.try_recv() {
            pass_on(word);
        }
        answer
    }

    /// Without what nobody sees, without secrets, and short.
    fn harmless(&self, word: UpstreamProgress) -> UpstreamProgress {
        let message = word.message.map(|said| self.scrubber().scrub_to(&said, PROGRESS_CHARS));
        UpstreamProgress { message, ..word }
    }

    /// What takes this server's secrets out of what it says.
    pub fn scrubber(&self) -> &Arc<Scrubber> {
        &self.link.scrubber
    }

    /// Whether it speaks the stateless revisions.
    pub fn is_modern(&self) -> bool {
        self.link.is_modern()
    }

    /// Whether what the server asks can be told to belong to one agent. The older revisions do not
    /// say which call a request belongs to, so on a shared line it could be anybody's.
    pub fn tells_whose(&self) -> bool {
        self.is_modern() || !self.shared
    }

    /// Somebody gave up waiting for an answer.
    pub fn was_late(&self) {
        self.link.was_late();
    }

    /// Whether the server still offers this as it was approved.
    pub fn stands(&self, view: &View, wants: Option<&DefinitionName>) -> Result<(), HallFault> {
        let Some(name) = wants else { return Ok(()) };
        let offered = self.link.offered();
        let item = offered.get(name).filter(|item| item.barred.is_none());
        let approved =
            item.is_some_and(|item| view.standing.approves(name, &item.definition.digest));
        if approved { Ok(()) } else { Err(HallFault::NotApproved(view.config.name.to_string())) }
    }
}

/// Characters of what a server says on the way that anyone is told.
const PROGRESS_CHARS: usize = 500;
/// Words that wait to be made harmless.
const WAITING: usize = 8;
