//! The server's posture: what the settings allow at most, and what the owner chose below that.

use std::sync::Arc;

use narthex_core::{Actor, Mode, Phase, Reason, RecordDraft, Subject, Transport};
use narthex_store::{Effect, StoreError, UnitOfWork};

use crate::Gate;
use crate::gate::new_call;

/// The posture could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum ModeError {
    /// The settings allow less.
    #[error(
        "the settings allow {most} at most; to go higher, set mode = \"{asked}\" in narthex.toml and start again"
    )]
    AboveSettings {
        /// What they allow.
        most: Mode,
        /// What was asked for.
        asked: Mode,
    },
    /// It could not be recorded, and so was not changed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Gate {
    /// The posture in force.
    pub fn mode(&self) -> Mode {
        **self.inner().mode.load()
    }

    /// Changes the posture, at the owner's word: recorded first, then in force. Returns what it
    /// was before.
    pub async fn set_mode(&self, mode: Mode) -> Result<Mode, ModeError> {
        let most = self.inner().config.mode;
        if mode.ceiling() > most.ceiling() {
            return Err(ModeError::AboveSettings { most, asked: mode });
        }
        // Lowering holds at once; raising only after it is recorded. What is raised just now is done
        // before this goes on.
        let was = self.mode();
        let lower = || {
            if mode.ceiling() < self.mode().ceiling() {
                self.inner().mode.store(Arc::new(mode));
            }
        };
        lower();
        let _turn = self.inner().turns.lock().await;
        let before = if mode.ceiling() < was.ceiling() { was } else { self.mode() };
        lower();
        self.note_mode(before, mode, Some(mode)).await?;
        self.inner().mode.store(Arc::new(mode));
        Ok(before)
    }

    /// At the start: what the owner chose last time still holds, below what the settings allow;
    /// a posture other than the last one noted is recorded as the owner's change it is.
    pub(crate) async fn take_up_mode(&self) {
        let most = self.inner().config.mode;
        let noted = match self.inner().store.noted_mode().await {
            Ok(noted) => noted,
            Err(error) => {
                tracing::error!(%error, "the posture cannot be read, so the lowest holds");
                self.inner().mode.store(Arc::new(Mode::Readonly));
                return;
            }
        };
        let chosen = noted.and_then(|(_, chosen)| chosen);
        let mode = chosen.filter(|chosen| chosen.ceiling() < most.ceiling()).unwrap_or(most);
        let before = noted.map(|(mode, _)| mode);
        if before != Some(mode) {
            let from = before.unwrap_or(Mode::default());
            if let Err(error) = self.note_mode(from, mode, chosen).await {
                tracing::error!(%error, "the posture cannot be recorded, so the lowest holds");
                self.inner().mode.store(Arc::new(Mode::Readonly));
                return;
            }
        }
        self.inner().mode.store(Arc::new(mode));
    }

    async fn note_mode(
        &self,
        from: Mode,
        mode: Mode,
        chosen: Option<Mode>,
    ) -> Result<(), StoreError> {
        let record = RecordDraft {
            reason: Reason::OwnerAction,
            subject: Subject::one("mode", mode).changed(from, mode),
            ..RecordDraft::new(Phase::Owner, new_call(), Actor::Owner, Transport::Local, "mode.set")
        };
        self.inner()
            .store
            .commit(UnitOfWork::effect(Effect::NoteMode { mode, chosen }, record))
            .await
            .map(drop)
    }
}
