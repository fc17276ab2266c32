//! An answer that is still coming: its head, and its body under a cap and a deadline.

use std::fmt;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http::header::HeaderMap;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout_at};

use crate::error::EgressError;
use crate::wire::{Chunks, Opened};

/// An answer on its way. Dropping it ends the exchange.
pub struct Answering {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    body: Box<dyn Chunks>,
    origin: String,
    until: Instant,
    deadline: Duration,
    cap: usize,
    left: usize,
    _place: OwnedSemaphorePermit,
}

impl Answering {
    pub(super) fn new(
        opened: Opened,
        origin: String,
        (until, deadline): (Instant, Duration),
        cap: usize,
        place: OwnedSemaphorePermit,
    ) -> Self {
        let Opened { status, headers, body } = opened;
        Self { status, headers, body, origin, until, deadline, cap, left: cap, _place: place }
    }

    /// The next piece of the body; none at its end. Whoever sends a byte a second gets no more
    /// time than anybody else.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, EgressError> {
        let next = timeout_at(self.until, self.body.next()).await;
        let Some(chunk) = next.unwrap_or(Err(EgressError::Deadline(self.deadline)))? else {
            return Ok(None);
        };
        let left = self.left.checked_sub(chunk.len());
        self.left = left.ok_or_else(|| self.too_long())?;
        Ok(Some(chunk))
    }

    /// The whole body, of at most so many bytes.
    pub async fn whole(mut self, most: usize) -> Result<Bytes, EgressError> {
        self.left = self.left.min(most);
        self.cap = self.cap.min(most);
        let mut body = BytesMut::new();
        while let Some(chunk) = self.chunk().await? {
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }

    fn too_long(&self) -> EgressError {
        EgressError::ResponseBytes { origin: self.origin.clone(), cap: self.cap }
    }
}

/// Shows neither header values nor body.
impl fmt::Debug for Answering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answering")
            .field("status", &self.status)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
