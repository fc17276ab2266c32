//! The owner's conversations.

use narthex_core::{Bound, Conversation, ConversationId, Subject, Title};
use narthex_store::{Effect, fresh_uuid};

use super::desk::{invalid, not_found};
use super::{Desk, OwnerError, Reply};

impl Desk {
    pub(super) async fn conversation_add(
        &self,
        title: &str,
        body: String,
    ) -> Result<Reply, OwnerError> {
        let title = Title::parse(title).map_err(invalid)?;
        if body.len() > Bound::BODY_BYTES || body.contains('\0') {
            return Err(invalid("a conversation is at most 1 MiB of text"));
        }
        let id = ConversationId::from_uuid(fresh_uuid());
        let conversation = Conversation { id, title, body, created: self.now() };
        let effect = Effect::AddConversation(conversation.clone());
        self.change("conversation.add", None, Subject::one("conversation", id), effect).await?;
        Ok(Reply::Conversation(Box::new(conversation)))
    }

    pub(super) async fn conversation_list(&self, limit: u32) -> Result<Reply, OwnerError> {
        Ok(Reply::Conversations(self.store().conversations(limit.clamp(1, 1_000)).await?))
    }

    pub(super) async fn conversation_show(&self, name: &str) -> Result<Reply, OwnerError> {
        let missing = || not_found("conversation", name, "narthex conversation list");
        let id: ConversationId = name.parse().map_err(|_| missing())?;
        let found = self.store().conversation(id).await?.ok_or_else(missing)?;
        Ok(Reply::Conversation(Box::new(found)))
    }
}
