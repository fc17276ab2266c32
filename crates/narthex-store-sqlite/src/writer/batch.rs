//! One transaction for all units that wait.

use std::sync::Arc;

use narthex_store::{Committed, Effect, Effected, Guard, StoreError, UnitOfWork};
use sqlx::SqliteConnection;

use super::books::{Books, Sealed};
use super::effects::latches::{arm, would_arm};
use super::{Writer, effects, guards};
use crate::fault::Fault;
use crate::gate::{Bench, Gate};

type Answer = Result<Committed, StoreError>;

/// Why no unit of a batch was committed.
#[derive(Debug)]
pub(super) struct Abort {
    pub(super) message: String,
    /// The disk may hold something else than we think.
    pub(super) until_restart: bool,
    /// The disk failed, or was full.
    pub(super) of_disk: bool,
}

impl From<Fault> for Abort {
    fn from(fault: Fault) -> Self {
        let of_disk = fault.is_of_disk();
        Self { message: StoreError::from(fault).to_string(), until_restart: false, of_disk }
    }
}

impl Writer {
    /// Commits what can be committed and answers each unit, in order.
    pub(crate) async fn commit_all(&mut self, units: Vec<UnitOfWork>) -> Vec<Answer> {
        let count = units.len();
        if count == 0 {
            return Vec::new();
        }
        self.look_at_hands().await;
        if let Some(why) = self.standing.stopped() {
            return fail_all(count, why);
        }
        match self.try_commit(units).await {
            Ok(answers) => answers,
            Err(abort) => {
                tracing::error!(error = abort.message, units = count, "a commit failed");
                self.standing.failing(true);
                if abort.until_restart {
                    self.standing.stop(no_more(&abort.message));
                }
                // SQLite may have rolled back by itself already.
                let _ = execute(&mut self.conn, "ROLLBACK").await;
                self.forget_hands(abort.of_disk).await;
                fail_all(count, &abort.message)
            }
        }
    }

    async fn try_commit(&mut self, units: Vec<UnitOfWork>) -> Result<Vec<Answer>, Abort> {
        let mut books = Books::after(self.tail, self.memory.gate(), self.reserves.clone());
        let mut answers = Vec::with_capacity(units.len());
        for unit in units {
            answers.push(self.unit(&mut books, unit).await?);
        }
        if books.changed {
            self.seal(&mut books).await?;
            self.write(books).await?;
        } else if books.begun {
            execute(&mut self.conn, "ROLLBACK").await?;
        }
        Ok(answers)
    }

    /// Writes what a batch leaves behind, and ends the transaction.
    pub(super) async fn write(&mut self, mut books: Books) -> Result<(), Abort> {
        self.checkpoint(&mut books).await?;
        books.write(&mut self.conn, &self.head_key, &self.row_key).await?;
        if let Some(missing) = self.places.missing() {
            let message = format!("{} is gone from its place", missing.display());
            return Err(Abort { message, until_restart: true, of_disk: false });
        }
        self.standing.failing(false);
        self.probe.told();
        self.committed(books);
        Ok(())
    }

    /// One unit: its guards, its effect, its records. The outer error ends the whole batch.
    ///
    /// What changes a row runs under a savepoint of its own, so that a unit that is refused
    /// halfway leaves nothing; what only looks and appends needs none.
    async fn unit(&mut self, books: &mut Books, unit: UnitOfWork) -> Result<Answer, Abort> {
        let arms = unit.arms.as_ref().is_some_and(|arming| would_arm(&books.gate, arming));
        let burns = unit.guards.iter().any(|guard| matches!(guard, Guard::Approved { .. }));
        let changes = unit.effect.is_some() || arms || burns;
        if changes || unit.guards.iter().any(|guard| !self.known.answers(guard, &books.gate)) {
            books.begin(&mut self.conn).await?;
        }
        if changes {
            execute(&mut self.conn, "SAVEPOINT unit").await?;
        }
        books.pruned |= matches!(unit.effect, Some(Effect::PruneLedger { .. }));
        let touches = unit.effect.as_ref().map(effects::touches).unwrap_or_default();
        let reserves = guards::reserves(&unit.records);
        let mut gate = Arc::clone(&books.gate);
        match self.attempt(books, &mut gate, unit).await {
            Ok((effected, sealed)) => {
                if changes {
                    execute(&mut self.conn, "RELEASE unit").await?;
                }
                books.changed |= changes;
                books.identity |= touches.identity;
                books.content |= touches.content;
                books.graphs |= touches.graphs;
                books.gate = gate;
                for (call, held) in reserves {
                    books.reserves.hold(call, held);
                }
                let receipts = books.accept(sealed, &self.token_use);
                Ok(Ok(Committed { effected, receipts }))
            }
            Err(fault) => {
                let refused = apart(fault)?;
                if changes {
                    execute(&mut self.conn, "ROLLBACK TO unit").await?;
                    execute(&mut self.conn, "RELEASE unit").await?;
                }
                Ok(Err(refused))
            }
        }
    }

    /// Tries a unit. `gate` is what the gate's state will be if it stands.
    async fn attempt(
        &mut self,
        books: &Books,
        gate: &mut Arc<Gate>,
        unit: UnitOfWork,
    ) -> Result<(Effected, Vec<Sealed>), Fault> {
        let mut bench = Bench { conn: &mut self.conn, key: &self.row_key, gate };
        let known = &mut self.known;
        guards::Check { books, memory: &self.memory, records: &unit.records, known }
            .all(&mut bench, &unit.guards)
            .await?;
        let checked = guards::checked_window(&unit.guards);
        let sealed = books.seal(unit.records, checked, self.clock.now())?;
        let effected = match unit.effect {
            None => Effected::Done,
            Some(effect) => effects::apply(&mut bench, &self.seal_key, effect).await?,
        };
        if let Some(arming) = &unit.arms {
            arm(&mut bench, arming).await?;
        }
        Ok((effected, sealed))
    }

    /// The transaction is on the disk: now, and not before, the rest may follow it.
    fn committed(&mut self, mut books: Books) {
        self.tail = books.tail;
        self.checkpoints.committed(books.checkpoints.take());
        if books.gate_changed() {
            self.memory.replace_gate(Arc::clone(&books.gate));
        }
        self.memory.charge(&books.charges);
        self.reserves = books.reserves;
        match books.closing {
            Some(closing) => self.budgets = closing.into_books(),
            None => self.budgets.charged(&books.charges),
        }
        self.token_use.written(&books.uses);
        if books.identity {
            self.standing.identity_changed();
        }
        if books.content {
            self.standing.content_changed();
        }
        if books.graphs {
            self.standing.graphs_changed();
        }
        if !books.records.is_empty() {
            let head = self.head_key.head(self.tail.seq, self.tail.hash);
            if let Err(error) = self.head_file.write(&head) {
                // What is committed stays so, but a cut tail could no longer be seen.
                tracing::error!(%error, "the head file cannot be written; no more commits");
                self.standing.stop(no_more("the head file cannot be written"));
            }
        }
        self.commits.send_modify(|commits| *commits = commits.wrapping_add(1));
    }
}

/// A fault of one unit's own is its answer; a fault of the database ends the batch.
fn apart(fault: Fault) -> Result<StoreError, Abort> {
    let of_disk = fault.is_of_disk();
    match StoreError::from(fault) {
        StoreError::Unavailable(message) => Err(Abort { message, until_restart: false, of_disk }),
        own => Ok(own),
    }
}

pub(super) fn fail_all(count: usize, message: &str) -> Vec<Answer> {
    (0..count).map(|_| Err(StoreError::Unavailable(message.to_owned()))).collect()
}

pub(super) async fn execute(conn: &mut SqliteConnection, sql: &'static str) -> Result<(), Fault> {
    sqlx::query(sql).execute(conn).await?;
    Ok(())
}

/// What everyone is told after this.
pub(super) fn no_more(why: &str) -> String {
    format!("{why}; nothing is written until a restart")
}

#[cfg(test)]
mod tests;
