//! Looking at these rows when a house opens.

use narthex_store::RowKey;
use sqlx::SqliteConnection;

use super::{AGENTS, Identities, Name, SPACES, Signed, TOKENS};
use crate::fault::Fault;
use crate::rows::Fields;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The MAC of every row that carries one.
    pub(crate) macs: Identities,
    /// Whose row is not genuine. A row without a MAC is not among them: the seal knows of it.
    pub(crate) edited: Vec<Name>,
}

/// What the ledger calls the start that put the MAC on rows from before there was one.
pub(crate) const SEALED: &str = "house.identities_sealed";

/// Looks at every row.
pub(crate) async fn look(conn: &mut SqliteConnection, key: &RowKey) -> Result<Found, Fault> {
    let mut found = Found::default();
    for table in [&SPACES, &AGENTS, &TOKENS] {
        let mut after = Vec::new();
        loop {
            let rows =
                sqlx::query(table.after).bind(after.as_slice()).fetch_all(&mut *conn).await?;
            let Some(last) = rows.last() else { break };
            after = Fields(last).get::<&[u8]>("id")?.to_vec();
            for row in &rows {
                let row = Fields(row);
                let name = (table.name_of)(row.get("id")?).map_err(Fault::damaged)?;
                if row.get::<Option<&[u8]>>(table.mac)?.is_none() {
                    continue;
                }
                // What the row carries is what was sealed, genuine or not.
                if let Ok(mac) = row.digest(table.mac) {
                    found.macs.keep(name, mac);
                }
                if Signed::genuine(row, table, key).is_err() {
                    found.edited.push(name);
                }
            }
        }
    }
    Ok(found)
}
