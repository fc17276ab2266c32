//! Stage one: whose credential is this?

use std::time::{Duration, Instant};

use narthex_core::{Actor, Principal, Reason, Transport};
use narthex_store::UnitOfWork;

use super::Admitted;
use super::record::Trace;
use super::tally::{Tallied, TallyKey};
use crate::gate::new_call;
use crate::{Gate, Presented, Source, Verified, VerifyError};

/// An agent whose credential is good.
#[derive(Debug, Clone)]
pub struct Identified {
    pub(crate) principal: Principal,
    pub(crate) transport: Transport,
}

/// A request that goes no further than the door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub reason: Reason,
    /// When to come back, where that helps.
    pub retry_after: Option<Duration>,
}

impl Refusal {
    pub(crate) const fn because(reason: Reason) -> Self {
        Self { reason, retry_after: None }
    }
}

impl Gate {
    /// Says who is knocking, or why nobody is let in.
    pub async fn identify(&self, presented: Presented<'_>) -> Result<Identified, Refusal> {
        let verified = match presented.bearer {
            None => Err(VerifyError::Bad),
            Some(bearer) => self.inner().verifier.verify(bearer).await,
        };
        match verified {
            Ok(Verified::Agent { agent, token }) => Ok(Identified {
                principal: Principal { agent, token: Some(token) },
                transport: Transport::Http,
            }),
            Ok(Verified::Owner) => {
                Err(self.turn_away(presented.source, Reason::AgentRequired).await)
            }
            Err(VerifyError::Bad) => {
                Err(self.turn_away(presented.source, Reason::Unauthorized).await)
            }
            Err(VerifyError::Unavailable(why)) => {
                tracing::error!(%why, "credentials cannot be checked");
                Err(Refusal::because(Reason::Unavailable))
            }
        }
    }

    /// Whether it is the owner who comes with this. Who else it may be makes no difference.
    pub async fn identify_owner(&self, presented: Presented<'_>) -> Result<(), Refusal> {
        let verified = match presented.bearer {
            None => Err(VerifyError::Bad),
            Some(bearer) => self.inner().verifier.verify(bearer).await,
        };
        match verified {
            Ok(Verified::Owner) => Ok(()),
            Ok(Verified::Agent { .. }) | Err(VerifyError::Bad) => {
                Err(self.turn_away(presented.source, Reason::Unauthorized).await)
            }
            Err(VerifyError::Unavailable(why)) => {
                tracing::error!(%why, "credentials cannot be checked");
                Err(Refusal::because(Reason::Unavailable))
            }
        }
    }

    /// A request that the edge refused before asking who it was: counted, and the first of a
    /// window in the ledger at once.
    pub async fn refused_at_the_edge(&self, reason: Reason) {
        self.tally(&Actor::Nobody, None, reason, Transport::Http).await;
    }

    /// The same for a request of an agent that was let in, before its message was read or because
    /// there was no room for it.
    pub async fn refused_unread(&self, admitted: &Admitted, reason: Reason) {
        let agent = admitted.principal.agent.as_ref();
        self.tally(&Actor::from(agent), Some(agent.id), reason, admitted.transport).await;
    }

    /// Counts a failed attempt; the first of a window is in the ledger at once.
    async fn turn_away(&self, source: Source, reason: Reason) -> Refusal {
        let refusal = match self.inner().limits.failure(source) {
            Ok(()) => Refusal::because(reason),
            Err(wait) => Refusal { reason: Reason::RateLimited, retry_after: Some(wait) },
        };
        self.tally(&Actor::Nobody, None, refusal.reason, Transport::Http).await;
        refusal
    }

    /// Records or counts a refusal of which there may be very many.
    pub(crate) async fn tally(
        &self,
        actor: &Actor,
        agent: Option<narthex_core::AgentId>,
        reason: Reason,
        transport: Transport,
    ) {
        let key = TallyKey { agent, reason, transport };
        if let Tallied::Record(count) = self.inner().tally.add(key, actor, now()) {
            self.record_tally(key, actor.clone(), count).await;
        }
    }

    /// Writes down what was only counted, for windows that have ended.
    pub async fn settle_refusals(&self) {
        for (key, actor, count) in self.inner().tally.take(now(), false) {
            self.record_tally(key, actor, count).await;
        }
    }

    pub(crate) async fn flush_refusals(&self) {
        for (key, actor, count) in self.inner().tally.take(now(), true) {
            self.record_tally(key, actor, count).await;
        }
    }

    async fn record_tally(&self, key: TallyKey, actor: Actor, count: u64) {
        let draft = Trace::door(new_call(), actor, key.transport).refused(key.reason, count);
        let unit = UnitOfWork::records(vec![draft]);
        if let Err(error) = self.inner().store.commit(unit).await {
            tracing::error!(%error, "a refusal could not be recorded");
        }
    }
}

fn now() -> Instant {
    Instant::now()
}
