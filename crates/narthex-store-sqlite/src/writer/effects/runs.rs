//! Parked runs: kept until they are taken up, once, or until their time is over.

use narthex_core::{Holder, ParkedRun, RunId, Timestamp};
use narthex_store::{Effected, Refused};

use crate::fault::Fault;
use crate::gate::Bench;
use crate::matter::{insert_run, remove_run, runs};
use crate::rows::Fields;

/// Keeps a run. What is over by now goes.
pub(super) async fn park(
    bench: &mut Bench<'_>,
    run: &ParkedRun,
    cap: u32,
    now: Timestamp,
) -> Result<Effected, Fault> {
    let rows = sqlx::query(OF_AGENT)
        .bind(run.holder.agent.as_bytes().as_slice())
        .fetch_all(&mut *bench.conn)
        .await?;
    let mut waiting = 0;
    for row in &rows {
        let row = Fields(row);
        let id = row.id("id", RunId::from_bytes)?;
        if row.get::<i64>("until")? < now.as_millis() {
            remove_run(bench, id).await?;
        } else {
            waiting += 1;
        }
    }
    if waiting >= cap {
        return Err(Refused::TooManyParked { cap }.into());
    }
    insert_run(bench, run).await?;
    Ok(Effected::Done)
}

/// Takes a run up, if it is there and the holder's: it is there no more.
pub(super) async fn take_up(
    bench: &mut Bench<'_>,
    id: RunId,
    holder: Holder,
) -> Result<Effected, Fault> {
    let found = bench.run(id).await?.filter(|run| run.holder == holder);
    if found.is_none() || !remove_run(bench, id).await? {
        return Err(Refused::NotFound("run").into());
    }
    Ok(Effected::Done)
}

const OF_AGENT: &str = runs!("WHERE agent = ?1 ORDER BY id");
