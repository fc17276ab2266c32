//! How the house is.

use std::collections::BTreeSet;

use narthex_core::ProposalStatus;
use narthex_store::{ProposalFilter, StoreError, UnitOfWork};

use crate::Watched;

use super::{Desk, OwnerError, Reply, Status};

impl Desk {
    pub(super) async fn status(&self) -> Result<Reply, OwnerError> {
        let health = self.gate.health().await;
        let filter = ProposalFilter {
            statuses: vec![ProposalStatus::Pending],
            limit: u32::MAX,
            ..ProposalFilter::default()
        };
        let tainted: BTreeSet<_> =
            self.latches(None).await?.into_iter().map(|latch| latch.agent_id).collect();
        Ok(Reply::Status(Box::new(Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            holder: self.holder.to_string(),
            mcp_url: self.mcp_url.get().cloned(),
            mode: self.gate.mode(),
            settings_mode: self.gate.config().mode,
            stops: self.stops().await?,
            store: health.store,
            ledger: health.ledger,
            ledger_trouble: if health.ledger { None } else { Some(self.unwritable().await) },
            policy: health.policy,
            policies: self.gate.policy().count(),
            followers: self.followers.get().map(Watched::status).unwrap_or_default(),
            records: self.store().head().await?.map_or(0, |head| head.seq),
            spaces: self.store().spaces().await?.len(),
            agents: self.store().agents().await?.len(),
            tainted_agents: tainted.len(),
            open_proposals: self.store().proposals(&filter).await?.len(),
            waiting_approvals: self.approvals(None, false, u32::MAX).await?.len(),
            sessions: self.gate.keeps_sessions().then(|| self.gate.sessions().len()),
            servers: self.servers_status().await?,
        })))
    }

    /// Why nothing can be written: a unit of nothing changes nothing, and is refused like any other.
    async fn unwritable(&self) -> String {
        match self.store().commit(UnitOfWork::default()).await {
            Err(StoreError::Unavailable(why)) => why,
            Err(error) => error.to_string(),
            Ok(_) => "the last write failed; the next is tried".to_owned(),
        }
    }
}
