//! Reading a body: counted while it arrives, in time, and within what all bodies may take.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use narthex_core::{AgentId, Reason};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What bodies may cost.
#[derive(Debug)]
pub(super) struct Bodies {
    max_bytes: usize,
    deadline: Duration,
    /// One permit for each KiB of larger bodies held at once.
    memory: Arc<Semaphore>,
    /// KiB of it that one agent may hold, so that nobody takes all of it.
    share: usize,
    shares: Arc<Shares>,
}

/// A body, and the memory it counts for until it is dropped.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) bytes: Bytes,
    _claim: Claim,
}

/// What each agent holds now, in KiB; who holds nothing is not in it.
type Shares = Mutex<HashMap<AgentId, usize>>;

/// What one body has taken of what all share.
#[derive(Debug)]
struct Claim {
    agent: AgentId,
    memory: Option<OwnedSemaphorePermit>,
    shares: Arc<Shares>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        let held = self.memory.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get_mut(&self.agent) {
            *share = share.saturating_sub(held);
            if *share == 0 {
                shares.remove(&self.agent);
            }
        }
    }
}

/// A body that is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyFault {
    TooLarge,
    TooSlow,
    /// The client went away, or its framing is broken.
    Broken,
    /// Other bodies take all there is, or this agent's take its share.
    NoRoom,
}

impl BodyFault {
    /// As the ledger names it.
    pub(super) const fn reason(self) -> Reason {
        match self {
            Self::TooLarge | Self::TooSlow | Self::Broken => Reason::InvalidRequest,
            Self::NoRoom => Reason::LimitReached,
        }
    }
}

impl Bodies {
    pub(super) fn new(max_bytes: usize, deadline: Duration, memory: usize) -> Self {
        let permits = (memory / KIB).min(Semaphore::MAX_PERMITS);
        let share = (permits / SHARES).max(max_bytes.div_ceil(KIB));
        let memory = Arc::new(Semaphore::new(permits));
        Self { max_bytes, deadline, memory, share, shares: Arc::default() }
    }

    pub(super) async fn read(&self, agent: AgentId, body: Body) -> Result<Held, BodyFault> {
        // A length that is said and too large is refused before anything is read.
        if body.size_hint().lower() > self.max_bytes as u64 {
            return Err(BodyFault::TooLarge);
        }
        let reading = self.collect(agent, body);
        tokio::time::timeout(self.deadline, reading).await.unwrap_or(Err(BodyFault::TooSlow))
    }

    async fn collect(&self, agent: AgentId, mut body: Body) -> Result<Held, BodyFault> {
        let mut claim = Claim { agent, memory: None, shares: Arc::clone(&self.shares) };
        let mut whole = Gathered::Nothing;
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| BodyFault::Broken)?.into_data() else { continue };
            let size = whole.len() + data.len();
            if size > self.max_bytes {
                return Err(BodyFault::TooLarge);
            }
            self.claim(&mut claim, size)?;
            whole = whole.and(data);
        }
        Ok(Held { bytes: whole.into_bytes(), _claim: claim })
    }

    /// Small bodies are free; larger ones take from what all share, as they grow.
    fn claim(&self, claim: &mut Claim, size: usize) -> Result<(), BodyFault> {
        if size <= FREE_BYTES {
            return Ok(());
        }
        let held = claim.memory.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let more = size.div_ceil(KIB).saturating_sub(held);
        let permits = u32::try_from(more).map_err(|_| BodyFault::TooLarge)?;
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        let share = shares.get(&claim.agent).copied().unwrap_or_default() + more;
        if share > self.share {
            return Err(BodyFault::NoRoom);
        }
        let memory = Arc::clone(&self.memory);
        let claimed = memory.try_acquire_many_owned(permits).map_err(|_| BodyFault::NoRoom)?;
        shares.insert(claim.agent, share);
        match &mut claim.memory {
            Some(held) => held.merge(claimed),
            None => claim.memory = Some(claimed),
        }
        Ok(())
    }
}

/// A body as it arrives; one that comes in one piece is never copied.
enum Gathered {
    Nothing,
    One(Bytes),
    Many(BytesMut),
}

impl Gathered {
    fn len(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::One(bytes) => bytes.len(),
            Self::Many(bytes) => bytes.len(),
        }
    }

    fn and(self, data: Bytes) -> Self {
        match self {
            Self::Nothing => Self::One(data),
            Self::One(first) => {
                let mut all = BytesMut::with_capacity(2 * (first.len() + data.len()));
                all.extend_from_slice(&first);
                all.extend_from_slice(&data);
                Self::Many(all)
            }
            Self::Many(mut all) => {
                all.extend_from_slice(&data);
                Self::Many(all)
            }
        }
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Self::Nothing => Bytes::new(),
            Self::One(bytes) => bytes,
            Self::Many(bytes) => bytes.freeze(),
        }
    }
}

/// Into how many shares the memory is cut; a body of full size always fits into one.
const SHARES: usize = 4;
const KIB: usize = 1024;
/// Up to here a body costs nothing but its connection.
const FREE_BYTES: usize = 64 * KIB;

#[cfg(test)]
mod tests {
    use super::{Bodies, BodyFault};
    use axum::body::Body;
    use narthex_core::AgentId;
    use std::time::Duration;

    #[tokio::test]
    async fn one_agent_holds_its_share_and_leaves_the_rest_to_others() {
        let bodies = Bodies::new(256 * 1024, Duration::from_secs(5), 1024 * 1024);
        let agent = |n| AgentId::from_uuid(uuid::Uuid::from_u128(n));
        let body = || Body::from(vec![b'x'; 200 * 1024]);
        let first = bodies.read(agent(1), body()).await.expect("the first fits");
        let second = bodies.read(agent(1), body()).await.err();
        assert_eq!(second, Some(BodyFault::NoRoom), "a quarter is one agent's share");
        bodies.read(agent(2), body()).await.expect("another agent is not in the way");
        drop(first);
        bodies.read(agent(1), body()).await.expect("what was let go is free again");
        assert!(bodies.shares.lock().expect("not poisoned").is_empty(), "nobody holds anything");
    }
}
