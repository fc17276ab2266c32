//! The rows that requests for approval are kept in: one each, under a MAC.

use narthex_core::{Approval, ApprovalId, Digest};
use narthex_store::RowKey;
use sqlx::SqliteConnection;

use crate::fault::Fault;
use crate::rows::Fields;

/// What a row says, if its MAC is genuine. Anything else is damage, and not served.
pub(crate) fn read(row: Fields<'_>, key: &RowKey) -> Result<Approval, Fault> {
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
    serde_json::from_str(body).map_err(|error| Fault::damaged(format!("approval {id}: {error}")))
}

/// By id, for the writer.
pub(crate) async fn by_id(
    conn: &mut SqliteConnection,
    key: &RowKey,
    id: ApprovalId,
) -> Result<Option<Approval>, Fault> {
    let row = sqlx::query(BY_ID).bind(id.as_bytes().as_slice()).fetch_optional(conn).await?;
    row.map(|row| read(Fields(&row), key)).transpose()
}

/// A new one.
pub(crate) async fn insert(
    conn: &mut SqliteConnection,
    key: &RowKey,
    approval: &Approval,
) -> Result<(), Fault> {
    write(conn, key, approval, INSERT).await
}

/// One that is there, as it is now.
pub(crate) async fn update(
    conn: &mut SqliteConnection,
    key: &RowKey,
    approval: &Approval,
) -> Result<(), Fault> {
    write(conn, key, approval, UPDATE).await
}

async fn write(
    conn: &mut SqliteConnection,
    key: &RowKey,
    approval: &Approval,
    sql: &'static str,
) -> Result<(), Fault> {
    let body = serde_json::to_string(approval).map_err(Fault::damaged)?;
    let holder = &approval.binding.holder;
    let space = holder.space.as_ref().map(|space| space.as_bytes().as_slice());
    let requested = approval.requested.wall.as_millis();
    sqlx::query(sql)
        .bind(approval.id.as_bytes().as_slice())
        .bind(holder.agent.as_bytes().as_slice())
        .bind(space)
        .bind(approval.digest.as_bytes().as_slice())
        .bind(approval.status.as_str())
        .bind(requested)
        .bind(body.as_str())
        .bind(mac(key, approval, &body).as_bytes().as_slice())
        .execute(conn)
        .await?;
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

pub(crate) const BY_ID: &str = approvals!("WHERE id = ?1");
const INSERT: &str =
    "INSERT INTO approvals (id, agent, space, digest, status, requested, body, mac)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const UPDATE: &str = "UPDATE approvals
        SET agent = ?2, space = ?3, digest = ?4, status = ?5, requested = ?6, body = ?7, mac = ?8
      WHERE id = ?1";
const TABLE: &str = "approvals";
