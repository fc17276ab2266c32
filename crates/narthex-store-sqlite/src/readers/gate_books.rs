//! What the gate remembers of agents: from memory, as it is asked on every call.

use std::sync::Arc;

use async_trait::async_trait;
use narthex_core::{AgentId, Digest, Holder, Latch, Mode, ServerBook, Spent, Switches, Taint};
use narthex_store::{GateBooks, StoreError};

use crate::SqliteStore;
use crate::fault::Fault;

#[async_trait]
impl GateBooks for SqliteStore {
    async fn latch(&self, holder: Holder) -> Result<Latch, StoreError> {
        Ok(self.gate.gate().latch(&holder).cloned().unwrap_or_default())
    }

    async fn taint(&self, holder: Holder) -> Result<Taint, StoreError> {
        Ok(self.gate.gate().taint(&holder))
    }

    async fn latches_of(&self, agent: AgentId) -> Result<Vec<(Holder, Latch)>, StoreError> {
        let gate = self.gate.gate();
        Ok(gate.latches_of(agent).map(|(holder, latch)| (*holder, latch.clone())).collect())
    }

    async fn latches(&self) -> Result<Vec<(Holder, Latch)>, StoreError> {
        let gate = self.gate.gate();
        Ok(gate.latches().map(|(holder, latch)| (*holder, latch.clone())).collect())
    }

    async fn spent(&self, holder: Holder) -> Result<Spent, StoreError> {
        let spent = |account: &crate::gate::Account| account.spent.clone();
        Ok(self.gate.with_accounts(|all| all.get(&holder).map(spent)).unwrap_or_default())
    }

    async fn switches(&self) -> Result<Switches, StoreError> {
        Ok(self.gate.gate().switches().clone())
    }

    async fn servers(&self) -> Result<Arc<ServerBook>, StoreError> {
        Ok(Arc::clone(self.gate.gate().servers()))
    }

    async fn definition(&self, digest: Digest) -> Result<Option<String>, StoreError> {
        let text: Option<String> =
            sqlx::query_scalar("SELECT text FROM definitions WHERE digest = ?1")
                .bind(digest.as_bytes().as_slice())
                .fetch_optional(&self.readers)
                .await
                .map_err(Fault::Sql)?;
        Ok(text.filter(|text| Digest::of(text.as_bytes()) == digest))
    }

    async fn noted_mode(&self) -> Result<Option<(Mode, Option<Mode>)>, StoreError> {
        Ok(self.gate.gate().mode())
    }
}
