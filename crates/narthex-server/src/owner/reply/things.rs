//! Spaces, pages and tokens.

use narthex_core::{PageId, Slug, SpaceId, Tier, Timestamp, Title, TokenId, TokenLabel};
use serde::{Deserialize, Serialize};

/// A space, with how full it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceInfo {
    /// Its id.
    pub id: SpaceId,
    /// Its slug.
    pub slug: Slug,
    /// Its name.
    pub name: Title,
    /// The highest tier allowed in it, if set.
    pub ceiling: Option<Tier>,
    /// How many pages it has.
    pub pages: u64,
    /// When it was made.
    pub created: Timestamp,
}

/// A page that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageWritten {
    /// Its id.
    pub id: PageId,
    /// Its slug.
    pub slug: String,
    /// The space it is in.
    pub space: Slug,
    /// Its revision now.
    pub revision: u32,
}

/// What became of an imported page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Imported {
    /// It is new.
    Created,
    /// It said something else before.
    Updated,
    /// It said the same.
    Unchanged,
}

/// A new token. Not `Debug`-printed anywhere: it holds the secret.
#[derive(Clone, Serialize, Deserialize)]
pub struct TokenCreated {
    /// Its public id.
    pub id: TokenId,
    /// Whose.
    pub agent: Slug,
    /// What it is called.
    pub label: TokenLabel,
    /// The token itself, shown this once.
    pub token: String,
    /// When it ends by itself.
    pub expires: Option<Timestamp>,
}

impl std::fmt::Debug for TokenCreated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenCreated").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A token as the owner sees it later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenInfo {
    /// Its public id.
    pub id: TokenId,
    /// Whose.
    pub agent: Slug,
    /// What it is called.
    pub label: TokenLabel,
    /// live, expired or revoked.
    pub state: String,
    /// When it was made.
    pub created: Timestamp,
    /// When it ends by itself.
    pub expires: Option<Timestamp>,
    /// When it was ended.
    pub revoked: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub last_used: Option<Timestamp>,
}

/// A token that was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRevoked {
    /// Which.
    pub id: TokenId,
    /// False if it had been ended before.
    pub now: bool,
}
