//! Rows beside the ledger that carry a MAC: proposals, approvals, parked runs, what the gate remembers, and
//! spaces, agents and tokens (`identity`).
//!
//! A row's MAC is an HMAC over its table's name and its fields, each with its length before it,
//! under a key made from the head key. More MACs over all MACs of a kind miss rows that are gone, or
//! were put back as they once were. Which fields in which order is in `docs/ledger-format.md`.

use std::collections::BTreeMap;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::fault::{Failure, Fault};
use crate::hash::{Hash, hex};
use crate::head::HeadKey;
use crate::{identity, proposal};

/// Checks all of them, and says how many there are.
pub(crate) async fn check(conn: &mut SqliteConnection, key: &HeadKey) -> Result<u64, Failure> {
    let made: i64 =
        sqlx::query_scalar("SELECT count(*) FROM sqlite_schema WHERE name = 'gate_seal'")
            .fetch_one(&mut *conn)
            .await?;
    if made == 0 {
        return Ok(0);
    }
    let mut check = Check { key: key.derive("rows"), conn, count: 0 };
    let proposals = check.proposals().await?;
    let approvals = check.paged("approvals", APPROVALS, approval, is_open_approval).await?;
    let mut gate = Vec::new();
    if let Some(identities) = identity::check(&mut check).await? {
        gate.push(check.mac("gate_seal identity", identities.iter().map(Hash::as_slice)));
        if check.seals_matters().await? {
            let runs = check.runs().await?;
            let open = approvals.values().chain(proposals.values()).chain(runs.values());
            gate.push(check.mac("gate_seal open", open.map(Hash::as_slice)));
        }
    }
    gate.extend(check.all("latches", LATCHES, text_and_blobs).await?);
    gate.extend(check.all("switches", SWITCHES, text_and_blobs).await?);
    gate.extend(check.all("settings", SETTINGS, text_and_blobs).await?);
    let seal = check.seal("gate", false, &gate).await?;
    check.end(&seal).await?;
    let budgets = check.all("budgets", BUDGETS, budget).await?;
    check.seal("budgets", true, &budgets).await?;
    Ok(check.count)
}

pub(crate) struct Check<'a> {
    key: Hash,
    pub(crate) conn: &'a mut SqliteConnection,
    count: u64,
}

/// A row's fields as they are under the MAC.
pub(crate) type Fields = fn(&SqliteRow) -> Result<Vec<Vec<u8>>, sqlx::Error>;

impl Check<'_> {
    async fn proposals(&mut self) -> Result<BTreeMap<Vec<u8>, Hash>, Failure> {
        let later: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pragma_table_info('proposals') WHERE name IN ('merge', 'server')",
        )
        .fetch_one(&mut *self.conn)
        .await?;
        let all = match later {
            0 => proposal::ALL_BEFORE_MERGES,
            1 => proposal::ALL_BEFORE_SERVERS,
            _ => proposal::ALL,
        };
        self.paged("proposals", all, proposal::fields, proposal::is_open).await
    }

    /// Runs that wait: every one of them is open. None in a database from before there were any.
    async fn runs(&mut self) -> Result<BTreeMap<Vec<u8>, Hash>, Failure> {
        let made: i64 =
            sqlx::query_scalar("SELECT count(*) FROM sqlite_schema WHERE name = 'runs'")
                .fetch_one(&mut *self.conn)
                .await?;
        if made == 0 {
            return Ok(BTreeMap::new());
        }
        self.paged("runs", RUNS, run, |_| Ok(true)).await
    }

    /// A table that may be long. The last two columns are the MAC and the row's place. Gives the
    /// MACs of the rows that are open, by id.
    async fn paged(
        &mut self,
        table: &'static str,
        sql: &'static str,
        fields: Fields,
        is_open: fn(&SqliteRow) -> Result<bool, sqlx::Error>,
    ) -> Result<BTreeMap<Vec<u8>, Hash>, Failure> {
        let (mut after, mut open) = (i64::MIN, BTreeMap::new());
        loop {
            let rows = sqlx::query(sql).bind(after).fetch_all(&mut *self.conn).await?;
            let Some(last) = rows.last() else { return Ok(open) };
            after = last.try_get("place")?;
            for row in &rows {
                let mac = self.row(table, row, fields)?;
                if is_open(row)? {
                    open.insert(row.try_get("id")?, mac);
                }
            }
        }
    }

    /// Whether open approvals and proposals are under the seal: not in a database of a program that
    /// knew nothing of that.
    async fn seals_matters(&mut self) -> Result<bool, Failure> {
        let indexed: i64 =
            sqlx::query_scalar("SELECT count(*) FROM sqlite_schema WHERE name = 'proposals_open'")
                .fetch_one(&mut *self.conn)
                .await?;
        Ok(indexed > 0)
    }

    /// A short table, in the order its MACs are sealed in.
    pub(crate) async fn all(
        &mut self,
        table: &'static str,
        sql: &'static str,
        fields: Fields,
    ) -> Result<Vec<Hash>, Failure> {
        let rows = sqlx::query(sql).fetch_all(&mut *self.conn).await?;
        rows.iter().map(|row| self.row(table, row, fields)).collect()
    }

    fn row(
        &mut self,
        table: &'static str,
        row: &SqliteRow,
        fields: Fields,
    ) -> Result<Hash, Failure> {
        let fields = fields(row).unwrap_or_default();
        let named = fields.first().map(|first| hex(first.get(..16).unwrap_or(first)));
        let changed = || Fault::Row { table, row: named.clone().unwrap_or_default() };
        let stored: Hash = row
            .try_get::<&[u8], _>("mac")
            .ok()
            .and_then(|mac| mac.try_into().ok())
            .ok_or_else(changed)?;
        if !self.is_mac(table, fields.iter().map(Vec::as_slice), &stored) {
            return Err(changed().into());
        }
        self.count += 1;
        Ok(stored)
    }

    /// The MAC over all MACs of a kind, and over the record they are good for where there is one.
    async fn seal(
        &mut self,
        name: &'static str,
        dated: bool,
        macs: &[Hash],
    ) -> Result<Hash, Failure> {
        let missing = || Fault::Row { table: "gate_seal", row: name.to_owned() };
        let row = sqlx::query("SELECT seq, hash, mac FROM gate_seal WHERE name = ?1")
            .bind(name)
            .fetch_optional(&mut *self.conn)
            .await?
            .ok_or_else(missing)?;
        let stored: Hash = row.try_get::<&[u8], _>("mac")?.try_into().map_err(|_| missing())?;
        let (seq, hash) = (row.try_get::<i64, _>("seq")?.to_be_bytes(), row.try_get("hash")?);
        let point: &[&[u8]] = if dated { &[&seq, hash] } else { &[] };
        let fields = point.iter().copied().chain(macs.iter().map(Hash::as_slice));
        let table = format!("gate_seal {name}");
        if self.is_mac(&table, fields, &stored) { Ok(stored) } else { Err(missing().into()) }
    }

    /// What ties the gate's state to the end of the ledger: an older state does not fit.
    async fn end(&mut self, seal: &Hash) -> Result<(), Failure> {
        let tied: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pragma_table_info('ledger_head') WHERE name = 'gate'",
        )
        .fetch_one(&mut *self.conn)
        .await?;
        if tied == 0 {
            return Ok(());
        }
        let row = sqlx::query("SELECT seq, hash, gate FROM ledger_head")
            .fetch_one(&mut *self.conn)
            .await?;
        let seq = row.try_get::<i64, _>("seq")?.to_be_bytes();
        let fields = [seq.as_slice(), row.try_get("hash")?, seal.as_slice()];
        let stored = row.try_get::<Option<&[u8]>, _>("gate")?.and_then(|mac| mac.try_into().ok());
        let fits = |stored: &Hash| self.is_mac("ledger_head gate", fields.into_iter(), stored);
        if stored.as_ref().is_some_and(fits) {
            return Ok(());
        }
        Err(Fault::Row { table: "gate_seal", row: "the end of the ledger".to_owned() }.into())
    }

    fn is_mac<'f>(
        &self,
        table: &'f str,
        fields: impl Iterator<Item = &'f [u8]>,
        stored: &Hash,
    ) -> bool {
        self.keyed(table, fields).is_some_and(|mac| mac.verify_slice(stored).is_ok())
    }

    /// The MAC itself, where it is under another one.
    fn mac<'f>(&self, table: &'f str, fields: impl Iterator<Item = &'f [u8]>) -> Hash {
        self.keyed(table, fields).map_or([0; 32], |mac| mac.finalize().into_bytes().into())
    }

    fn keyed<'f>(
        &self,
        table: &'f str,
        fields: impl Iterator<Item = &'f [u8]>,
    ) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
        for field in std::iter::once(table.as_bytes()).chain(fields) {
            mac.update(&(field.len() as u64).to_be_bytes());
            mac.update(field);
        }
        Some(mac)
    }
}

/// A field that is there ends with a byte 1, so that an empty one is not taken for none.
pub(crate) fn ended(field: Option<Vec<u8>>) -> Vec<u8> {
    field.map_or_else(Vec::new, |mut bytes| {
        bytes.push(1);
        bytes
    })
}

fn approval(row: &SqliteRow) -> Result<Vec<Vec<u8>>, sqlx::Error> {
    Ok(vec![
        row.try_get::<&[u8], _>("id")?.to_vec(),
        row.try_get::<&[u8], _>("agent")?.to_vec(),
        row.try_get::<Option<&[u8]>, _>("space")?.unwrap_or_default().to_vec(),
        row.try_get::<&[u8], _>("digest")?.to_vec(),
        row.try_get::<&str, _>("status")?.as_bytes().to_vec(),
        row.try_get::<i64, _>("requested")?.to_be_bytes().to_vec(),
        row.try_get::<&str, _>("body")?.as_bytes().to_vec(),
    ])
}

fn run(row: &SqliteRow) -> Result<Vec<Vec<u8>>, sqlx::Error> {
    Ok(vec![
        row.try_get::<&[u8], _>("id")?.to_vec(),
        row.try_get::<&[u8], _>("agent")?.to_vec(),
        row.try_get::<Option<&[u8]>, _>("space")?.unwrap_or_default().to_vec(),
        row.try_get::<i64, _>("until")?.to_be_bytes().to_vec(),
        row.try_get::<&str, _>("body")?.as_bytes().to_vec(),
    ])
}

/// All columns before the MAC, texts and blobs alike.
fn text_and_blobs(row: &SqliteRow) -> Result<Vec<Vec<u8>>, sqlx::Error> {
    (0..row.len().saturating_sub(1)).map(|n| row.try_get_unchecked::<Vec<u8>, _>(n)).collect()
}

fn budget(row: &SqliteRow) -> Result<Vec<Vec<u8>>, sqlx::Error> {
    Ok(vec![
        row.try_get::<&[u8], _>("agent")?.to_vec(),
        row.try_get::<&[u8], _>("space")?.to_vec(),
        row.try_get::<i64, _>("window")?.to_be_bytes().to_vec(),
        row.try_get::<i64, _>("seq")?.to_be_bytes().to_vec(),
        row.try_get::<&str, _>("body")?.as_bytes().to_vec(),
    ])
}

/// Whether it may still be decided on or used.
fn is_open_approval(row: &SqliteRow) -> Result<bool, sqlx::Error> {
    Ok(matches!(row.try_get("status")?, "waiting" | "approved"))
}

const APPROVALS: &str =
    "SELECT id, agent, space, digest, status, requested, body, mac, rowid AS place
       FROM approvals WHERE rowid > ?1 ORDER BY rowid LIMIT 500";
const RUNS: &str = "SELECT id, agent, space, until, body, mac, rowid AS place
       FROM runs WHERE rowid > ?1 ORDER BY rowid LIMIT 500";
const LATCHES: &str = "SELECT agent, space, body, mac FROM latches ORDER BY agent, space";
const SWITCHES: &str = "SELECT scope, body, mac FROM switches
      ORDER BY CASE WHEN scope = 'everything' THEN 0 WHEN scope LIKE 'space:%' THEN 1
                    WHEN scope LIKE 'agent:%' THEN 2 ELSE 3 END, scope";
const SETTINGS: &str = "SELECT key, body, mac FROM settings ORDER BY key";
const BUDGETS: &str =
    "SELECT agent, space, window, seq, body, mac FROM budgets ORDER BY agent, space";
