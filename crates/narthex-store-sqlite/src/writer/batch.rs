//! One transaction for all units that wait.

use narthex_store::{Committed, Effect, Effected, StoreError, UnitOfWork};
use sqlx::SqliteConnection;

use super::books::Books;
use super::{Writer, effects, guards};
use crate::fault::Fault;

type Answer = Result<Committed, StoreError>;

/// Why no unit of a batch was committed.
#[derive(Debug)]
pub(super) struct Abort {
    pub(super) message: String,
    /// The disk may hold something else than we think.
    pub(super) until_restart: bool,
}

impl From<Fault> for Abort {
    fn from(fault: Fault) -> Self {
        Self { message: StoreError::from(fault).to_string(), until_restart: false }
    }
}

impl Writer {
    /// Commits what can be committed and answers each unit, in order.
    pub(crate) async fn commit_all(&mut self, units: Vec<UnitOfWork>) -> Vec<Answer> {
        let count = units.len();
        if count == 0 {
            return Vec::new();
        }
        if !self.standing.is_writable() {
            return fail_all(count, NOT_UNTIL_RESTART);
        }
        match self.try_commit(units).await {
            Ok(answers) => answers,
            Err(abort) => {
                tracing::error!(error = abort.message, units = count, "a commit failed");
                if abort.until_restart {
                    self.standing.stop();
                }
                // SQLite may have rolled back by itself already.
                let _ = execute(&mut self.conn, "ROLLBACK").await;
                fail_all(count, &abort.message)
            }
        }
    }

    async fn try_commit(&mut self, units: Vec<UnitOfWork>) -> Result<Vec<Answer>, Abort> {
        // A batch of records alone needs nothing from the database before they are written, and
        // then begins and writes in one step: most batches are such.
        let plain = units.iter().all(|unit| unit.guards.is_empty() && unit.effect.is_none());
        if !plain {
            execute(&mut self.conn, "BEGIN IMMEDIATE").await?;
        }
        let mut books = Books::after(self.tail);
        let mut answers = Vec::with_capacity(units.len());
        for unit in units {
            answers.push(self.unit(&mut books, unit).await?);
        }
        if !books.changed {
            if !plain {
                execute(&mut self.conn, "ROLLBACK").await?;
            }
            return Ok(answers);
        }
        books.write(&mut self.conn, &self.head_key, !plain).await?;
        execute(&mut self.conn, "COMMIT")
            .await
            .map_err(|fault| Abort { until_restart: true, ..fault.into() })?;
        self.committed(&books);
        Ok(answers)
    }

    /// One unit: its guards, its effect, its records. The outer error ends the whole batch.
    async fn unit(&mut self, books: &mut Books, unit: UnitOfWork) -> Result<Answer, Abort> {
        if let Err(fault) = guards::check(&mut self.conn, &unit.guards).await {
            return apart(fault).map(Err);
        }
        // Sealing comes first because it touches nothing: a unit that falls afterwards has used
        // up no number.
        let sealed = match books.seal(unit.records, self.clock.now()) {
            Ok(sealed) => sealed,
            Err(fault) => return apart(fault).map(Err),
        };
        let effected = match unit.effect {
            None => Effected::Done,
            Some(effect) => match self.effect(books, effect).await? {
                Ok(effected) => effected,
                Err(refused) => return Ok(Err(refused)),
            },
        };
        let receipts = books.accept(sealed, &self.token_use);
        Ok(Ok(Committed { effected, receipts }))
    }

    /// Carries an effect out under a savepoint of its own.
    async fn effect(
        &mut self,
        books: &mut Books,
        effect: Effect,
    ) -> Result<Result<Effected, StoreError>, Abort> {
        let touches = effects::touches(&effect);
        execute(&mut self.conn, "SAVEPOINT unit").await?;
        match effects::apply(&mut self.conn, effect).await {
            Ok(effected) => {
                execute(&mut self.conn, "RELEASE unit").await?;
                books.changed = true;
                books.identity |= touches.identity;
                books.content |= touches.content;
                Ok(Ok(effected))
            }
            Err(fault) => {
                let refused = apart(fault)?;
                execute(&mut self.conn, "ROLLBACK TO unit").await?;
                execute(&mut self.conn, "RELEASE unit").await?;
                Ok(Err(refused))
            }
        }
    }

    /// The transaction is on the disk: now, and not before, the rest may follow it.
    fn committed(&mut self, books: &Books) {
        self.tail = books.tail;
        self.token_use.written(&books.uses);
        if books.identity {
            self.standing.identity_changed();
        }
        if books.content {
            self.standing.content_changed();
        }
        if !books.records.is_empty() {
            let head = self.head_key.head(self.tail.seq, self.tail.hash);
            if let Err(error) = self.head_file.write(&head) {
                // What is committed stays so, but a cut tail could no longer be seen.
                tracing::error!(%error, "the head file cannot be written; no more commits");
                self.standing.stop();
            }
        }
        self.commits.send_modify(|commits| *commits = commits.wrapping_add(1));
    }
}

/// A fault of one unit's own is its answer; a fault of the database ends the batch.
fn apart(fault: Fault) -> Result<StoreError, Abort> {
    match StoreError::from(fault) {
        StoreError::Unavailable(message) => Err(Abort { message, until_restart: false }),
        own => Ok(own),
    }
}

fn fail_all(count: usize, message: &str) -> Vec<Answer> {
    (0..count).map(|_| Err(StoreError::Unavailable(message.to_owned()))).collect()
}

async fn execute(conn: &mut SqliteConnection, sql: &'static str) -> Result<(), Fault> {
    sqlx::query(sql).execute(conn).await?;
    Ok(())
}

const NOT_UNTIL_RESTART: &str = "a flush to disk failed; nothing is written until a restart";
