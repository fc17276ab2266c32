//! The seal moment: what must become durable in the same transaction as a batch, beside the
//! batch's own rows.
//!
//! Every batch that changed anything passes here once, after all of its units and before its
//! records are written: the numbers and the chain's new end are known ([`Books`]), nothing is
//! committed. What is due by now is written; what is not costs nothing. Whatever else is kept only
//! now and then over the ledger (checkpoints, see `checkpoints`) becomes durable with it too.

use super::Writer;
use super::batch::{Abort, execute, no_more};
use super::books::Books;
use crate::fault::Fault;
use crate::gate::write_seal;

impl Writer {
    /// Writes what is due with this batch.
    pub(super) async fn seal(&mut self, books: &mut Books) -> Result<(), Abort> {
        if books.gate_changed() {
            books.begin(&mut self.conn).await?;
            write_seal(&mut self.conn, &self.row_key, &books.gate).await?;
        }
        // After a start the accounts are added up from here on: nothing before may be needed.
        if books.pruned || self.budgets.is_due(books.tail.seq, self.clock.now()) {
            self.seal_accounts(books).await?;
        }
        Ok(())
    }

    /// Writes the accounts that changed since the last time, good for the batch's last record.
    pub(super) async fn seal_accounts(&mut self, books: &mut Books) -> Result<(), Fault> {
        let (tail, now) = (books.tail, self.clock.now());
        let closing = self.memory.with_accounts(|accounts| {
            self.budgets.close(&self.row_key, accounts, &books.charges, tail, now)
        })?;
        books.begin(&mut self.conn).await?;
        closing.write(&mut self.conn, &self.row_key).await?;
        books.closing = Some(closing);
        Ok(())
    }

    /// Writes the accounts when the writer ends. If that fails nothing is lost: the next start
    /// adds up what the ledger says.
    pub(super) async fn close_accounts(&mut self) {
        if !self.standing.is_writable() || !self.budgets.is_behind(self.tail.seq) {
            return;
        }
        let mut books = Books::after(self.tail, self.memory.gate(), self.reserves.clone());
        let sealed = self.seal_accounts(&mut books).await.map_err(Abort::from);
        let written = match sealed {
            Ok(()) => self.write(books).await,
            Err(abort) => Err(abort),
        };
        if let Err(abort) = written {
            tracing::warn!(error = abort.message, "the accounts were not written at the end");
            if abort.until_restart {
                self.standing.stop(no_more(&abort.message));
            }
            let _ = execute(&mut self.conn, "ROLLBACK").await;
        }
    }
}
