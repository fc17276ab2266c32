//! Accounts on disk. They are written now and then, not with every call: what came after the last
//! time is in the ledger and is added up from there when the house opens.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use narthex_core::{Digest, Holder, Timestamp, hex};
use narthex_store::RowKey;
use sqlx::SqliteConnection;

use super::load::holder;
use super::{Account, Accounts, Charge, holder_columns};
use crate::fault::Fault;
use crate::rows::{Fields, number};
use crate::writer::Tail;

/// What the writer knows of the rows that accounts are kept in.
#[derive(Debug, Clone)]
pub(crate) struct BudgetBooks {
    /// The MAC of every row.
    macs: BTreeMap<Holder, Digest>,
    /// Whose row is behind.
    dirty: BTreeSet<Holder>,
    /// The record all rows are good for.
    closed: Tail,
    closed_at: Timestamp,
}

impl BudgetBooks {
    /// Nothing on disk that could be believed: every account is to be written.
    pub(crate) fn anew(accounts: &Accounts, closed: Tail, at: Timestamp) -> Self {
        let dirty = accounts.holders().copied().collect();
        Self { macs: BTreeMap::new(), dirty, closed, closed_at: at }
    }

    /// The rows and what they are good for. None if any of it is missing or not genuine.
    pub(crate) async fn load(
        conn: &mut SqliteConnection,
        key: &RowKey,
        at: Timestamp,
    ) -> Result<Option<(Self, Accounts)>, Fault> {
        let mark = sqlx::query("SELECT seq, hash, mac FROM gate_seal WHERE name = 'budgets'")
            .fetch_optional(&mut *conn)
            .await?;
        let Some(mark) = mark else { return Ok(None) };
        let rows = sqlx::query("SELECT agent, space, window, seq, body, mac FROM budgets")
            .fetch_all(conn)
            .await?;
        let (mut accounts, mut macs) = (Accounts::default(), BTreeMap::new());
        for row in &rows {
            let Some((holder, account, mac)) = genuine(Fields(row), key) else { return Ok(None) };
            accounts.insert(holder, account);
            macs.insert(holder, mac);
        }
        let mark = crate::rows::head(Fields(&mark))?;
        let closed = Tail { seq: mark.seq, hash: mark.hash };
        if seal(key, closed, &macs) != mark.mac {
            return Ok(None);
        }
        Ok(Some((Self { macs, dirty: BTreeSet::new(), closed, closed_at: at }, accounts)))
    }

    /// The record all rows are good for.
    pub(crate) const fn closed(&self) -> Tail {
        self.closed
    }

    pub(crate) fn charged(&mut self, charges: &[Charge]) {
        self.dirty.extend(charges.iter().map(|charge| charge.holder));
    }

    /// Whether so much is in the ledger only that adding it up at the next start would be felt.
    pub(crate) fn is_due(&self, seq: u64, now: Timestamp) -> bool {
        let apart = now.as_millis().abs_diff(self.closed_at.as_millis());
        let records = seq.saturating_sub(self.closed.seq);
        records >= EVERY_RECORDS || (records > 0 && apart >= EVERY_MILLIS)
    }

    /// Whether there is anything to write at all.
    pub(crate) const fn is_behind(&self, seq: u64) -> bool {
        seq > self.closed.seq
    }

    /// The rows as they will be once these charges are in the ledger, good for this record.
    pub(crate) fn close(
        &self,
        key: &RowKey,
        accounts: &Accounts,
        charges: &[Charge],
        tail: Tail,
        at: Timestamp,
    ) -> Result<Closing, Fault> {
        let mut after = Accounts::default();
        let behind = self.dirty.iter().chain(charges.iter().map(|charge| &charge.holder));
        for holder in behind.copied().collect::<BTreeSet<_>>() {
            if let Some(account) = accounts.get(&holder) {
                after.insert(holder, account.clone());
            }
        }
        for charge in charges {
            after.add(charge);
        }
        let mut closing = Closing {
            rows: Vec::new(),
            books: Self { dirty: BTreeSet::new(), closed: tail, closed_at: at, ..self.clone() },
        };
        for (holder, account) in after.iter() {
            closing.add(key, *holder, account)?;
        }
        Ok(closing)
    }
}

/// Rows about to be written, and the books as they are after that.
#[derive(Debug)]
pub(crate) struct Closing {
    rows: Vec<(String, String, i64, i64, String, String)>,
    books: BudgetBooks,
}

impl Closing {
    fn add(&mut self, key: &RowKey, holder: Holder, account: &Account) -> Result<(), Fault> {
        let body = serde_json::to_string(&account.spent).map_err(Fault::damaged)?;
        let window = i64::try_from(account.window.as_millis()).unwrap_or(i64::MAX);
        let seq = number(self.books.closed.seq)?;
        let mac = mac(key, &holder, window, seq, &body);
        let (agent, space) = holder_columns(&holder);
        self.rows.push((hex(agent), hex(space), window, seq, mac.to_string(), body));
        self.books.macs.insert(holder, mac);
        Ok(())
    }

    /// Inside the transaction of the record they are good for.
    pub(crate) async fn write(
        &self,
        conn: &mut SqliteConnection,
        key: &RowKey,
    ) -> Result<(), Fault> {
        let Tail { seq, hash } = self.books.closed;
        sqlx::query(
            "INSERT INTO budgets (agent, space, window, seq, mac, body)
             SELECT unhex(value ->> 0), unhex(value ->> 1), value ->> 2, value ->> 3,
                    unhex(value ->> 4), value ->> 5
               FROM json_each(?1) WHERE true
             ON CONFLICT (agent, space) DO UPDATE
                SET window = excluded.window, seq = excluded.seq, mac = excluded.mac,
                    body = excluded.body;
             INSERT INTO gate_seal (name, seq, hash, mac) VALUES ('budgets', ?2, ?3, ?4)
             ON CONFLICT (name) DO UPDATE
                SET seq = excluded.seq, hash = excluded.hash, mac = excluded.mac",
        )
        .bind(serde_json::to_string(&self.rows).map_err(Fault::damaged)?)
        .bind(number(seq)?)
        .bind(hash.as_bytes().as_slice())
        .bind(seal(key, self.books.closed, &self.books.macs).as_bytes().as_slice())
        .execute(conn)
        .await?;
        Ok(())
    }

    /// After the commit.
    pub(crate) fn into_books(self) -> BudgetBooks {
        self.books
    }
}

fn genuine(row: Fields<'_>, key: &RowKey) -> Option<(Holder, Account, Digest)> {
    let holder = holder(row).ok()?;
    let (window, seq) = (row.get::<i64>("window").ok()?, row.get::<i64>("seq").ok()?);
    let body = row.get::<&str>("body").ok()?;
    let stored = row.digest("mac").ok()?;
    if mac(key, &holder, window, seq, body) != stored {
        return None;
    }
    let window = Duration::from_millis(u64::try_from(window).ok()?);
    Some((holder, Account { spent: serde_json::from_str(body).ok()?, window }, stored))
}

fn mac(key: &RowKey, holder: &Holder, window: i64, seq: i64, body: &str) -> Digest {
    let (agent, space) = holder_columns(holder);
    let (window, seq) = (window.to_be_bytes(), seq.to_be_bytes());
    key.row("budgets", &[agent, space, &window, &seq, body.as_bytes()])
}

fn seal(key: &RowKey, closed: Tail, macs: &BTreeMap<Holder, Digest>) -> Digest {
    let seq = closed.seq.to_be_bytes();
    let mut fields: Vec<&[u8]> = vec![&seq, closed.hash.as_bytes()];
    fields.extend(macs.values().map(|mac| mac.as_bytes().as_slice()));
    key.row("gate_seal budgets", &fields)
}

/// Records that may be in the ledger only: adding up so many takes some tens of milliseconds.
const EVERY_RECORDS: u64 = 4_096;
const EVERY_MILLIS: u64 = 60_000;
