//! The rows that parked runs are kept in: one each, under a MAC. Every one of them is open: whoever
//! takes a run up takes its row away.

use narthex_core::{Digest, ParkedRun, RunId};
use narthex_store::RowKey;

use super::{Genuine, Matter};
use crate::fault::Fault;
use crate::gate::Bench;
use crate::rows::Fields;

/// What a row says, if its MAC is genuine. Anything else is damage, and not served.
pub(crate) fn run(row: Fields<'_>, key: &RowKey) -> Result<Genuine<ParkedRun>, Fault> {
    let id = row.id("id", RunId::from_bytes)?;
    let body = row.get::<&str>("body")?;
    let until = row.get::<i64>("until")?.to_be_bytes();
    let space = row.get::<Option<&[u8]>>("space")?.unwrap_or_default();
    let fields: [&[u8]; 5] = [id.as_bytes(), row.get("agent")?, space, &until, body.as_bytes()];
    if !key.is_row(TABLE, &fields, row.get("mac")?) {
        return Err(Fault::damaged(format!("run {id} was changed from outside")));
    }
    let said: ParkedRun =
        serde_json::from_str(body).map_err(|error| Fault::damaged(format!("run {id}: {error}")))?;
    Ok(Genuine { said, matter: Matter::Run(id), mac: row.digest("mac")?, open: true })
}

/// Writes one.
pub(crate) async fn insert_run(bench: &mut Bench<'_>, run: &ParkedRun) -> Result<(), Fault> {
    let body = serde_json::to_string(run).map_err(Fault::damaged)?;
    let space = run.holder.space.as_ref().map(|space| space.as_bytes().as_slice());
    let mac = mac(bench.key, run, &body);
    sqlx::query(INSERT)
        .bind(run.id.as_bytes().as_slice())
        .bind(run.holder.agent.as_bytes().as_slice())
        .bind(space)
        .bind(run.until.as_millis())
        .bind(mac.as_bytes().as_slice())
        .bind(body.as_str())
        .bind(run.asked.as_bytes().as_slice())
        .execute(&mut *bench.conn)
        .await?;
    bench.hold(Matter::Run(run.id), true, mac);
    Ok(())
}

/// Takes one away. Whether it was there.
pub(crate) async fn remove_run(bench: &mut Bench<'_>, id: RunId) -> Result<bool, Fault> {
    let gone = sqlx::query("DELETE FROM runs WHERE id = ?1")
        .bind(id.as_bytes().as_slice())
        .execute(&mut *bench.conn)
        .await?;
    bench.let_go(&Matter::Run(id));
    Ok(gone.rows_affected() > 0)
}

impl Bench<'_> {
    /// By id, if it is genuine and still counts.
    pub(crate) async fn run(&mut self, id: RunId) -> Result<Option<ParkedRun>, Fault> {
        let row = sqlx::query(RUN_BY_ID)
            .bind(id.as_bytes().as_slice())
            .fetch_optional(&mut *self.conn)
            .await?;
        let Some(row) = row else { return Ok(None) };
        run(Fields(&row), self.key)?.current(self.gate.matters()).map(Some)
    }
}

fn mac(key: &RowKey, run: &ParkedRun, body: &str) -> Digest {
    let space = run.holder.space.as_ref().map_or(&[][..], |space| space.as_bytes());
    let until = run.until.as_millis().to_be_bytes();
    let fields: [&[u8]; 5] =
        [run.id.as_bytes(), run.holder.agent.as_bytes(), space, &until, body.as_bytes()];
    key.row(TABLE, &fields)
}

macro_rules! runs {
    ($rest:literal) => {
        concat!("SELECT id, agent, space, until, body, mac FROM runs ", $rest)
    };
}
pub(crate) use runs;

pub(crate) const RUN_BY_ID: &str = runs!("WHERE id = ?1");
const INSERT: &str = "INSERT INTO runs (id, agent, space, until, mac, body, asked) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const TABLE: &str = "runs";
