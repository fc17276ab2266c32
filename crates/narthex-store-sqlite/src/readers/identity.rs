//! Rows of agents, tokens and spaces: served only if they are genuine and as they were last written.

use std::sync::Arc;
use std::time::Duration;

use narthex_store::StoreError;
use sqlx::sqlite::SqliteRow;

use crate::SqliteStore;
use crate::fault::Fault;
use crate::gate::Gate;
use crate::identity::{Signed, Table, older};
use crate::rows::Fields;

/// What was known of these rows before they were read.
pub(super) struct Known<'a> {
    store: &'a SqliteStore,
    gate: Arc<Gate>,
}

impl SqliteStore {
    /// To be asked for before the rows are read.
    pub(super) fn known(&self) -> Known<'_> {
        Known { store: self, gate: self.gate.gate() }
    }
}

impl Known<'_> {
    /// One row at most, with what of these tables is in it.
    pub(super) async fn one<T>(
        &self,
        row: Result<Option<SqliteRow>, sqlx::Error>,
        tables: &[&'static Table],
        parse: impl Fn(Fields<'_>) -> Result<T, Fault>,
    ) -> Result<Option<T>, StoreError> {
        let Some(row) = row.map_err(Fault::Sql)? else { return Ok(None) };
        for table in tables {
            self.check(&row, table).await?;
        }
        Ok(Some(parse(Fields(&row))?))
    }

    /// Every row that holds.
    pub(super) async fn sound<T>(
        &self,
        rows: Result<Vec<SqliteRow>, sqlx::Error>,
        table: &'static Table,
        parse: impl Fn(Fields<'_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, StoreError> {
        let mut sound = Vec::new();
        for row in rows.map_err(Fault::Sql)? {
            match self.check(&row, table).await {
                Ok(()) => sound.push(row),
                Err(fault) => super::left_out(fault),
            }
        }
        super::sound(Ok(sound), parse)
    }

    /// A row may be newer than what was known before it was read: the writer says so right after
    /// the commit, and is waited for.
    async fn check(&self, row: &SqliteRow, table: &'static Table) -> Result<(), Fault> {
        let (found, mac) = Signed::genuine(Fields(row), table, &self.store.row_key)?;
        let name = found.name();
        if self.gate.identities().holds(&name, &mac) {
            return Ok(());
        }
        for _ in 0..LOOKS {
            if self.store.gate.gate().identities().holds(&name, &mac) {
                return Ok(());
            }
            tokio::time::sleep(BETWEEN).await;
        }
        Err(older(&name))
    }
}

const LOOKS: usize = 10;
const BETWEEN: Duration = Duration::from_millis(2);
