//! The tree over the ledger when a house opens: gone on with from the last checkpoint, and checked
//! against the records after it.

use narthex_store::StoreError;
use narthex_store::chain::{EVERY, Seal, Sealer};
use sqlx::SqliteConnection;

use super::broken;
use crate::SqliteConfig;
use crate::fault::Fault;
use crate::gate::was_sealed;
use crate::rows::{self, Fields, number};
use crate::writer::{Checkpoints, Tail};

/// The tree up to this end, and whether this house is from before there were checkpoints: then all
/// that is there is signed now, and waits to be written.
pub(super) async fn checkpoints(
    conn: &mut SqliteConnection,
    config: &SqliteConfig,
    tail: Tail,
) -> Result<(Checkpoints, bool), StoreError> {
    let newest = newest(conn).await?;
    let mut sealer = match &newest {
        Some(seal) if seal.size > tail.seq => {
            return Err(broken("its last checkpoint names a later record: its tail was cut"));
        }
        Some(seal) => Sealer::resume(seal, config.seal_key.public())
            .ok_or_else(|| broken("its last checkpoint is not signed with this house's key"))?,
        None if tail.seq > 0 && was_sealed(conn).await? => {
            return Err(broken("its checkpoints are missing"));
        }
        None => Sealer::new(),
    };
    let backlog = walk(conn, config, &mut sealer, newest.is_some()).await?;
    if (sealer.size(), sealer.chain()) != (tail.seq, tail.hash) {
        return Err(broken("its records and its last checkpoint do not meet its head"));
    }
    let older = newest.is_none() && tail.seq > 0;
    Ok((Checkpoints::new(sealer, backlog), older))
}

/// Adds the records that the tree does not have yet.
async fn walk(
    conn: &mut SqliteConnection,
    config: &SqliteConfig,
    sealer: &mut Sealer,
    was_sealed: bool,
) -> Result<Vec<Seal>, StoreError> {
    let mut backlog = Vec::new();
    loop {
        let page =
            sqlx::query("SELECT seq, bytes, hash FROM ledger WHERE seq > ?1 ORDER BY seq LIMIT ?2")
                .bind(number(sealer.size())?)
                .bind(PAGE)
                .fetch_all(&mut *conn)
                .await
                .map_err(Fault::Sql)?;
        if page.is_empty() {
            return Ok(backlog);
        }
        for row in &page {
            let record = rows::stored_record(Fields(row))?;
            if record.seq != sealer.size() + 1 || !record.follows(sealer.chain()) {
                return Err(broken("a record after its last checkpoint was changed"));
            }
            backlog.extend(sealer.push(&record, &config.seal_key));
            // Such a record is never committed without its checkpoint.
            if was_sealed && sealer.size().is_multiple_of(EVERY) {
                return Err(broken("a checkpoint is missing"));
            }
        }
    }
}

async fn newest(conn: &mut SqliteConnection) -> Result<Option<Seal>, StoreError> {
    let row = sqlx::query(
        "SELECT size, note, frontier FROM ledger_checkpoints ORDER BY size DESC LIMIT 1",
    )
    .fetch_optional(conn)
    .await
    .map_err(Fault::Sql)?;
    Ok(row.map(|row| rows::seal(Fields(&row))).transpose()?)
}

/// Records read at once.
const PAGE: i64 = 4_096;
