//! One transaction for all units that wait.

use std::collections::BTreeMap;

use narthex_core::{CallId, Phase, RecordDraft, Timestamp, TokenId};
use narthex_store::chain::{HeadKey, StoredRecord, seal};
use narthex_store::{Committed, Effect, Effected, Receipt, StoreError, UnitOfWork};
use sqlx::error::DatabaseError;
use sqlx::{AssertSqlSafe, SqliteConnection};

use super::{Tail, TokenUse, Writer, effects, guards};
use crate::fault::Fault;

type Answer = Result<Committed, StoreError>;

/// Why no unit of a batch was committed.
#[derive(Debug)]
struct Abort {
    message: String,
    /// The disk may hold something else than we think.
    until_restart: bool,
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
        execute(&mut self.conn, "BEGIN IMMEDIATE").await?;
        let mut batch = Batch::after(self.tail);
        let mut answers = Vec::with_capacity(units.len());
        for unit in units {
            answers.push(self.unit(&mut batch, unit).await?);
        }
        if !batch.changed {
            execute(&mut self.conn, "ROLLBACK").await?;
            return Ok(answers);
        }
        batch.write(&mut self.conn, &self.head_key).await?;
        execute(&mut self.conn, "COMMIT")
            .await
            .map_err(|fault| Abort { until_restart: true, ..fault.into() })?;
        self.committed(&batch);
        Ok(answers)
    }

    /// One unit: its guards, its effect, its records. The outer error ends the whole batch.
    async fn unit(&mut self, batch: &mut Batch, unit: UnitOfWork) -> Result<Answer, Abort> {
        if let Err(fault) = guards::check(&mut self.conn, &unit.guards).await {
            return apart(fault).map(Err);
        }
        // Sealing comes first because it touches nothing: a unit that falls afterwards has used
        // up no number.
        let sealed = match batch.seal(unit.records, self.clock.now()) {
            Ok(sealed) => sealed,
            Err(fault) => return apart(fault).map(Err),
        };
        let effected = match unit.effect {
            None => Effected::Done,
            Some(effect) => match self.effect(batch, effect).await? {
                Ok(effected) => effected,
                Err(refused) => return Ok(Err(refused)),
            },
        };
        let receipts = batch.accept(sealed, &self.token_use);
        Ok(Ok(Committed { effected, receipts }))
    }

    /// Carries an effect out under a savepoint of its own.
    async fn effect(
        &mut self,
        batch: &mut Batch,
        effect: Effect,
    ) -> Result<Result<Effected, StoreError>, Abort> {
        let identity = effects::touches_identity(&effect);
        execute(&mut self.conn, "SAVEPOINT unit").await?;
        match effects::apply(&mut self.conn, effect).await {
            Ok(effected) => {
                execute(&mut self.conn, "RELEASE unit").await?;
                batch.changed = true;
                batch.identity |= identity;
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
    fn committed(&mut self, batch: &Batch) {
        self.tail = batch.tail;
        self.token_use.written(&batch.uses);
        if batch.identity {
            self.standing.identity_changed();
        }
        if !batch.records.is_empty() {
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

/// What a batch will leave behind.
struct Batch {
    tail: Tail,
    records: Vec<StoredRecord>,
    opened: BTreeMap<CallId, u64>,
    closed: Vec<CallId>,
    uses: BTreeMap<TokenId, Timestamp>,
    identity: bool,
    changed: bool,
}

/// A record in its place, with what the books need to know of it.
struct Sealed {
    record: StoredRecord,
    phase: Phase,
    call: CallId,
    token: Option<TokenId>,
    at: Timestamp,
}

impl Batch {
    const fn after(tail: Tail) -> Self {
        Self {
            tail,
            records: Vec::new(),
            opened: BTreeMap::new(),
            closed: Vec::new(),
            uses: BTreeMap::new(),
            identity: false,
            changed: false,
        }
    }

    /// Gives drafts the numbers they would have.
    fn seal(&self, drafts: Vec<RecordDraft>, at: Timestamp) -> Result<Vec<Sealed>, Fault> {
        let mut tail = self.tail;
        drafts
            .into_iter()
            .map(|draft| {
                let (phase, call, token) = (draft.phase, draft.call, draft.token);
                let record = seal(draft, tail.seq + 1, at, tail.hash).map_err(Fault::damaged)?;
                tail = Tail { seq: record.seq, hash: record.hash };
                Ok(Sealed { record, phase, call, token, at })
            })
            .collect()
    }

    /// Takes a unit's records over.
    fn accept(&mut self, sealed: Vec<Sealed>, remembered: &TokenUse) -> Vec<Receipt> {
        let mut receipts = Vec::with_capacity(sealed.len());
        for Sealed { record, phase, call, token, at } in sealed {
            self.tail = Tail { seq: record.seq, hash: record.hash };
            self.changed = true;
            match phase {
                Phase::Intent => {
                    self.opened.insert(call, record.seq);
                }
                Phase::Outcome => {
                    if self.opened.remove(&call).is_none() {
                        self.closed.push(call);
                    }
                }
                Phase::Observed | Phase::Refused | Phase::Owner | Phase::House => {}
            }
            // The outcome of a call is no use of its own.
            if let Some(token) = token
                && phase != Phase::Outcome
                && remembered.is_news(token, at)
            {
                self.uses.insert(token, at);
            }
            receipts.push(Receipt::after_commit(record.seq, record.hash));
            self.records.push(record);
        }
        receipts
    }

    /// Few statements, however many records.
    async fn write(&self, conn: &mut SqliteConnection, key: &HeadKey) -> Result<(), Abort> {
        self.write_intents(conn).await?;
        self.write_uses(conn).await?;
        if self.records.is_empty() {
            return Ok(());
        }
        self.write_records(conn).await?;
        let head = key.head(self.tail.seq, self.tail.hash);
        sqlx::query(
            "INSERT INTO ledger_head (one, seq, hash, mac) VALUES (1, ?1, ?2, ?3)
             ON CONFLICT (one) DO UPDATE
                SET seq = excluded.seq, hash = excluded.hash, mac = excluded.mac",
        )
        .bind(number(head.seq)?)
        .bind(head.hash.as_bytes().as_slice())
        .bind(head.mac.as_bytes().as_slice())
        .execute(conn)
        .await
        .map_err(Fault::Sql)?;
        Ok(())
    }

    /// In powers of two, so that a handful of prepared statements serves every size of batch.
    async fn write_records(&self, conn: &mut SqliteConnection) -> Result<(), Abort> {
        let mut rest = self.records.as_slice();
        while !rest.is_empty() {
            let size = (1 << rest.len().ilog2()).min(MOST_ROWS);
            let (rows, after) = rest.split_at_checked(size).unwrap_or((rest, &[]));
            let sql = format!(
                "INSERT INTO ledger (seq, bytes, hash) VALUES (?, ?, ?){}",
                ", (?, ?, ?)".repeat(rows.len().saturating_sub(1))
            );
            let mut query = sqlx::query(AssertSqlSafe(sql));
            for row in rows {
                query = query
                    .bind(number(row.seq)?)
                    .bind(row.bytes.clone())
                    .bind(row.hash.as_bytes().as_slice());
            }
            query.execute(&mut *conn).await.map_err(record_fault)?;
            rest = after;
        }
        Ok(())
    }

    async fn write_intents(&self, conn: &mut SqliteConnection) -> Result<(), Fault> {
        if !self.closed.is_empty() {
            let calls: Vec<String> = self.closed.iter().map(|call| hex(call.as_bytes())).collect();
            sqlx::query(
                "DELETE FROM open_intents
                  WHERE call IN (SELECT unhex(value) FROM json_each(?1))",
            )
            .bind(serde_json::json!(calls).to_string())
            .execute(&mut *conn)
            .await?;
        }
        if !self.opened.is_empty() {
            let calls: Vec<(String, u64)> =
                self.opened.iter().map(|(call, seq)| (hex(call.as_bytes()), *seq)).collect();
            sqlx::query(
                "INSERT INTO open_intents (call, seq)
                 SELECT unhex(value ->> 0), value ->> 1 FROM json_each(?1) WHERE true
                 ON CONFLICT (call) DO NOTHING",
            )
            .bind(serde_json::json!(calls).to_string())
            .execute(conn)
            .await?;
        }
        Ok(())
    }

    async fn write_uses(&self, conn: &mut SqliteConnection) -> Result<(), Fault> {
        if self.uses.is_empty() {
            return Ok(());
        }
        let uses: Vec<(String, i64)> =
            self.uses.iter().map(|(token, at)| (hex(token.as_bytes()), at.as_millis())).collect();
        sqlx::query(
            "INSERT INTO token_use (token, at)
             SELECT t.id, u.value ->> 1
               FROM json_each(?1) u JOIN tokens t ON t.id = unhex(u.value ->> 0) WHERE true
             ON CONFLICT (token) DO UPDATE SET at = excluded.at",
        )
        .bind(serde_json::json!(uses).to_string())
        .execute(conn)
        .await?;
        Ok(())
    }
}

/// A number that is there already was written by someone else: this chain is no longer ours.
fn record_fault(error: sqlx::Error) -> Abort {
    let doubled = error.as_database_error().is_some_and(DatabaseError::is_unique_violation);
    Abort { until_restart: doubled, ..Fault::Sql(error).into() }
}

fn number(seq: u64) -> Result<i64, Fault> {
    i64::try_from(seq).map_err(Fault::damaged)
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

async fn execute(conn: &mut SqliteConnection, sql: &'static str) -> Result<(), Fault> {
    sqlx::query(sql).execute(conn).await?;
    Ok(())
}

const MOST_ROWS: usize = 256;
const NOT_UNTIL_RESTART: &str = "a flush to disk failed; nothing is written until a restart";
