//! The kill switch: refused at once, cancelled at once, durable before it is answered.

use std::sync::Arc;

use narthex_core::{
    Actor, Agent, Engaged, EngagedBy, Outcome, Phase, Place, Reason, RecordDraft, Subject,
    SwitchScope, Switches, Transport,
};
use narthex_store::{Effect, StoreError, UnitOfWork};
use tokio::sync::watch;

use crate::Gate;
use crate::gate::{Inner, new_call};

/// What is stopped now, for everyone who decides and for everything that runs.
#[derive(Debug)]
pub(crate) struct StopBoard(watch::Sender<Arc<Switches>>);

impl StopBoard {
    /// Until the switches have been read, everything is stopped.
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(Arc::new(unread("the switches have not been read yet"))))
    }

    pub(super) fn now(&self) -> Arc<Switches> {
        Arc::clone(&self.0.borrow())
    }

    pub(crate) fn is_everything_stopped(&self) -> bool {
        self.0.borrow().get(&SwitchScope::Everything).is_some()
    }

    /// Whether a call at this place is stopped.
    pub(super) fn stops(&self, place: &Place) -> bool {
        self.0.borrow().stops(place).is_some()
    }

    /// Returns when a call at this place is stopped.
    pub(super) async fn stopped(&self, place: &Place) {
        let mut board = self.0.subscribe();
        // The sender lives as long as the gate that this call runs in.
        let _ = board.wait_for(|switches| switches.stops(place).is_some()).await;
    }

    fn change(&self, change: impl FnOnce(&mut Switches)) {
        self.0.send_modify(|switches| change(Arc::make_mut(switches)));
    }
}

/// A switch could not be engaged or lifted as asked.
#[derive(Debug, thiserror::Error)]
pub enum StopError {
    /// It holds in this process, but could not be made durable.
    #[error(
        "stopped in this process, but it could not be made durable ({0}); make the sentinel file too"
    )]
    NotDurable(StoreError),
    /// It is not engaged.
    #[error("the kill switch for {0} is not engaged")]
    NotEngaged(SwitchScope),
    /// It could not be lifted, and so still holds.
    #[error("it still holds: {0}")]
    StillHolds(StoreError),
}

impl Gate {
    /// What is stopped now.
    pub fn stopped(&self) -> Arc<Switches> {
        self.inner().stops.now()
    }

    /// Stops: in memory first, so that nothing new begins and what runs is cancelled, then
    /// durably. Only after both is it answered. True if it was not stopped before.
    pub async fn engage(
        &self,
        scope: SwitchScope,
        by: EngagedBy,
        actor: Actor,
        note: &str,
    ) -> Result<bool, StopError> {
        let inner = self.inner();
        let note = plain(note);
        let engaged = Engaged { scope: scope.clone(), by, note, at: inner.clock.now() };
        let known = inner.stops.now().get(&scope).is_some();
        inner.stops.change(|switches| {
            switches.engage(engaged.clone());
        });
        // Whoever lifts it just now is done before this goes on, and may have taken it out of memory.
        let _turn = inner.turns.lock().await;
        inner.stops.change(|switches| {
            switches.engage(engaged.clone());
        });
        inner.asides.end_stopped(&inner.stops.now());
        let unit = UnitOfWork::effect(
            Effect::EngageSwitch(engaged),
            switch_record("switch.engage", by, actor, &scope),
        );
        match inner.store.commit(unit).await {
            Ok(_) => Ok(!known),
            Err(error) => {
                tracing::error!(%error, %scope, "a kill switch holds only in this process");
                Err(StopError::NotDurable(error))
            }
        }
    }

    /// An agent stops itself: durably first, then in memory, so that the call it does it by is still
    /// answered. It is finished whatever becomes of that call.
    pub async fn stop_itself(&self, agent: &Agent, note: &str) -> Result<(), StopError> {
        let (gate, scope) = (self.clone(), SwitchScope::Agent(agent.id));
        let (actor, note) = (Actor::from(agent), plain(note));
        let task = self.inner().tasks.spawn(async move {
            let inner = gate.inner();
            let _turn = inner.turns.lock().await;
            let by = EngagedBy::Agent;
            let engaged = Engaged { scope: scope.clone(), by, note, at: inner.clock.now() };
            let record = switch_record("switch.engage", by, actor, &scope);
            let unit = UnitOfWork::effect(Effect::EngageSwitch(engaged.clone()), record);
            let durable = inner.store.commit(unit).await;
            inner.stops.change(|switches| {
                switches.engage(engaged);
            });
            inner.asides.end_stopped(&inner.stops.now());
            durable.map(drop).map_err(StopError::NotDurable)
        });
        task.await.unwrap_or_else(|error| {
            tracing::error!(%error, "an agent could not be stopped as it asked");
            Err(StopError::NotDurable(StoreError::Unavailable("interrupted".to_owned())))
        })
    }

    /// Lifts a switch: durably first, then in memory. Only an owner's request gets here.
    pub async fn lift(&self, scope: &SwitchScope) -> Result<(), StopError> {
        let inner = self.inner();
        let _turn = inner.turns.lock().await;
        let unit = UnitOfWork::effect(
            Effect::LiftSwitch { scope: scope.clone() },
            switch_record("switch.lift", EngagedBy::Owner, Actor::Owner, scope),
        );
        match inner.store.commit(unit).await {
            Ok(_) => {}
            // It may hold in this process alone.
            Err(StoreError::Refused(narthex_store::Refused::NotEngaged(_)))
                if inner.stops.now().get(scope).is_some() => {}
            Err(StoreError::Refused(narthex_store::Refused::NotEngaged(scope))) => {
                return Err(StopError::NotEngaged(scope));
            }
            Err(error) => return Err(StopError::StillHolds(error)),
        }
        inner.stops.change(|switches| {
            switches.lift(scope);
        });
        Ok(())
    }

    /// Reads what is stopped. What cannot be read is stopped.
    pub(crate) async fn read_stops(&self) {
        let inner = self.inner();
        let switches = inner.store.switches().await.unwrap_or_else(|error| {
            tracing::error!(%error, "the kill switches cannot be read, so everything is stopped");
            unread("the kill switches cannot be read")
        });
        inner.asides.end_stopped(&switches);
        inner.stops.0.send_replace(Arc::new(switches));
    }
}

impl Inner {
    /// What must be refused because it is stopped.
    pub(super) fn is_stopped(&self, place: &Place) -> Result<(), Reason> {
        if self.stops.stops(place) { Err(Reason::Stopped) } else { Ok(()) }
    }
}

fn plain(note: &str) -> String {
    note.chars().filter(|c| !c.is_control()).take(MAX_NOTE_CHARS).collect()
}

fn unread(note: &str) -> Switches {
    Switches::new([Engaged {
        scope: SwitchScope::Everything,
        by: EngagedBy::House,
        note: note.to_owned(),
        at: narthex_core::Timestamp::from_millis(0),
    }])
}

fn switch_record(action: &str, by: EngagedBy, actor: Actor, scope: &SwitchScope) -> RecordDraft {
    let (phase, reason) = match actor {
        Actor::Owner => (Phase::Owner, Reason::OwnerAction),
        _ => (Phase::House, Reason::Stopped),
    };
    RecordDraft {
        reason,
        outcome: Outcome::Ok,
        subject: Subject {
            to: Some(format!("{by:?}").to_lowercase()),
            ..Subject::one("switch", scope)
        },
        ..RecordDraft::new(phase, new_call(), actor, Transport::Local, action)
    }
}

const MAX_NOTE_CHARS: usize = 300;
