//! The gate: what it is made of, and its three doors (list, call, note).

use std::sync::Arc;

use arc_swap::ArcSwap;
use moka::sync::Cache;
use narthex_core::{Agent, AgentId, CallId, Mode, SpaceId, Tier};
use narthex_policy::PolicyEngine;
use narthex_store::{Clock, RowKey, Store, fresh_uuid};
use tokio::sync::{Mutex, Semaphore};
use tokio_util::task::TaskTracker;

use crate::pipeline::{Asides, Limits, StopBoard, Tally, Verdicts};
use crate::sessions::Sessions;
use crate::{GateConfig, Verifier};

/// What a gate is built from.
#[derive(Debug)]
pub struct GateParts {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// What verifies credentials.
    pub verifier: Arc<dyn Verifier>,
    /// What policy says.
    pub policy: PolicyEngine,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// What argument values and nonces are hashed with.
    pub rows: RowKey,
    /// The bounds.
    pub config: GateConfig,
}

/// The one path that every call takes. Cheap to clone; all clones are one gate.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) verifier: Arc<dyn Verifier>,
    pub(crate) policy: ArcSwap<PolicyEngine>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) config: GateConfig,
    pub(crate) limits: Limits,
    pub(crate) tally: Tally,
    pub(crate) in_flight: Arc<Semaphore>,
    pub(crate) tasks: TaskTracker,
    pub(crate) agents: Cache<AgentId, (u64, Arc<Agent>)>,
    pub(crate) spaces: Cache<SpaceId, (u64, Option<Tier>)>,
    pub(crate) verdicts: Verdicts,
    pub(crate) rows: RowKey,
    pub(crate) mode: ArcSwap<Mode>,
    pub(crate) stops: StopBoard,
    /// Held by whoever changes posture or switches: what is durable and what is in memory then come
    /// in the same order.
    pub(crate) turns: Mutex<()>,
    pub(crate) sessions: Sessions,
    /// Calls that wait for their client.
    pub(crate) asides: Asides,
}

/// How the parts of the house are, without names or secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    /// The store answers.
    pub store: bool,
    /// The ledger can be written.
    pub ledger: bool,
    /// A policy is in force.
    pub policy: bool,
    /// Not everything is stopped.
    pub running: bool,
}

impl Health {
    /// Nothing is at fault. What the owner stopped is not.
    pub const fn is_good(self) -> bool {
        self.store && self.ledger && self.policy
    }
}

impl Gate {
    /// Puts a gate together and reads what is stopped. What cannot be read is stopped.
    pub async fn open(parts: GateParts) -> Self {
        let GateParts { store, verifier, policy, clock, rows, config } = parts;
        let gate = Self(Arc::new(Inner {
            rows,
            mode: ArcSwap::from_pointee(config.mode),
            stops: StopBoard::new(),
            turns: Mutex::new(()),
            sessions: Sessions::new(config.sessions.clone()),
            asides: Asides::default(),
            limits: Limits::new(&config),
            tally: Tally::new(&config),
            in_flight: Arc::new(Semaphore::new(config.calls_in_flight)),
            tasks: TaskTracker::new(),
            agents: Cache::new(config.remembered_tokens),
            spaces: Cache::new(config.remembered_tokens),
            verdicts: Verdicts::new(config.remembered_verdicts),
            policy: ArcSwap::from_pointee(policy),
            store,
            verifier,
            clock,
            config,
        }));
        gate.read_stops().await;
        gate.take_up_mode().await;
        gate
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.0
    }

    /// The store behind it, for the owner's side of the house.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.0.store
    }

    /// The policy in force.
    pub fn policy(&self) -> Arc<PolicyEngine> {
        self.0.policy.load_full()
    }

    /// Puts another policy in force, from the next decision on.
    pub fn set_policy(&self, policy: PolicyEngine) {
        self.0.policy.store(Arc::new(policy));
    }

    /// The bounds it was given.
    pub fn config(&self) -> &GateConfig {
        &self.0.config
    }

    /// The clock the house lives by.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.0.clock
    }

    /// How the parts of the house are.
    pub async fn health(&self) -> Health {
        Health {
            store: self.0.store.head().await.is_ok(),
            ledger: self.0.store.try_writing().await,
            policy: self.0.policy.load().is_in_force(),
            running: !self.0.stops.is_everything_stopped(),
        }
    }

    /// Writes down what was only counted or noticed so far, and waits for calls under way.
    pub async fn drain(&self) {
        self.0.tasks.close();
        self.expire_sessions().await;
        self.expire_asides().await;
        self.0.tasks.wait().await;
        self.flush_refusals().await;
    }
}

pub(crate) fn new_call() -> CallId {
    CallId::from_uuid(fresh_uuid())
}
