//! Looking at open matters when a house opens.

use narthex_core::{ApprovalId, ProposalId, RunId};
use narthex_store::RowKey;
use sqlx::SqliteConnection;

use super::{Matter, Matters, approval, approvals, proposal, proposals, run, runs};
use crate::fault::Fault;
use crate::rows::Fields;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The MAC of every open row that carries one.
    pub(crate) macs: Matters,
    /// Whose row is not genuine. A row without a MAC is not among them: the seal knows of it.
    pub(crate) edited: Vec<Matter>,
}

/// What the ledger calls the start that put those of before under the seal.
pub(crate) const SEALED: &str = "house.matters_sealed";

/// Looks at every row that says of itself that it is open.
pub(crate) async fn look(conn: &mut SqliteConnection, key: &RowKey) -> Result<Found, Fault> {
    let mut found = Found::default();
    for table in [APPROVALS, PROPOSALS, RUNS] {
        let mut after = Vec::new();
        loop {
            let rows =
                sqlx::query(table.after).bind(after.as_slice()).fetch_all(&mut *conn).await?;
            let Some(last) = rows.last() else { break };
            after = Fields(last).get::<&[u8]>("id")?.to_vec();
            for row in &rows {
                let row = Fields(row);
                let matter = (table.matter)(row)?;
                let mac = row.digest("mac").ok().filter(|mac| mac.as_bytes() != &[0; 32]);
                let Some(mac) = mac else { continue };
                // What the row carries is what was sealed, genuine or not.
                found.macs.keep(matter, mac);
                if !(table.is_genuine)(row, key) {
                    found.edited.push(matter);
                }
            }
        }
    }
    Ok(found)
}

/// A table with open matters in it.
struct Table {
    /// Some of the open ones after an id, in order.
    after: &'static str,
    matter: fn(Fields<'_>) -> Result<Matter, Fault>,
    is_genuine: fn(Fields<'_>, &RowKey) -> bool,
}

const APPROVALS: Table = Table {
    after: approvals!("WHERE status IN ('waiting', 'approved') AND id > ?1 ORDER BY id LIMIT 256"),
    matter: |row| row.id("id", ApprovalId::from_bytes).map(Matter::Approval),
    is_genuine: |row, key| approval(row, key).is_ok(),
};

const PROPOSALS: Table = Table {
    after: proposals!(
        "WHERE (p.status = 'pending' OR (p.status = 'conflict' AND p.merge IS NOT NULL))
           AND p.id > ?1 ORDER BY p.id LIMIT 256"
    ),
    matter: |row| row.id("id", ProposalId::from_bytes).map(Matter::Proposal),
    is_genuine: |row, key| proposal(row, key).is_ok(),
};

const RUNS: Table = Table {
    after: runs!("WHERE id > ?1 ORDER BY id LIMIT 256"),
    matter: |row| row.id("id", RunId::from_bytes).map(Matter::Run),
    is_genuine: |row, key| run(row, key).is_ok(),
};
