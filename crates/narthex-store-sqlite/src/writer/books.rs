//! What a batch leaves behind: records in their places, the head, and the books kept on them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use narthex_core::{CallId, Holder, Phase, RecordDraft, Timestamp, TokenId, Usage, hex};
use narthex_store::chain::{HeadKey, StoredRecord, seal};
use narthex_store::{Receipt, RowKey};
use sqlx::SqliteConnection;
use sqlx::error::DatabaseError;

use super::batch::Abort;
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
    /// begins and writes in one step, and most batches are such.
    pub(super) async fn begin(&mut self, conn: &mut SqliteConnection) -> Result<(), Fault> {
        if !self.begun {
            sqlx::query("BEGIN IMMEDIATE").execute(conn).await?;
            self.begun = true;
        }
        Ok(())
    }

    /// Few statements, however many records: each is a trip to SQLite's own thread and back.
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
        if self.records.is_empty() {
            if self.gate_changed() {
                sqlx::query("UPDATE ledger_head SET gate = ?1")
                    .bind(anchor.as_bytes().as_slice())
                    .execute(conn)
                    .await
                    .map_err(Fault::Sql)?;
            }
            return Ok(());
        }
        let head = key.head(self.tail.seq, self.tail.hash);
        // Intents are opened and closed by records, so where there are none there is none of those.
        let intents = !self.opened.is_empty() || !self.closed.is_empty();
        let statements = match (self.begun, intents) {
            (true, false) => WRITE,
            (false, false) => BEGIN_AND_WRITE,
            (true, true) => WRITE_WITH_INTENTS,
            (false, true) => BEGIN_AND_WRITE_WITH_INTENTS,
        };
        let mut query = sqlx::query(statements);
        if intents {
            let closed: Vec<String> = self.closed.iter().map(|call| hex(call.as_bytes())).collect();
            let opened = self.opened.iter().map(|(call, seq)| (hex(call.as_bytes()), *seq));
            let opened: Vec<(String, u64)> = opened.collect();
            query = query
                .bind(serde_json::to_string(&closed).map_err(Fault::damaged)?)
                .bind(serde_json::to_string(&opened).map_err(Fault::damaged)?);
        }
        let query = query
            .bind(self.rows()?)
            .bind(number(head.seq)?)
            .bind(head.hash.as_bytes().as_slice())
            .bind(head.mac.as_bytes().as_slice())
            .bind(anchor.as_bytes().as_slice());
        query.execute(conn).await.map_err(record_fault)?;
        Ok(())
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

/// A number that is there already was written by someone else: this chain is no longer ours.
fn record_fault(error: sqlx::Error) -> Abort {
    let doubled = error.as_database_error().is_some_and(DatabaseError::is_unique_violation);
    Abort { until_restart: doubled, ..Fault::Sql(error).into() }
}

/// What waits for its outcome: the closed ones go, the opened ones come.
macro_rules! intents {
    () => {
        "DELETE FROM open_intents WHERE call IN (SELECT unhex(value) FROM json_each(?1));
         INSERT INTO open_intents (call, seq)
         SELECT unhex(value ->> 0), value ->> 1 FROM json_each(?2) WHERE true
         ON CONFLICT (call) DO NOTHING; "
    };
}

macro_rules! write_records_and_head {
    ([$($before:tt)*] $rows:literal $seq:literal $hash:literal $mac:literal $gate:literal) => {
        concat!(
            $($before)*
            "INSERT INTO ledger (seq, bytes, hash)
             SELECT value ->> 0, CAST(value ->> 1 AS BLOB), unhex(value ->> 2)
               FROM json_each(", $rows, ") ORDER BY key;
             INSERT INTO ledger_head (one, seq, hash, mac, gate)
             VALUES (1, ", $seq, ", ", $hash, ", ", $mac, ", ", $gate, ")
             ON CONFLICT (one) DO UPDATE
                SET seq = excluded.seq, hash = excluded.hash, mac = excluded.mac,
                    gate = excluded.gate"
        )
    };
}

// In order of their use: where one is skipped, sqlx counts on by itself.
const WRITE: &str = write_records_and_head!([] "?1" "?2" "?3" "?4" "?5");
const BEGIN_AND_WRITE: &str =
    write_records_and_head!(["BEGIN IMMEDIATE; ",] "?1" "?2" "?3" "?4" "?5");
const WRITE_WITH_INTENTS: &str = write_records_and_head!([intents!(),] "?3" "?4" "?5" "?6" "?7");
const BEGIN_AND_WRITE_WITH_INTENTS: &str =
    write_records_and_head!(["BEGIN IMMEDIATE; ", intents!(),] "?3" "?4" "?5" "?6" "?7");
