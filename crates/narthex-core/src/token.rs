//! What may be known of an agent's token. The secret half is not here.

use serde::{Deserialize, Serialize};

use crate::{AgentId, TextError, Timestamp, TokenId, clean_line};

/// What the owner calls a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TokenLabel(String);

impl TokenLabel {
    /// One line of at most 80 characters.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        clean_line("label", text, 80).map(Self)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TokenLabel {
    type Error = TextError;
    fn try_from(text: String) -> Result<Self, TextError> {
        Self::parse(&text)
    }
}

impl From<TokenLabel> for String {
    fn from(label: TokenLabel) -> Self {
        label.0
    }
}

/// A token as the owner sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenSummary {
    /// Its id.
    pub id: TokenId,
    /// The agent it belongs to.
    pub agent: AgentId,
    /// What the owner calls it.
    pub label: TokenLabel,
    /// When it was made.
    pub created: Timestamp,
    /// When it ends by itself.
    pub expires: Option<Timestamp>,
    /// When the owner ended it.
    pub revoked: Option<Timestamp>,
    /// When it was last used, derived from the ledger.
    pub last_used: Option<Timestamp>,
}

impl TokenSummary {
    /// Whether it opens anything at this moment.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|end| now < end)
    }
}
