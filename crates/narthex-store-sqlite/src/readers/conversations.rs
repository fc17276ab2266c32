//! The owner's conversations.

use async_trait::async_trait;
use narthex_core::{Conversation, ConversationId, ConversationSummary};
use narthex_store::{Conversations, StoreError};

use crate::{SqliteStore, rows};

#[async_trait]
impl Conversations for SqliteStore {
    async fn conversation(&self, id: ConversationId) -> Result<Option<Conversation>, StoreError> {
        let row = sqlx::query("SELECT id, title, body, created FROM conversations WHERE id = ?1")
            .bind(id.as_bytes().as_slice())
            .fetch_optional(&self.readers)
            .await;
        super::one(row, rows::conversation)
    }

    async fn conversations(&self, limit: u32) -> Result<Vec<ConversationSummary>, StoreError> {
        let rows = sqlx::query(
            "SELECT id, title, created FROM conversations ORDER BY created DESC, id DESC LIMIT ?1",
        )
        .bind(i64::from(limit))
        .fetch_all(&self.readers)
        .await;
        super::all(rows, rows::conversation_summary)
    }
}
