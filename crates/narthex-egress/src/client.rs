//! The client: every hop from the start.

use std::fmt;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::error::{EgressError, RedirectFault};
use crate::line::{EgressLine, LineTerms};
use crate::message::{Fetched, Request};
use crate::parse::Target;
use crate::policy::{Admitted, EgressPolicy, Zone};
use crate::redirect::{Hop, check_zones, is_redirect};
use crate::resolve::Resolve;
use crate::wire::{Network, Wire};

/// Fetches what the policy allows.
///
/// INVARIANT: there is no constructor without a policy, and none that takes a client from
/// elsewhere.
#[derive(Clone)]
pub struct EgressClient(Arc<Inner>);

struct Inner {
    policy: EgressPolicy,
    resolver: Arc<dyn Resolve>,
    wire: Box<dyn Wire>,
    /// Requests under way.
    places: Semaphore,
    /// Requests under way and waiting.
    queue: Semaphore,
}

impl EgressClient {
    /// A client that reaches what this policy allows, by the names this resolver knows.
    pub fn new(policy: EgressPolicy, resolver: Arc<dyn Resolve>) -> Result<Self, EgressError> {
        let wire = Box::new(Network::new(policy.config().clone())?);
        Ok(Self::with_wire(policy, resolver, wire))
    }

    pub(crate) fn with_wire(
        policy: EgressPolicy,
        resolver: Arc<dyn Resolve>,
        wire: Box<dyn Wire>,
    ) -> Self {
        let config = policy.config();
        let places = Semaphore::new(config.concurrent.min(Semaphore::MAX_PERMITS));
        let all = config.concurrent.saturating_add(config.waiting);
        let queue = Semaphore::new(all.min(Semaphore::MAX_PERMITS));
        Self(Arc::new(Inner { policy, resolver, wire, places, queue }))
    }

    /// What it was built with.
    pub fn policy(&self) -> &EgressPolicy {
        &self.0.policy
    }

    /// Fetches, and follows redirects. Any status is an answer.
    pub async fn fetch(&self, request: Request) -> Result<Fetched, EgressError> {
        let deadline = self.0.policy.config().deadline;
        let _queued = self.0.queue.try_acquire().map_err(|_| EgressError::Busy)?;
        let turn = async {
            let _place = self.0.places.acquire().await.map_err(|_| EgressError::Busy)?;
            self.follow(request).await
        };
        timeout(deadline, turn).await.unwrap_or(Err(EgressError::Deadline(deadline)))
    }

    async fn follow(&self, request: Request) -> Result<Fetched, EgressError> {
        request.check_headers()?;
        let target = self.0.policy.judge_url(&request.url)?;
        let mut at = self.admit(target).await?;
        let mut hop = Hop::first(request);
        for _ in 0..=self.0.policy.config().redirects {
            let answer = self.0.wire.exchange(&at, &hop).await?;
            if !is_redirect(answer.status) {
                return Ok(answer);
            }
            let from = at.target().origin();
            let next = self.next(&at, &hop, &answer).await;
            (hop, at) = next.map_err(|fault| EgressError::Redirect { from, fault })?;
        }
        let fault = RedirectFault::TooMany(self.0.policy.config().redirects);
        Err(EgressError::Redirect { from: at.target().origin(), fault })
    }

    /// The next hop, checked like the first.
    async fn next(
        &self,
        at: &Admitted,
        hop: &Hop,
        answer: &Fetched,
    ) -> Result<(Hop, Admitted), RedirectFault> {
        let (hop, target) = hop.next(&self.0.policy, at.target(), answer)?;
        let to = self.admit(target).await.map_err(|e| RedirectFault::Target(Box::new(e)))?;
        check_zones(at.zone(), to.zone(), to.target())?;
        Ok((hop, to))
    }

    /// Whether a URL leads to what is reached only because the owner named it. Asked before going
    /// where somebody else points to.
    pub async fn leads_inside(&self, url: &str) -> Result<bool, EgressError> {
        let target = self.0.policy.judge_url(url)?;
        Ok(self.admit(target).await?.zone() == Zone::Inside)
    }

    /// A line to the origin of this URL, which keeps its connections. The text is judged now; the
    /// name is looked up when something is sent.
    pub fn line(&self, url: &str, terms: LineTerms) -> Result<EgressLine, EgressError> {
        let target = self.0.policy.judge_url(url)?;
        Ok(EgressLine::new(self.clone(), target, terms))
    }

    pub(crate) fn wire(&self) -> &dyn Wire {
        &*self.0.wire
    }

    /// Looks the target up and has every address judged.
    pub(crate) async fn admit(&self, target: Target) -> Result<Admitted, EgressError> {
        let answer = match EgressPolicy::known(&target) {
            Some(answer) => answer,
            None => self.look_up(&target).await?,
        };
        self.0.policy.admit(target, &answer)
    }

    async fn look_up(&self, target: &Target) -> Result<crate::Answer, EgressError> {
        let host = target.host().to_string();
        let found = self.0.resolver.resolve(&host).await;
        found.map_err(|why| EgressError::Unresolved { host, why })
    }
}

impl fmt::Debug for EgressClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EgressClient").field("policy", &self.0.policy).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
