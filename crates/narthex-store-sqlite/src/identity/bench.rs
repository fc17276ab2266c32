//! Changing these rows, and asking them, inside the writer's transaction.

use std::sync::Arc;

use sqlx::sqlite::SqliteRow;

use super::{AGENTS, Name, SPACES, Signed, TOKENS, Table};
use crate::fault::Fault;
use crate::gate::Bench;
use crate::rows::Fields;

impl Bench<'_> {
    /// A row that is genuine and the one written last. Any other is damage; one that is not there
    /// is none.
    pub(crate) async fn identity(
        &mut self,
        table: &'static Table,
        id: &[u8; 16],
    ) -> Result<Option<(SqliteRow, Signed)>, Fault> {
        let row =
            sqlx::query(table.by_id).bind(id.as_slice()).fetch_optional(&mut *self.conn).await?;
        let Some(row) = row else { return Ok(None) };
        let signed = Signed::current(Fields(&row), table, self.key, self.gate.identities())?;
        Ok(Some((row, signed)))
    }

    /// Puts the MAC on a row that was just written. It is over what was meant to be written.
    pub(crate) async fn sign(&mut self, row: &Signed) -> Result<(), Fault> {
        let (name, mac) = (row.name(), row.mac(self.key));
        sqlx::query(name.table().sign)
            .bind(name.id().as_slice())
            .bind(mac.as_bytes().as_slice())
            .execute(&mut *self.conn)
            .await?;
        Arc::make_mut(self.gate).identities_mut().keep(name, mac);
        Ok(())
    }

    /// Takes the MAC off a row that was found edited: nobody is served it from then on, and the
    /// next start need not say it again.
    pub(crate) async fn disown(&mut self, name: Name) -> Result<(), Fault> {
        sqlx::query(name.table().sign)
            .bind(name.id().as_slice())
            .bind(None::<&[u8]>)
            .execute(&mut *self.conn)
            .await?;
        Arc::make_mut(self.gate).identities_mut().forget(&name);
        Ok(())
    }
}

/// Puts the MAC on rows from before there was one. A row that does not even parse gets none, and is
/// damage from then on.
pub(crate) async fn seal_all(bench: &mut Bench<'_>) -> Result<(), Fault> {
    for table in [&SPACES, &AGENTS, &TOKENS] {
        let mut after = Vec::new();
        loop {
            let rows =
                sqlx::query(table.after).bind(after.as_slice()).fetch_all(&mut *bench.conn).await?;
            let Some(last) = rows.last() else { break };
            after = Fields(last).get::<&[u8]>("id")?.to_vec();
            for row in &rows {
                let unsigned = Fields(row).get::<Option<&[u8]>>(table.mac)?.is_none();
                if unsigned && let Ok(found) = Signed::found(Fields(row), table) {
                    bench.sign(&found).await?;
                }
            }
        }
    }
    Ok(())
}
