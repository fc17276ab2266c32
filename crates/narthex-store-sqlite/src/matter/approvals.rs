//! The rows that requests for approval are kept in: one each, under a MAC.

use narthex_core::{Approval, ApprovalId, Digest};
use narthex_store::RowKey;

use super::{Genuine, Matter, is_open_approval};
use crate::fault::Fault;
use crate::gate::Bench;
use crate::rows::Fields;

/// What a row says, if its MAC is genuine. Anything else is damage, and not served.
pub(crate) fn approval(row: Fields<'_>, key: &RowKey) -> Result<Genuine<Approval>, Fault> {
    let id = row.id("id", ApprovalId::from_bytes)?;
    let body = row.get::<&str>("body")?;
    let requested = row.get::<i64>("requested")?.to_be_bytes();
    let fields: [&[u8]; 7] = [
        id.as_bytes(),
        row.get("agent")?,
        row.get::<Option<&[u8]>>("space")?.unwrap_or_default(),
        row.get("digest")?,
        row.get::<&str>("status")?.as_bytes(),
        &requested,
        body.as_bytes(),
    ];
    if !key.is_row(TABLE, &fields, row.get("mac")?) {
        return Err(Fault::damaged(format!("approval {id} was changed from outside")));
    }
    let said: Approval = serde_json::from_str(body)
        .map_err(|error| Fault::damaged(format!("approval {id}: {error}")))?;
    let (open, mac) = (is_open_approval(&said), row.digest("mac")?);
    Ok(Genuine { said, matter: Matter::Approval(id), mac, open })
}

impl Bench<'_> {
    /// By id, if it is genuine and still counts.
    pub(crate) async fn approval(&mut self, id: ApprovalId) -> Result<Option<Approval>, Fault> {
        let row = sqlx::query(APPROVAL_BY_ID)
            .bind(id.as_bytes().as_slice())
            .fetch_optional(&mut *self.conn)
            .await?;
        let Some(row) = row else { return Ok(None) };
        approval(Fields(&row), self.key)?.current(self.gate.matters()).map(Some)
    }
}

/// A new one.
pub(crate) async fn insert(bench: &mut Bench<'_>, approval: &Approval) -> Result<(), Fault> {
    write(bench, approval, INSERT).await
}

/// One that is there, as it is now.
pub(crate) async fn update(bench: &mut Bench<'_>, approval: &Approval) -> Result<(), Fault> {
    write(bench, approval, UPDATE).await
}

async fn write(bench: &mut Bench<'_>, approval: &Approval, sql: &'static str) -> Result<(), Fault> {
    let body = serde_json::to_string(approval).map_err(Fault::damaged)?;
    let holder = &approval.binding.holder;
    let space = holder.space.as_ref().map(|space| space.as_bytes().as_slice());
    let requested = approval.requested.wall.as_millis();
    let mac = mac(bench.key, approval, &body);
    sqlx::query(sql)
        .bind(approval.id.as_bytes().as_slice())
        .bind(holder.agent.as_bytes().as_slice())
        .bind(space)
        .bind(approval.digest.as_bytes().as_slice())
        .bind(approval.status.as_str())
        .bind(requested)
        .bind(body.as_str())
        .bind(mac.as_bytes().as_slice())
        .execute(&mut *bench.conn)
        .await?;
    bench.hold(Matter::Approval(approval.id), is_open_approval(approval), mac);
    Ok(())
}

fn mac(key: &RowKey, approval: &Approval, body: &str) -> Digest {
    let holder = &approval.binding.holder;
    let requested = approval.requested.wall.as_millis().to_be_bytes();
    let fields: [&[u8]; 7] = [
        approval.id.as_bytes(),
        holder.agent.as_bytes(),
        holder.space.as_ref().map_or(&[], |space| space.as_bytes()),
        approval.digest.as_bytes(),
        approval.status.as_str().as_bytes(),
        &requested,
        body.as_bytes(),
    ];
    key.row(TABLE, &fields)
}

macro_rules! approvals {
    ($rest:literal) => {
        concat!(
            "SELECT id, agent, space, digest, status, requested, body, mac FROM approvals ",
            $rest
        )
    };
}
pub(crate) use approvals;

pub(crate) const APPROVAL_BY_ID: &str = approvals!("WHERE id = ?1");
const INSERT: &str =
    "INSERT INTO approvals (id, agent, space, digest, status, requested, body, mac)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const UPDATE: &str = "UPDATE approvals
        SET agent = ?2, space = ?3, digest = ?4, status = ?5, requested = ?6, body = ?7, mac = ?8
      WHERE id = ?1";
const TABLE: &str = "approvals";
