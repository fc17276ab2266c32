//! How fast: per verified agent, and per source for attempts that failed.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use moka::sync::Cache;
use narthex_core::AgentId;

use crate::{GateConfig, Source};

/// The limiters, in maps with a bound.
#[derive(Debug)]
pub(crate) struct Limits {
    agents: Keyed<AgentId>,
    failures: Keyed<Source>,
}

impl Limits {
    pub(crate) fn new(config: &GateConfig) -> Self {
        Self {
            agents: Keyed::new(config.requests_per_minute, config.remembered_tokens),
            failures: Keyed::new(config.failures_per_minute, config.remembered_sources),
        }
    }

    /// Counts a request of an agent; over the limit, how long to wait.
    pub(crate) fn request(&self, agent: AgentId) -> Result<(), Duration> {
        self.agents.count(agent)
    }

    /// Counts a failed attempt of a source; over the limit, how long to wait.
    ///
    /// A good credential is never asked this: who shares an address with an attacker is not
    /// locked out by it.
    pub(crate) fn failure(&self, source: Source) -> Result<(), Duration> {
        self.failures.count(source.key())
    }
}

/// One limiter a key. Forgetting a key that was idle for a minute changes nothing, since a full
/// minute fills its bucket again.
struct Keyed<K> {
    quota: Quota,
    limiters: Cache<K, Arc<DefaultDirectRateLimiter>>,
}

impl<K> std::fmt::Debug for Keyed<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keyed").field("quota", &self.quota).finish_non_exhaustive()
    }
}

impl<K: std::hash::Hash + Eq + Send + Sync + 'static> Keyed<K> {
    fn new(per_minute: u32, keys: u64) -> Self {
        let per_minute = NonZeroU32::new(per_minute).unwrap_or(NonZeroU32::MIN);
        let limiters = Cache::builder().max_capacity(keys).time_to_idle(IDLE).build();
        Self { quota: Quota::per_minute(per_minute), limiters }
    }

    fn count(&self, key: K) -> Result<(), Duration> {
        let limiter = self.limiters.get_with(key, || Arc::new(RateLimiter::direct(self.quota)));
        limiter.check().map_err(|until| until.wait_time_from(DefaultClock::default().now()))
    }
}

const IDLE: Duration = Duration::from_mins(2);

#[cfg(test)]
mod tests {
    use super::Limits;
    use crate::{GateConfig, Source};
    use narthex_core::AgentId;
    use uuid::Uuid;

    #[test]
    fn an_agent_has_its_own_allowance_and_sources_theirs() {
        let config =
            GateConfig { requests_per_minute: 3, failures_per_minute: 2, ..GateConfig::default() };
        let limits = Limits::new(&config);
        let (a, b) =
            (AgentId::from_uuid(Uuid::from_u128(1)), AgentId::from_uuid(Uuid::from_u128(2)));
        assert_eq!((0..5).filter(|_| limits.request(a).is_ok()).count(), 3);
        assert_eq!((0..5).filter(|_| limits.request(b).is_ok()).count(), 3);
        let far = Source::Address([203, 0, 113, 9].into());
        assert_eq!((0..5).filter(|_| limits.failure(far).is_ok()).count(), 2);
    }

    #[test]
    fn a_v6_network_is_one_source_and_mapped_v4_is_v4() {
        let at = |text: &str| text.parse().map(|ip| Source::Address(ip).key());
        assert_eq!(at("2001:db8::1"), at("2001:db8::ffff:1"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_eq!(at("::ffff:192.0.2.1"), at("192.0.2.1"));
    }
}
