//! Rows that were changed from outside, for whoever looks after the house.

use std::collections::BTreeSet;

use async_trait::async_trait;
use narthex_core::{ApprovalId, ProposalId, RunId};
use narthex_store::chain::StoredRecord;
use narthex_store::{Approvals as _, LedgerReader as _, Proposals as _, Soundness, StoreError};

use crate::SqliteStore;
use crate::fault::Fault;
use crate::gate::{DAMAGED, Gate};
use crate::identity::{AGENTS, Name, SPACES, Signed, TOKENS, Table};
use crate::matter::{self, Matter, RUN_BY_ID, approvals, proposals, runs};
use crate::rows::Fields;

#[async_trait]
impl Soundness for SqliteStore {
    async fn damaged_rows(&self) -> Result<Vec<String>, StoreError> {
        let mut damaged = Vec::new();
        for kind in KINDS {
            // Known before the rows are read: what changes meanwhile is asked for again below.
            let gate = self.gate.gate();
            for id in self.suspects(kind, &gate).await? {
                damaged.extend(self.ask_again(kind, &id).await?);
            }
        }
        damaged.extend(crate::graphs::damaged(&self.readers, &self.row_key).await?);
        Ok(damaged)
    }

    async fn newest_damage(&self) -> Result<Option<StoredRecord>, StoreError> {
        // Quotes inside a text are escaped, so no text of a caller's can look like this.
        let seq: Option<i64> = sqlx::query_scalar(
            "SELECT seq FROM ledger
              WHERE instr(bytes, CAST(?1 AS BLOB)) > 0 AND instr(bytes, CAST(?2 AS BLOB)) > 0
              ORDER BY seq DESC LIMIT 1",
        )
        .bind(format!("\"tool\":\"{DAMAGED}\""))
        .bind("\"phase\":\"house\"")
        .fetch_optional(&self.readers)
        .await
        .map_err(Fault::Sql)?;
        let Some(seq) = seq.and_then(|seq| u64::try_from(seq).ok()) else { return Ok(None) };
        Ok(self.records(seq, 1).await?.pop())
    }
}

impl SqliteStore {
    /// The ids of rows that do not hold, and of those that are known and not there.
    async fn suspects(&self, kind: Kind, gate: &Gate) -> Result<BTreeSet<Vec<u8>>, StoreError> {
        let mut suspects = kind.known(gate);
        let mut after = Vec::new();
        loop {
            let rows =
                sqlx::query(kind.after()).bind(after.as_slice()).fetch_all(&self.readers).await;
            let rows = rows.map_err(Fault::Sql)?;
            let Some(last) = rows.last() else { return Ok(suspects) };
            after = Fields(last).get::<&[u8]>("id")?.to_vec();
            for row in &rows {
                let id = Fields(row).get::<&[u8]>("id")?;
                if self.holds(kind, Fields(row), gate) {
                    suspects.remove(id);
                } else {
                    suspects.insert(id.to_vec());
                }
            }
        }
    }

    fn holds(&self, kind: Kind, row: Fields<'_>, gate: &Gate) -> bool {
        let (key, matters) = (&self.row_key, gate.matters());
        match kind {
            Kind::Approvals => {
                matter::approval(row, key).is_ok_and(|found| found.is_current(matters))
            }
            Kind::Proposals => {
                matter::proposal(row, key).is_ok_and(|found| found.is_current(matters))
            }
            Kind::Runs => matter::run(row, key).is_ok_and(|found| found.is_current(matters)),
            Kind::Identities(table) => Signed::current(row, table, key, gate.identities()).is_ok(),
        }
    }

    /// What is wrong with one, if it is not as it should be now either.
    async fn ask_again(&self, kind: Kind, id: &[u8]) -> Result<Option<String>, StoreError> {
        let found = match kind {
            Kind::Approvals => {
                let id = ApprovalId::from_bytes(id).map_err(Fault::damaged)?;
                self.approval(id).await.map(|found| found.map(drop))
            }
            Kind::Proposals => {
                let id = ProposalId::from_bytes(id).map_err(Fault::damaged)?;
                self.proposal(id).await.map(|found| found.map(drop))
            }
            Kind::Runs => {
                let found = self.matter(RUN_BY_ID, &[Some(id)], matter::run).await;
                found.map(|found| found.map(drop))
            }
            Kind::Identities(table) => {
                let known = self.known();
                let row = sqlx::query(table.by_id).bind(id).fetch_optional(&self.readers).await;
                known.one(row, &[table], |_| Ok(())).await
            }
        };
        match found {
            Ok(Some(())) => Ok(None),
            Ok(None) => Ok(kind.gone(&self.gate.gate(), id)),
            Err(damaged @ StoreError::Damaged(_)) => Ok(Some(damaged.to_string())),
            Err(other) => Err(other),
        }
    }
}

/// What is looked through.
#[derive(Clone, Copy)]
enum Kind {
    Approvals,
    Proposals,
    Runs,
    Identities(&'static Table),
}

impl Kind {
    /// Some rows after an id, in order.
    const fn after(self) -> &'static str {
        match self {
            Self::Approvals => approvals!("WHERE id > ?1 ORDER BY id LIMIT 256"),
            Self::Proposals => proposals!("WHERE p.id > ?1 ORDER BY p.id LIMIT 256"),
            Self::Runs => runs!("WHERE id > ?1 ORDER BY id LIMIT 256"),
            Self::Identities(table) => table.after,
        }
    }

    /// The ids of all that must be there.
    fn known(self, gate: &Gate) -> BTreeSet<Vec<u8>> {
        let matter = |matter: &Matter| match (self, matter) {
            (Self::Approvals, Matter::Approval(id)) => Some(id.as_bytes().to_vec()),
            (Self::Proposals, Matter::Proposal(id)) => Some(id.as_bytes().to_vec()),
            (Self::Runs, Matter::Run(id)) => Some(id.as_bytes().to_vec()),
            _ => None,
        };
        let identity = |name: &Name| match self {
            Self::Identities(table) if name.table().name == table.name => Some(name.id().to_vec()),
            _ => None,
        };
        let matters = gate.matters().names().filter_map(matter);
        matters.chain(gate.identities().names().filter_map(identity)).collect()
    }

    /// What is said of a row that is not there, if it must be.
    fn gone(self, gate: &Gate, id: &[u8]) -> Option<String> {
        let what = match self {
            Self::Approvals => Matter::Approval(ApprovalId::from_bytes(id).ok()?).to_string(),
            Self::Proposals => Matter::Proposal(ProposalId::from_bytes(id).ok()?).to_string(),
            Self::Runs => Matter::Run(RunId::from_bytes(id).ok()?).to_string(),
            Self::Identities(table) => (table.name_of)(id).ok()?.to_string(),
        };
        self.known(gate).contains(id).then(|| format!("{what} was taken away from outside"))
    }
}

const KINDS: [Kind; 6] = [
    Kind::Approvals,
    Kind::Proposals,
    Kind::Runs,
    Kind::Identities(&SPACES),
    Kind::Identities(&AGENTS),
    Kind::Identities(&TOKENS),
];
