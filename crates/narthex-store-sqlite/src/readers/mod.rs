//! Reading, one repository a file. Reads run on their own connections and wait for no writer.

mod agents;
mod approvals;
mod conversations;
mod damage;
mod gate_books;
mod identity;
mod ledger;
mod matter;
mod pages;
mod proposals;
mod runs;
mod search;
mod spaces;
mod tokens;

use narthex_store::StoreError;
use sqlx::sqlite::SqliteRow;

use crate::fault::Fault;
use crate::rows::Fields;

/// One row at most, parsed.
fn one<T>(
    row: Result<Option<SqliteRow>, sqlx::Error>,
    parse: impl Fn(Fields<'_>) -> Result<T, Fault>,
) -> Result<Option<T>, StoreError> {
    let row = row.map_err(Fault::Sql)?;
    Ok(row.map(|row| parse(Fields(&row))).transpose()?)
}

/// Every row, parsed.
fn all<T>(
    rows: Result<Vec<SqliteRow>, sqlx::Error>,
    parse: impl Fn(Fields<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, StoreError> {
    let rows = rows.map_err(Fault::Sql)?;
    Ok(rows.iter().map(|row| parse(Fields(row))).collect::<Result<_, _>>()?)
}

/// Every row that holds. One that was changed from outside is left out and told in the log: it
/// must not hide the others.
fn sound<T>(
    rows: Result<Vec<SqliteRow>, sqlx::Error>,
    parse: impl Fn(Fields<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, StoreError> {
    let rows = rows.map_err(Fault::Sql)?;
    Ok(rows.iter().filter_map(|row| parse(Fields(row)).map_err(left_out).ok()).collect())
}

fn left_out(why: impl Into<StoreError>) {
    let error: StoreError = why.into();
    tracing::error!(%error, "a row is left out; run `narthex doctor`");
}
