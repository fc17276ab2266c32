//! Parked runs.

use async_trait::async_trait;
use narthex_core::{Digest, Holder, ParkedRun, RunId};
use narthex_store::{ParkedRuns, StoreError};

use super::matter::Listed;
use crate::SqliteStore;
use crate::fault::Fault;
use crate::matter::{self, RUN_BY_ID, runs};

#[async_trait]
impl ParkedRuns for SqliteStore {
    async fn parked_run(&self, holder: Holder, id: RunId) -> Result<Option<ParkedRun>, StoreError> {
        let found = self.matter(RUN_BY_ID, &[Some(id.as_bytes().as_slice())], matter::run).await?;
        Ok(found.filter(|run| run.holder == holder))
    }

    async fn parked_runs(&self, holder: Option<Holder>) -> Result<Vec<ParkedRun>, StoreError> {
        let known = self.gate.gate();
        let agent = holder.map(|holder| holder.agent);
        let rows = sqlx::query(LIST)
            .bind(agent.as_ref().map(|agent| agent.as_bytes().as_slice()))
            .fetch_all(&self.readers)
            .await;
        let listed = Listed { known, by_id: RUN_BY_ID, read: matter::run };
        let wanted = |run: &ParkedRun| holder.is_none_or(|holder| run.holder == holder);
        let found = self.matters(rows, &listed, wanted).await?;
        Ok(found.into_iter().filter(wanted).collect())
    }

    async fn parked_run_asked(
        &self,
        holder: Holder,
        asked: Digest,
    ) -> Result<Option<ParkedRun>, StoreError> {
        let id: Option<Vec<u8>> = sqlx::query_scalar(ASKED)
            .bind(holder.agent.as_bytes().as_slice())
            .bind(holder.space.as_ref().map(|space| space.as_bytes().as_slice()))
            .bind(asked.as_bytes().as_slice())
            .fetch_optional(&self.readers)
            .await
            .map_err(Fault::from)?;
        let Some(id) = id else { return Ok(None) };
        let found = self.matter(RUN_BY_ID, &[Some(id.as_slice())], matter::run).await?;
        Ok(found.filter(|run| run.holder == holder && run.asked == asked))
    }
}

const ASKED: &str = "SELECT id FROM runs WHERE agent = ?1 AND space IS ?2 AND asked = ?3
                      ORDER BY id DESC LIMIT 1";

const LIST: &str = runs!("WHERE ?1 IS NULL OR agent = ?1 ORDER BY id");
