//! Workers that are shut in and wait, so that a run need not.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use narthex_core::AgentId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::task::TaskTracker;

use crate::config::SandboxConfig;
use crate::layer::{Layer, LayerFault, Worker};

/// Where workers come from. Cheap to clone; all clones are one pool.
#[derive(Debug, Clone)]
pub struct Pool(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    layer: Arc<dyn Layer>,
    config: SandboxConfig,
    ready: Mutex<Vec<Box<dyn Worker>>>,
    runs: Arc<Semaphore>,
    /// What of that agents may have who have a program under way already.
    more: Arc<Semaphore>,
    agents: Mutex<HashMap<AgentId, Share>>,
    /// How many runs of each agent went on that may have to wait again.
    places: Mutex<HashMap<AgentId, u32>>,
    tasks: TaskTracker,
}

/// What an agent may have at once.
#[derive(Debug, Clone)]
struct Share {
    runs: Arc<Semaphore>,
    /// Its first, for which there is room that nobody's second can have.
    first: Arc<Semaphore>,
}

/// The place of a run that waited, kept for it while it goes on.
#[derive(Debug)]
pub(crate) struct Place {
    pool: Pool,
    agent: AgentId,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = self.pool.0.places();
        match places.get_mut(&self.agent) {
            Some(kept) if *kept > 1 => *kept -= 1,
            _ => drop(places.remove(&self.agent)),
        }
    }
}

/// A worker, and the right to one for as long as it is held.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) worker: Box<dyn Worker>,
    pub(crate) rights: Rights,
}

/// The right to run: of the house, of the agent, and as its first program or one more.
#[derive(Debug)]
pub(crate) struct Rights {
    _of_house: OwnedSemaphorePermit,
    _of_agent: OwnedSemaphorePermit,
    _first_or_more: OwnedSemaphorePermit,
}

/// Why there is no worker now.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoTurn {
    #[error("too many programs run already")]
    Busy,
    #[error(transparent)]
    Layer(#[from] LayerFault),
}

impl Pool {
    /// A pool over a layer. Nothing is started before it is asked for.
    pub fn new(layer: Arc<dyn Layer>, config: SandboxConfig) -> Self {
        Self(Arc::new(Inner {
            runs: Arc::new(Semaphore::new(config.runs)),
            more: Arc::new(Semaphore::new((config.runs / 2).max(1))),
            layer,
            config,
            ready: Mutex::default(),
            agents: Mutex::default(),
            places: Mutex::default(),
            tasks: TaskTracker::new(),
        }))
    }

    /// Its bounds.
    pub fn config(&self) -> &SandboxConfig {
        &self.0.config
    }

    /// What it is a pool of.
    pub fn layer(&self) -> &dyn Layer {
        self.0.layer.as_ref()
    }

    /// Makes workers ready, if there are fewer than there should be.
    pub fn warm(&self) {
        let pool = self.clone();
        self.0.tasks.spawn(async move { pool.fill().await });
    }

    /// Ends those that wait, and waits until whatever was started is gone.
    pub async fn close(&self) {
        self.0.tasks.close();
        self.0.tasks.wait().await;
        let ready = std::mem::take(&mut *self.0.ready());
        for worker in ready {
            drop(worker);
        }
    }

    /// A worker, when it is the agent's turn. However many programs an agent has, others get theirs.
    pub(crate) async fn turn(&self, agent: AgentId) -> Result<Turn, NoTurn> {
        let rights = tokio::time::timeout(self.0.config.turn, self.rights(agent)).await;
        let rights = rights.ok().flatten().ok_or(NoTurn::Busy)?;
        let worker = match self.ready() {
            Some(worker) => worker,
            None => self.0.layer.start().await?,
        };
        let pool = self.clone();
        self.0.tasks.spawn(async move {
            // The one that was asked for goes first.
            tokio::time::sleep(A_MOMENT).await;
            pool.fill().await;
        });
        Ok(Turn { worker, rights })
    }

    /// One that is ready, and was not ended by anybody meanwhile.
    fn ready(&self) -> Option<Box<dyn Worker>> {
        loop {
            let mut worker = self.0.ready().pop()?;
            if worker.is_there() {
                return Some(worker);
            }
        }
    }

    /// Keeps the place of a run that is about to go on.
    pub(crate) fn place_of(&self, agent: AgentId) -> Place {
        *self.0.places().entry(agent).or_default() += 1;
        Place { pool: self.clone(), agent }
    }

    /// How many places are kept for an agent's runs.
    pub(crate) fn places_of(&self, agent: AgentId) -> u32 {
        self.0.places().get(&agent).copied().unwrap_or(0)
    }

    async fn rights(&self, agent: AgentId) -> Option<Rights> {
        let Share { runs, first } = self.0.share(agent);
        // First its own, so that one agent's programs never stand in line for others'.
        let of_agent = runs.acquire_owned().await.ok()?;
        let first_or_more = tokio::select! {
            biased;
            first = first.acquire_owned() => first,
            more = Arc::clone(&self.0.more).acquire_owned() => more,
        };
        let of_house = Arc::clone(&self.0.runs).acquire_owned().await.ok()?;
        let first_or_more = first_or_more.ok()?;
        Some(Rights { _of_house: of_house, _of_agent: of_agent, _first_or_more: first_or_more })
    }

    async fn fill(&self) {
        while self.0.ready().len() < self.0.config.ready {
            match self.0.layer.start().await {
                Ok(worker) => {
                    let mut ready = self.0.ready();
                    if ready.len() < self.0.config.ready {
                        ready.push(worker);
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "no worker could be made ready");
                    return;
                }
            }
        }
    }
}

impl Inner {
    fn ready(&self) -> MutexGuard<'_, Vec<Box<dyn Worker>>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn places(&self) -> MutexGuard<'_, HashMap<AgentId, u32>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn share(&self, agent: AgentId) -> Share {
        let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        if agents.len() > MOST_AGENTS {
            // Whoever has nothing under way, and is not about to, is made anew when it comes back.
            agents.retain(|_, share| {
                Arc::strong_count(&share.runs) > 1 || Arc::strong_count(&share.first) > 1
            });
        }
        let new = || Share {
            runs: Arc::new(Semaphore::new(self.config.runs_per_agent)),
            first: Arc::new(Semaphore::new(1)),
        };
        agents.entry(agent).or_insert_with(new).clone()
    }
}

/// How long the next one to be ready is not begun: most programs are over by then.
const A_MOMENT: Duration = Duration::from_millis(50);
/// Agents that are remembered before those without a run are forgotten.
const MOST_AGENTS: usize = 1_024;

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use async_trait::async_trait;
    use narthex_core::AgentId;

    use super::Pool;
    use crate::config::SandboxConfig;
    use crate::layer::{Gone, Layer, LayerFault, Worker};

    #[derive(Debug)]
    struct Fake {
        there: bool,
    }

    #[async_trait]
    impl Worker for Fake {
        fn send(&mut self, _frame: &[u8]) {}

        async fn receive(&mut self) -> Result<Vec<u8>, LayerFault> {
            Err(LayerFault::Gone)
        }

        fn is_there(&mut self) -> bool {
            self.there
        }

        async fn end(self: Box<Self>) -> Gone {
            Gone::Ended
        }
    }

    #[derive(Debug, Default)]
    struct Fakes(AtomicUsize);

    #[async_trait]
    impl Layer for Fakes {
        fn name(&self) -> &'static str {
            "fake"
        }

        async fn start(&self) -> Result<Box<dyn Worker>, LayerFault> {
            self.0.fetch_add(1, Ordering::SeqCst);
            Ok(Box::new(Fake { there: true }))
        }
    }

    /// Whoever ended a worker that was ready ends no run with it.
    #[tokio::test]
    async fn one_that_is_gone_is_not_handed_out() {
        let layer = Arc::new(Fakes::default());
        let pool = Pool::new(
            Arc::<Fakes>::clone(&layer),
            SandboxConfig { ready: 0, ..SandboxConfig::default() },
        );
        for there in [true, false, false] {
            pool.0.ready().push(Box::new(Fake { there }));
        }
        let agent = AgentId::from_uuid(narthex_store::fresh_uuid());
        for started in [0, 1] {
            let mut turn = pool.turn(agent).await.expect("a turn");
            assert!(turn.worker.is_there());
            assert_eq!(layer.0.load(Ordering::SeqCst), started);
        }
    }

    /// Two agents with as many programs as they may have leave room for others' first ones.
    #[tokio::test]
    async fn others_get_their_turn_however_much_two_agents_want() {
        let turn = Duration::from_millis(50);
        let config = SandboxConfig { ready: 0, turn, ..SandboxConfig::default() };
        let pool = Pool::new(Arc::new(Fakes::default()), config.clone());
        let agent = || AgentId::from_uuid(narthex_store::fresh_uuid());
        let greedy = [agent(), agent()];
        let mut turns = Vec::new();
        for _ in 0..config.runs_per_agent {
            for agent in greedy {
                turns.extend(pool.turn(agent).await);
            }
        }
        assert_eq!(turns.len(), 2 + config.runs / 2);
        let others = [agent(), agent()];
        for other in others {
            turns.push(pool.turn(other).await.expect("its turn"));
        }
        assert!(pool.turn(agent()).await.is_err(), "so many at once and no more");
        // The one that is over leaves its place to whoever is next.
        turns.clear();
        for _ in 0..config.runs_per_agent {
            turns.push(pool.turn(greedy[0]).await.expect("a turn"));
        }
        assert!(pool.turn(greedy[0]).await.is_err(), "so many of one agent");
    }

    /// A place is kept until whoever has it gives it back.
    #[test]
    fn places_are_counted() {
        let pool = Pool::new(Arc::new(Fakes::default()), SandboxConfig::default());
        let agent = AgentId::from_uuid(narthex_store::fresh_uuid());
        let (first, second) = (pool.place_of(agent), pool.place_of(agent));
        assert_eq!(pool.places_of(agent), 2);
        drop(first);
        assert_eq!(pool.places_of(agent), 1);
        drop(second);
        assert_eq!(pool.places_of(agent), 0);
    }
}
