//! Reading, one repository a file. Reads run on their own connections and wait for no writer.

mod agents;
mod conversations;
mod ledger;
mod pages;
mod proposals;
mod search;
mod spaces;
mod tokens;

pub(crate) use proposals::PROPOSAL_BY_ID;

use narthex_store::StoreError;
use sqlx::sqlite::SqliteRow;

use crate::fault::Fault;
use crate::rows::Fields;

/// One row at most, parsed.
fn one<T>(
    row: Result<Option<SqliteRow>, sqlx::Error>,
    parse: fn(Fields<'_>) -> Result<T, Fault>,
) -> Result<Option<T>, StoreError> {
    let row = row.map_err(Fault::Sql)?;
    Ok(row.map(|row| parse(Fields(&row))).transpose()?)
}

/// Every row, parsed.
fn all<T>(
    rows: Result<Vec<SqliteRow>, sqlx::Error>,
    parse: fn(Fields<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, StoreError> {
    let rows = rows.map_err(Fault::Sql)?;
    Ok(rows.iter().map(|row| parse(Fields(row))).collect::<Result<_, _>>()?)
}
