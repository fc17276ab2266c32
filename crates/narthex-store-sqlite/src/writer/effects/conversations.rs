//! The owner's conversations.

use narthex_core::Conversation;
use narthex_store::Effected;
use sqlx::SqliteConnection;

use crate::fault::Fault;

/// A new conversation.
pub(super) async fn add(
    conn: &mut SqliteConnection,
    conversation: &Conversation,
) -> Result<Effected, Fault> {
    sqlx::query("INSERT INTO conversations (id, title, body, created) VALUES (?1, ?2, ?3, ?4)")
        .bind(conversation.id.as_bytes().as_slice())
        .bind(conversation.title.as_str())
        .bind(conversation.body.as_str())
        .bind(conversation.created.as_millis())
        .execute(conn)
        .await?;
    Ok(Effected::Done)
}
