//! Taking old records out of the ledger.

use narthex_store::chain::{Checkpoint, EVERY, SealKey};
use narthex_store::{Effected, Refused};
use sqlx::SqliteConnection;

use crate::fault::Fault;
use crate::rows::{self, Fields, number};

/// Takes them out and leaves a signed base. What stays chains on from there.
pub(super) async fn prune(
    conn: &mut SqliteConnection,
    key: &SealKey,
    to: u64,
) -> Result<Effected, Fault> {
    check(conn, to).await?;
    let size = number(to)?;
    let row = sqlx::query("SELECT size, note, frontier FROM ledger_checkpoints WHERE size = ?1")
        .bind(size)
        .fetch_optional(&mut *conn)
        .await?;
    let seal = row.map(|row| rows::seal(Fields(&row))).transpose()?;
    let seal = seal.ok_or_else(|| Fault::damaged("a checkpoint is missing"))?;
    let said = Checkpoint::open(&seal.note, key.public()).map_err(Fault::damaged)?;
    if said.size != to {
        return Err(Fault::damaged("a checkpoint is signed for another size"));
    }
    sqlx::query(
        "DELETE FROM ledger WHERE seq <= ?1;
         DELETE FROM ledger_checkpoints WHERE size < ?1;
         INSERT INTO ledger_base (one, size, note, frontier) VALUES (1, ?1, ?2, ?3)
         ON CONFLICT (one) DO UPDATE
            SET size = excluded.size, note = excluded.note, frontier = excluded.frontier",
    )
    .bind(size)
    .bind(said.sign_base(key))
    .bind(seal.frontier)
    .execute(conn)
    .await?;
    Ok(Effected::Done)
}

async fn check(conn: &mut SqliteConnection, to: u64) -> Result<(), Fault> {
    let row = sqlx::query(
        "SELECT (SELECT seq FROM ledger_head) AS last,
                coalesce((SELECT size FROM ledger_base), 0) AS base,
                (SELECT min(seq) FROM open_intents) AS open",
    )
    .fetch_one(conn)
    .await?;
    let row = Fields(&row);
    let (last, base) = (row.get::<i64>("last")?, row.get::<i64>("base")?);
    let open = row.get::<Option<i64>>("open")?;
    let to_row = number(to)?;
    let why = if !to.is_multiple_of(EVERY) {
        "only whole stretches of 256 can"
    } else if to_row <= base {
        "they are out already"
    } else if to_row >= last {
        "the last record must stay"
    } else if open.is_some_and(|open| open <= to_row) {
        "a call among them is still open"
    } else {
        return Ok(());
    };
    Err(Fault::Refused(Refused::NotPrunable(why)))
}
