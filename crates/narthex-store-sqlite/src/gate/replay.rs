//! What was used up, from the ledger: nothing was charged that is not in it.

use std::time::Duration;

use narthex_core::{Digest, Timestamp};
use narthex_store::chain::{GENESIS, StoredRecord};
use sqlx::SqliteConnection;

use super::{Account, Accounts, BudgetBooks, Charge};
use crate::fault::Fault;
use crate::rows::{self, Fields, number};
use crate::writer::Tail;

/// The accounts as of the last record, from rows and what the ledger says came after them.
/// Records are checked against the chain as they are read.
pub(crate) async fn catch_up(
    conn: &mut SqliteConnection,
    books: &mut BudgetBooks,
    accounts: &mut Accounts,
    tail: Tail,
) -> Result<(), Fault> {
    let closed = books.closed();
    if closed.seq > tail.seq {
        return Err(Fault::damaged("its accounts name a later record: its tail was cut"));
    }
    walk(conn, closed.seq, Some(closed.hash), |charge| {
        accounts.add(&charge);
        books.charged(&[charge]);
    })
    .await
}

/// The accounts from nothing but the ledger, each kept as if measured by this window.
pub(crate) async fn rebuild(
    conn: &mut SqliteConnection,
    window: Duration,
    tail: Tail,
    at: Timestamp,
) -> Result<(BudgetBooks, Accounts), Fault> {
    let mut accounts = Accounts::default();
    walk(conn, 0, None, |charge| {
        if accounts.get(&charge.holder).is_none() {
            accounts.insert(charge.holder, Account::new(window));
        }
        accounts.add(&charge);
    })
    .await?;
    Ok((BudgetBooks::anew(&accounts, tail, at), accounts))
}

/// Every charge after this record, in order. The chain must go on from the given value; a ledger
/// that begins later than at its first record goes on from its own.
async fn walk(
    conn: &mut SqliteConnection,
    after: u64,
    previous: Option<Digest>,
    mut charge: impl FnMut(Charge),
) -> Result<(), Fault> {
    let (mut after, mut previous) = (after, previous);
    loop {
        let page =
            sqlx::query("SELECT seq, bytes, hash FROM ledger WHERE seq > ?1 ORDER BY seq LIMIT ?2")
                .bind(number(after)?)
                .bind(PAGE)
                .fetch_all(&mut *conn)
                .await?;
        if page.is_empty() {
            return Ok(());
        }
        for row in &page {
            let stored = rows::stored_record(Fields(row))?;
            if !goes_on(&stored, after, previous) {
                return Err(Fault::damaged(format!("record {} was changed", stored.seq)));
            }
            (after, previous) = (stored.seq, Some(stored.hash));
            let record = stored.read().map_err(Fault::damaged)?;
            if let Some(used) = Charge::of(&record.draft, record.at) {
                charge(used);
            }
        }
    }
}

fn goes_on(stored: &StoredRecord, after: u64, previous: Option<Digest>) -> bool {
    match previous {
        Some(previous) => stored.seq == after + 1 && stored.follows(previous),
        None if stored.seq == 1 => stored.follows(GENESIS),
        None => true,
    }
}

/// The longest window anyone is held to. Where nothing says by which one an account was measured,
/// by this one nothing is forgotten; it may count for some hours longer than it should.
pub(crate) const LONGEST: Duration = Duration::from_hours(31 * 24);

/// Records read at once.
const PAGE: i64 = 4_096;
