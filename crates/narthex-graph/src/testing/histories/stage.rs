//! Where a history is played: a store that can be closed and opened again.

use std::sync::Arc;

use async_trait::async_trait;
use narthex_core::{Actor, SpaceId, Taint, Timestamp};
use narthex_store::{Clock, GraphWrite, ManualClock, StoreError};

use crate::Engine;
use crate::engine::Maker;
use crate::testing::MemoryGraphs;

/// A store, with an engine over it.
#[async_trait]
pub trait Stage: Send {
    /// The engine.
    fn engine(&self) -> &Engine;

    /// The space graphs are in.
    fn space(&self) -> SpaceId;

    /// Makes a change durable.
    async fn commit(&self, write: GraphWrite) -> Result<(), StoreError>;

    /// The clock that commits are stamped with.
    fn clock(&self) -> &ManualClock;

    /// Closes the store, or drops it as it is, and opens it again.
    async fn reopen(&mut self, clean: bool);
}

/// Graphs in memory: closing them loses nothing but what an engine remembers.
#[derive(Debug)]
pub struct MemoryStage {
    store: Arc<MemoryGraphs>,
    engine: Engine,
    clock: Arc<ManualClock>,
}

impl MemoryStage {
    /// An empty one.
    pub fn new() -> Self {
        let store = Arc::new(MemoryGraphs::default());
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let engine = engine(&store, &clock);
        Self { store, engine, clock }
    }
}

impl Default for MemoryStage {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Stage for MemoryStage {
    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn space(&self) -> SpaceId {
        "00000000-0000-7000-8000-000000000002".parse().expect("a space")
    }

    async fn commit(&self, write: GraphWrite) -> Result<(), StoreError> {
        self.store.apply(write).map(drop)
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    async fn reopen(&mut self, _clean: bool) {
        self.engine = engine(&self.store, &self.clock);
    }
}

fn engine(store: &Arc<MemoryGraphs>, clock: &Arc<ManualClock>) -> Engine {
    Engine::new(Arc::clone(store) as _, Arc::clone(clock) as Arc<dyn Clock>)
}

/// Who does it all.
pub(super) fn owner() -> Maker {
    Maker { actor: Actor::Owner, agent: None, taint: Taint::CLEAN }
}
