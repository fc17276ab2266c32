//! A line to one origin: what was looked up and judged is used for a while, and then anew.
//!
//! A handshake for every message would cost more than the message. So connections are kept, but
//! never longer than what was checked holds: with the next generation come new look-up, new
//! judgement and new connections. What is sent goes to this origin and to no other.

mod answering;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::HeaderMap;
use http::{Method, StatusCode};
use tokio::sync::{Mutex, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::client::EgressClient;
use crate::error::{EgressError, RedirectFault};
use crate::message::{Fetched, check_headers};
use crate::parse::Target;
use crate::redirect::{Hop, is_redirect};
use crate::resolve::Answer;
use crate::wire::{Kept, Opened};

pub use answering::Answering;

/// A line to one origin. Cheap to ask again over.
pub struct EgressLine {
    client: EgressClient,
    target: Target,
    terms: LineTerms,
    generation: Mutex<Option<Generation>>,
    places: Arc<Semaphore>,
}

/// What a line is held to.
#[derive(Debug, Clone)]
pub struct LineTerms {
    /// How long what was looked up and judged is used.
    pub checked_for: Duration,
    /// Connections kept while nobody uses them.
    pub idle: usize,
    /// How long each of those is kept.
    pub unused: Duration,
    /// Exchanges under way at once; one more is refused.
    pub concurrent: usize,
}

/// What to send. The headers are for this origin alone.
#[derive(Clone)]
pub struct LineRequest {
    /// The method.
    pub method: Method,
    /// Headers to send. Those about the connection are the client's.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// From now to the last byte of the answer.
    pub deadline: Duration,
    /// Bytes of the answer's body.
    pub body_bytes: usize,
}

/// What was checked, and until when it holds.
struct Generation {
    way: Arc<dyn Kept>,
    until: Instant,
}

impl Default for LineTerms {
    fn default() -> Self {
        Self {
            checked_for: Duration::from_mins(1),
            idle: 8,
            unused: Duration::from_secs(30),
            concurrent: 32,
        }
    }
}

impl EgressLine {
    pub(crate) fn new(client: EgressClient, target: Target, terms: LineTerms) -> Self {
        let places = Arc::new(Semaphore::new(terms.concurrent.clamp(1, Semaphore::MAX_PERMITS)));
        Self { client, target, terms, generation: Mutex::default(), places }
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> String {
        self.target.origin()
    }

    /// Sends, and reads the head of the answer. Any status is an answer; the body follows under
    /// what is left of the deadline and under its cap.
    pub async fn send(&self, request: LineRequest) -> Result<Answering, EgressError> {
        check_headers(&request.headers)?;
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| EgressError::Busy)?;
        let LineRequest { method, headers, body, deadline, body_bytes } = request;
        let until = Instant::now() + deadline;
        let sending = self.follow(Hop { method, headers, body });
        let opened = timeout_at(until, sending).await;
        let opened = opened.unwrap_or(Err(EgressError::Deadline(deadline)))?;
        Ok(Answering::new(opened, self.origin(), (until, deadline), body_bytes, place))
    }

    async fn follow(&self, hop: Hop) -> Result<Opened, EgressError> {
        let way = self.way().await?;
        let (mut url, mut hop) = (self.target.clone(), hop);
        let redirects = self.client.policy().config().redirects;
        for _ in 0..=redirects {
            let sent = way.send(&url, &hop).await;
            if matches!(sent, Err(EgressError::Unreachable { .. })) {
                self.forget(&way).await;
            }
            let opened = sent?;
            if !is_redirect(opened.status) {
                return Ok(opened);
            }
            let next = self.next(&*way, &url, &hop, opened);
            (hop, url) = next.map_err(|fault| self.refused(fault))?;
        }
        Err(self.refused(RedirectFault::TooMany(redirects)))
    }

    /// The next hop: of the same origin, and judged again over the addresses that are kept.
    fn next(
        &self,
        way: &dyn Kept,
        at: &Target,
        hop: &Hop,
        opened: Opened,
    ) -> Result<(Hop, Target), RedirectFault> {
        let says_again = [StatusCode::TEMPORARY_REDIRECT, StatusCode::PERMANENT_REDIRECT];
        if !says_again.contains(&opened.status) {
            return Err(RedirectFault::OffTheLine);
        }
        let Opened { status, headers, .. } = opened;
        let answer = Fetched { status, headers, body: Bytes::new() };
        let policy = self.client.policy();
        let (hop, to) = hop.next(policy, at, &answer)?;
        if to.origin() != self.origin() {
            return Err(RedirectFault::OffTheLine);
        }
        let kept =
            Answer::from_addresses(way.to().addresses().iter().map(std::net::SocketAddr::ip));
        let judged = policy.admit(to.clone(), &kept);
        judged.map_err(|error| RedirectFault::Target(Box::new(error)))?;
        Ok((hop, to))
    }

    /// The way that was checked, while that holds; otherwise looked up and judged anew.
    async fn way(&self) -> Result<Arc<dyn Kept>, EgressError> {
        let mut generation = self.generation.lock().await;
        match &*generation {
            Some(Generation { way, until }) if Instant::now() < *until => Ok(Arc::clone(way)),
            _ => {
                // A name that is refused now must not be reached over what was checked before.
                *generation = None;
                let until = Instant::now() + self.terms.checked_for;
                let to = self.client.admit(self.target.clone()).await?;
                let way: Arc<dyn Kept> = self.client.wire().keep(to, &self.terms)?.into();
                *generation = Some(Generation { way: Arc::clone(&way), until });
                Ok(way)
            }
        }
    }

    /// Who cannot be reached may have moved.
    async fn forget(&self, lost: &Arc<dyn Kept>) {
        let mut generation = self.generation.lock().await;
        if generation.as_ref().is_some_and(|held| Arc::ptr_eq(&held.way, lost)) {
            *generation = None;
        }
    }

    fn refused(&self, fault: RedirectFault) -> EgressError {
        EgressError::Redirect { from: self.origin(), fault }
    }
}

impl fmt::Debug for EgressLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EgressLine").field("to", &self.target).finish_non_exhaustive()
    }
}

/// Shows neither header values nor body.
impl fmt::Debug for LineRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineRequest")
            .field("method", &self.method)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
