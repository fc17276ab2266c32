//! What must still hold inside the transaction.

use narthex_core::{AgentId, Timestamp, TokenId};
use narthex_store::{Guard, Refused};
use sqlx::SqliteConnection;

use crate::fault::Fault;

/// Refuses on the first that does not hold.
pub(super) async fn check(conn: &mut SqliteConnection, guards: &[Guard]) -> Result<(), Fault> {
    for guard in guards {
        match *guard {
            Guard::AgentActive(agent) => agent_active(conn, agent).await?,
            Guard::TokenLive { token, now } => token_live(conn, token, now).await?,
        }
    }
    Ok(())
}

async fn agent_active(conn: &mut SqliteConnection, agent: AgentId) -> Result<(), Fault> {
    let active: bool =
        sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM agents WHERE id = ?1 AND disabled = 0)")
            .bind(agent.as_bytes().as_slice())
            .fetch_one(conn)
            .await?;
    if active { Ok(()) } else { Err(Refused::AgentInactive.into()) }
}

async fn token_live(
    conn: &mut SqliteConnection,
    token: TokenId,
    now: Timestamp,
) -> Result<(), Fault> {
    let live: bool = sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM tokens
          WHERE id = ?1 AND revoked IS NULL AND (expires IS NULL OR expires > ?2))",
    )
    .bind(token.as_bytes().as_slice())
    .bind(now.as_millis())
    .fetch_one(conn)
    .await?;
    if live { Ok(()) } else { Err(Refused::TokenDead.into()) }
}
