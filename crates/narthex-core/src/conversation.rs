//! The owner's own conversations. They belong to no space, so no space-bound agent reads them.

use serde::{Deserialize, Serialize};

use crate::{ConversationId, Timestamp, Title};

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// Its id.
    pub id: ConversationId,
    /// Its title.
    pub title: Title,
    /// Its text, as markdown.
    pub body: String,
    /// When it was added.
    pub created: Timestamp,
}

/// A conversation without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationSummary {
    /// Its id.
    pub id: ConversationId,
    /// Its title.
    pub title: Title,
    /// When it was added.
    pub created: Timestamp,
}
