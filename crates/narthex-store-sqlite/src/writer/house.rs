//! What the house does to its own state when it opens.

use std::sync::Arc;

use narthex_core::RecordDraft;
use narthex_store::StoreError;

use super::Writer;
use super::batch::{Abort, execute};
use super::books::Books;
use super::effects::{approvals, proposals, runs};
use crate::gate::{Bench, Gate, rewrite};
use crate::identity::{self, Name};
use crate::matter::Matter;

/// A change to the house's own state, with the records of it: one transaction.
#[derive(Debug, Default)]
pub(crate) struct Upkeep {
    /// What the ledger says of it.
    pub(crate) records: Vec<RecordDraft>,
    /// Whether the accounts are laid down anew.
    pub(crate) accounts: bool,
    /// The gate's state, laid down anew. What is below belongs to it.
    pub(crate) gate: Option<Gate>,
    /// Whether proposals from before there were MACs get theirs.
    pub(crate) proposals: bool,
    /// Whether agents, tokens and spaces from before do.
    pub(crate) identities: bool,
    /// Whose row was edited and loses its MAC.
    pub(crate) disowned: Vec<Name>,
    /// Likewise among open matters.
    pub(crate) disowned_matters: Vec<Matter>,
    /// Whether no approval counts any more, and no run goes on.
    pub(crate) void_matters: bool,
}

impl Writer {
    /// All of it, or nothing.
    pub(crate) async fn keep_house(&mut self, upkeep: Upkeep) -> Result<(), StoreError> {
        let kept = self.try_keep_house(upkeep).await;
        kept.map_err(|abort| {
            // The house does not open; dropping the connection undoes what was begun.
            StoreError::Unavailable(abort.message)
        })
    }

    async fn try_keep_house(&mut self, upkeep: Upkeep) -> Result<(), Abort> {
        let mut books = Books::after(self.tail, self.memory.gate(), self.reserves.clone());
        books.begin(&mut self.conn).await?;
        if let Some(gate) = upkeep.gate {
            books.gate = Arc::new(gate);
            let (key, gate) = (&self.row_key, &mut books.gate);
            let mut bench = Bench { conn: &mut self.conn, key, gate };
            if upkeep.proposals {
                proposals::seal_all(&mut bench).await?;
            }
            if upkeep.identities {
                identity::seal_all(&mut bench).await?;
            }
            for name in upkeep.disowned {
                bench.disown(name).await?;
            }
            for matter in upkeep.disowned_matters {
                bench.disown_matter(matter).await?;
            }
            if upkeep.void_matters {
                approvals::void_all(&mut bench).await?;
                runs::end_all(&mut bench).await?;
            }
            rewrite(&mut self.conn, key, &mut books.gate).await?;
        }
        let sealed = books.seal(upkeep.records, None, self.clock.now())?;
        books.accept(sealed, &self.token_use);
        if upkeep.accounts {
            execute(&mut self.conn, "DELETE FROM budgets").await?;
            self.seal_accounts(&mut books).await?;
        }
        self.write(books).await
    }
}
