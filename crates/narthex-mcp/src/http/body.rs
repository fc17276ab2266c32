//! Reading a body: counted while it arrives, in time, and within what all bodies may take.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What bodies may cost.
#[derive(Debug)]
pub(super) struct Bodies {
    max_bytes: usize,
    deadline: Duration,
    /// One permit for each KiB of larger bodies held at once.
    memory: Arc<Semaphore>,
}

/// A body, and the memory it counts for until it is dropped.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) bytes: Bytes,
    _memory: Option<OwnedSemaphorePermit>,
}

/// A body that is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyFault {
    TooLarge,
    TooSlow,
    /// The client went away, or its framing is broken.
    Broken,
    /// Other bodies take all there is.
    NoRoom,
}

impl Bodies {
    pub(super) fn new(max_bytes: usize, deadline: Duration, memory: usize) -> Self {
        let permits = (memory / KIB).min(Semaphore::MAX_PERMITS);
        Self { max_bytes, deadline, memory: Arc::new(Semaphore::new(permits)) }
    }

    pub(super) async fn read(&self, body: Body) -> Result<Held, BodyFault> {
        // A length that is said and too large is refused before anything is read.
        if body.size_hint().lower() > self.max_bytes as u64 {
            return Err(BodyFault::TooLarge);
        }
        let reading = self.collect(body);
        tokio::time::timeout(self.deadline, reading).await.unwrap_or(Err(BodyFault::TooSlow))
    }

    async fn collect(&self, mut body: Body) -> Result<Held, BodyFault> {
        let mut memory = None;
        let mut whole = Gathered::Nothing;
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| BodyFault::Broken)?.into_data() else { continue };
            let size = whole.len() + data.len();
            if size > self.max_bytes {
                return Err(BodyFault::TooLarge);
            }
            self.claim(&mut memory, size)?;
            whole = whole.and(data);
        }
        Ok(Held { bytes: whole.into_bytes(), _memory: memory })
    }

    /// Small bodies are free; larger ones take from what all share, as they grow.
    fn claim(
        &self,
        memory: &mut Option<OwnedSemaphorePermit>,
        size: usize,
    ) -> Result<(), BodyFault> {
        if size <= FREE_BYTES {
            return Ok(());
        }
        let held = memory.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let more = size.div_ceil(KIB).saturating_sub(held);
        let more = u32::try_from(more).map_err(|_| BodyFault::TooLarge)?;
        let claimed =
            Arc::clone(&self.memory).try_acquire_many_owned(more).map_err(|_| BodyFault::NoRoom)?;
        match memory {
            Some(held) => held.merge(claimed),
            None => *memory = Some(claimed),
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

const KIB: usize = 1024;
/// Up to here a body costs nothing but its connection.
const FREE_BYTES: usize = 64 * KIB;
