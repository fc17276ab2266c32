//! How the house is.

use narthex_core::ProposalStatus;
use narthex_store::ProposalFilter;

use super::{Desk, OwnerError, Reply, Status};

impl Desk {
    pub(super) async fn status(&self) -> Result<Reply, OwnerError> {
        let health = self.gate.health().await;
        let filter = ProposalFilter {
            statuses: vec![ProposalStatus::Pending],
            limit: u32::MAX,
            ..ProposalFilter::default()
        };
        Ok(Reply::Status(Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            holder: self.holder.to_string(),
            mcp_url: self.mcp_url.get().cloned(),
            mode: self.gate.mode(),
            store: health.store,
            ledger: health.ledger,
            policy: health.policy,
            policies: self.gate.policy().count(),
            records: self.store().head().await?.map_or(0, |head| head.seq),
            spaces: self.store().spaces().await?.len(),
            agents: self.store().agents().await?.len(),
            open_proposals: self.store().proposals(&filter).await?.len(),
        }))
    }
}
