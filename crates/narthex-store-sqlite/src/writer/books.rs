//! What a batch leaves behind: records in their places, the head, and the books kept on them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use narthex_core::{CallId, Digest, Holder, Phase, RecordDraft, Timestamp, TokenId, Usage, hex};
use narthex_store::chain::{HeadKey, StoredRecord, seal};
use narthex_store::{Receipt, RowKey};
use sqlx::SqliteConnection;
use sqlx::error::DatabaseError;

use super::batch::{Abort, execute};
use super::checkpoints::Grown;
use super::{Reserves, Tail, TokenUse};
use crate::fault::Fault;
use crate::gate::{Charge, Closing, Gate, anchor};
use crate::rows::number;

/// What a batch will leave behind.
pub(super) struct Books {
    pub(super) tail: Tail,
    pub(super) records: Vec<StoredRecord>,
    opened: BTreeMap<CallId, u64>,
    closed: Vec<CallId>,
    pub(super) uses: BTreeMap<TokenId, Timestamp>,
    pub(super) identity: bool,
    pub(super) content: bool,
    /// Whether a graph changed.
    pub(super) graphs: bool,
    pub(super) changed: bool,
    /// Whether the transaction was begun.
    pub(super) begun: bool,
    /// The gate's state as it was before the batch.
    was: Arc<Gate>,
    /// And as the units that stand leave it.
    pub(super) gate: Arc<Gate>,
    /// What the records use up, one by one and summed up.
    pub(super) charges: Vec<Charge>,
    sums: HashMap<Holder, Usage>,
    /// What calls under way may still use up, as the units that stand leave it.
    pub(super) reserves: Reserves,
    /// The accounts, where they are written with this batch.
    pub(super) closing: Option<Closing>,
    /// Whether records are taken out.
    pub(super) pruned: bool,
    /// Whether the ledger's end is signed whatever time it is.
    pub(super) seal_now: bool,
    /// The tree with this batch in it.
    pub(super) checkpoints: Option<Grown>,
}

/// A record in its place, with what the books need to know of it.
pub(super) struct Sealed {
    record: StoredRecord,
    phase: Phase,
    call: CallId,
    token: Option<TokenId>,
    at: Timestamp,
    charge: Option<Charge>,
}

impl Books {
    pub(super) fn after(tail: Tail, gate: Arc<Gate>, reserves: Reserves) -> Self {
        Self {
            tail,
            records: Vec::new(),
            opened: BTreeMap::new(),
            closed: Vec::new(),
            uses: BTreeMap::new(),
            identity: false,
            content: false,
            graphs: false,
            changed: false,
            begun: false,
            was: Arc::clone(&gate),
            gate,
            charges: Vec::new(),
            sums: HashMap::new(),
            reserves,
            closing: None,
            pruned: false,
            seal_now: false,
            checkpoints: None,
        }
    }

    /// Whether the batch changes the gate's state.
    pub(super) fn gate_changed(&self) -> bool {
        !Arc::ptr_eq(&self.was, &self.gate)
    }

    /// What the batch's own records use up so far.
    pub(super) fn charged(&self, holder: &Holder) -> Usage {
        self.sums.get(holder).copied().unwrap_or_default()
    }

    /// What this holder's calls under way may still use up.
    pub(super) fn reserved(&self, holder: &Holder, records: &[RecordDraft]) -> Usage {
        self.reserves.of(holder, records)
    }

    /// Gives drafts the numbers they would have, and says what they use up. `checked` is the
    /// window that a holder's budget was just checked by.
    pub(super) fn seal(
        &self,
        drafts: Vec<RecordDraft>,
        checked: Option<(Holder, Duration)>,
        at: Timestamp,
    ) -> Result<Vec<Sealed>, Fault> {
        let mut tail = self.tail;
        drafts
            .into_iter()
            .map(|draft| {
                let (phase, call, token) = (draft.phase, draft.call, draft.token);
                let charge = Charge::of(&draft, at).map(|charge| charge.checked_by(checked));
                let record = seal(draft, tail.seq + 1, at, tail.hash).map_err(Fault::damaged)?;
                tail = Tail { seq: record.seq, hash: record.hash };
                Ok(Sealed { record, phase, call, token, at, charge })
            })
            .collect()
    }

    /// Takes a unit's records over.
    pub(super) fn accept(&mut self, sealed: Vec<Sealed>, remembered: &TokenUse) -> Vec<Receipt> {
        let mut receipts = Vec::with_capacity(sealed.len());
        for Sealed { record, phase, call, token, at, charge } in sealed {
            self.tail = Tail { seq: record.seq, hash: record.hash };
            self.changed = true;
            match phase {
                Phase::Intent => {
                    self.opened.insert(call, record.seq);
                }
                Phase::Outcome => {
                    self.reserves.settle(&call);
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
            if let Some(charge) = charge {
                let sum = self.sums.entry(charge.holder).or_default();
                *sum = sum.and(charge.usage);
                self.charges.push(charge);
            }
            receipts.push(Receipt::after_commit(record.seq, record.hash));
            self.records.push(record);
        }
        receipts
    }

    /// Begins the transaction, if that was not done yet. A batch of records alone, intents included,
    /// needs none of its own, and most batches are such.
    pub(super) async fn begin(&mut self, conn: &mut SqliteConnection) -> Result<(), Fault> {
        if !self.begun {
            sqlx::query("BEGIN IMMEDIATE").execute(conn).await?;
            self.begun = true;
        }
        Ok(())
    }

    /// Writes everything and commits it. One statement for all records, however many, and no other
    /// where nothing was begun before: each is a trip to SQLite's own thread and back.
    pub(super) async fn write(
        &mut self,
        conn: &mut SqliteConnection,
        key: &HeadKey,
        rows: &RowKey,
    ) -> Result<(), Abort> {
        if !self.uses.is_empty() {
            self.begin(conn).await?;
        }
        self.write_uses(conn).await?;
        let anchor = anchor(rows, self.tail, &self.gate);
        if !self.records.is_empty() {
            self.write_records(conn, key, anchor).await?;
        } else if self.gate_changed() {
            sqlx::query("UPDATE ledger_head SET gate = ?1")
                .bind(anchor.as_bytes().as_slice())
                .execute(&mut *conn)
                .await
                .map_err(Fault::Sql)?;
        }
        if self.begun {
            execute(conn, "COMMIT").await.map_err(of_commit)?;
        }
        Ok(())
    }

    async fn write_records(
        &self,
        conn: &mut SqliteConnection,
        key: &HeadKey,
        anchor: Digest,
    ) -> Result<(), Abort> {
        let head = key.head(self.tail.seq, self.tail.hash);
        let closed: Vec<String> = self.closed.iter().map(|call| hex(call.as_bytes())).collect();
        let opened = self.opened.iter().map(|(call, seq)| (hex(call.as_bytes()), *seq));
        let opened: Vec<(String, u64)> = opened.collect();
        let written = sqlx::query(WRITE_BATCH)
            .bind(serde_json::to_string(&closed).map_err(Fault::damaged)?)
            .bind(serde_json::to_string(&opened).map_err(Fault::damaged)?)
            .bind(self.rows()?)
            .bind(number(head.seq)?)
            .bind(head.hash.as_bytes().as_slice())
            .bind(head.mac.as_bytes().as_slice())
            .bind(anchor.as_bytes().as_slice())
            .execute(conn)
            .await;
        written.map(drop).map_err(|error| self.record_fault(error))
    }

    /// A number that is there already was written by someone else: this chain is no longer ours. And
    /// where a batch was to become durable by itself, what is on the disk may not be known.
    fn record_fault(&self, error: sqlx::Error) -> Abort {
        let doubled = error.as_database_error().is_some_and(DatabaseError::is_unique_violation);
        let fault = Fault::Sql(error);
        let unknown = !self.begun && !fault.took_nothing();
        Abort { until_restart: doubled || unknown, ..fault.into() }
    }

    /// The records as one JSON array. Their bytes are ASCII, so text carries them unchanged.
    fn rows(&self) -> Result<String, Fault> {
        let mut rows = Vec::with_capacity(self.records.len());
        for record in &self.records {
            let text = std::str::from_utf8(&record.bytes).map_err(Fault::damaged)?;
            rows.push((record.seq, text, record.hash.to_string()));
        }
        serde_json::to_string(&rows).map_err(Fault::damaged)
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

/// What is on the disk is not known any more.
fn of_commit(fault: Fault) -> Abort {
    Abort { until_restart: true, ..fault.into() }
}

/// Lets a connection write a batch by one statement, which is then a transaction of its own.
pub(crate) async fn learn_to_write(conn: &mut SqliteConnection) -> Result<(), Fault> {
    sqlx::raw_sql(BATCH).execute(conn).await?;
    Ok(())
}

const WRITE_BATCH: &str = "INSERT INTO batch (closed, opened, records, seq, hash, mac, gate)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

/// What waits for its outcome: the closed ones go, the opened ones come. Then the records, and the head.
const BATCH: &str = "
    CREATE TEMP VIEW batch (closed, opened, records, seq, hash, mac, gate)
        AS SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE false;
    CREATE TEMP TRIGGER batch_written INSTEAD OF INSERT ON batch BEGIN
        DELETE FROM open_intents WHERE call IN (SELECT unhex(value) FROM json_each(NEW.closed));
        INSERT INTO open_intents (call, seq)
        SELECT unhex(value ->> 0), value ->> 1 FROM json_each(NEW.opened) WHERE true
        ON CONFLICT (call) DO NOTHING;
        INSERT INTO ledger (seq, bytes, hash)
        SELECT value ->> 0, CAST(value ->> 1 AS BLOB), unhex(value ->> 2)
          FROM json_each(NEW.records) ORDER BY key;
        INSERT INTO ledger_head (one, seq, hash, mac, gate)
        VALUES (1, NEW.seq, NEW.hash, NEW.mac, NEW.gate)
        ON CONFLICT (one) DO UPDATE
           SET seq = excluded.seq, hash = excluded.hash, mac = excluded.mac, gate = excluded.gate;
    END";
