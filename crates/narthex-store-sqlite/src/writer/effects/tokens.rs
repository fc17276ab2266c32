//! Agents' tokens.

use narthex_core::{AgentId, AgentKind, Timestamp, TokenId, TokenLabel};
use narthex_store::{Effected, Refused};
use sqlx::SqliteConnection;

use crate::fault::Fault;

/// A token to be made.
pub(super) struct New {
    pub(super) id: TokenId,
    pub(super) agent: AgentId,
    pub(super) label: TokenLabel,
    pub(super) keyed_hash: [u8; 32],
    pub(super) created: Timestamp,
    pub(super) expires: Option<Timestamp>,
}

/// A new token, for an agent that may have one: the companion never comes by token.
pub(super) async fn add(conn: &mut SqliteConnection, token: &New) -> Result<Effected, Fault> {
    let kind: Option<String> = sqlx::query_scalar("SELECT kind FROM agents WHERE id = ?1")
        .bind(token.agent.as_bytes().as_slice())
        .fetch_optional(&mut *conn)
        .await?;
    if kind.as_deref() != Some(AgentKind::External.as_str()) {
        return Err(Refused::NotFound("agent").into());
    }
    sqlx::query(
        "INSERT INTO tokens (id, agent, label, keyed_hash, created, expires)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )
    .bind(token.id.as_bytes().as_slice())
    .bind(token.agent.as_bytes().as_slice())
    .bind(token.label.as_str())
    .bind(token.keyed_hash.as_slice())
    .bind(token.created.as_millis())
    .bind(token.expires.map(Timestamp::as_millis))
    .execute(conn)
    .await?;
    Ok(Effected::Done)
}

/// Ends a token. Ending an ended one changes nothing.
pub(super) async fn revoke(
    conn: &mut SqliteConnection,
    id: TokenId,
    at: Timestamp,
) -> Result<Effected, Fault> {
    let revoked: Option<Option<i64>> =
        sqlx::query_scalar("SELECT revoked FROM tokens WHERE id = ?1")
            .bind(id.as_bytes().as_slice())
            .fetch_optional(&mut *conn)
            .await?;
    match revoked {
        None => Err(Refused::NotFound("token").into()),
        Some(Some(_)) => Ok(Effected::Revoked(false)),
        Some(None) => {
            sqlx::query("UPDATE tokens SET revoked = ?2 WHERE id = ?1")
                .bind(id.as_bytes().as_slice())
                .bind(at.as_millis())
                .execute(conn)
                .await?;
            Ok(Effected::Revoked(true))
        }
    }
}
