//! Parked runs: kept until they are taken up, once, or until their time is over.

use narthex_core::{Holder, ParkedRun, RunId, Timestamp};
use narthex_store::{Effected, Refused};

use crate::fault::Fault;
use crate::gate::Bench;
use crate::matter::{insert_run, remove_run};
use crate::rows::Fields;

/// Keeps a run. What is over by now goes, whosever it was.
pub(super) async fn park(
    bench: &mut Bench<'_>,
    run: &ParkedRun,
    cap: u32,
    now: Timestamp,
) -> Result<Effected, Fault> {
    let rows = sqlx::query(OF_AGENT_OR_OVER)
        .bind(run.holder.agent.as_bytes().as_slice())
        .bind(now.as_millis())
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

/// Ends all of them.
pub(in crate::writer) async fn end_all(bench: &mut Bench<'_>) -> Result<(), Fault> {
    let rows = sqlx::query("SELECT id FROM runs").fetch_all(&mut *bench.conn).await?;
    for row in &rows {
        remove_run(bench, Fields(row).id("id", RunId::from_bytes)?).await?;
    }
    Ok(())
}

/// Without what they were told: that may be a lot.
const OF_AGENT_OR_OVER: &str = "SELECT id, until FROM runs WHERE agent = ?1 OR until < ?2";
