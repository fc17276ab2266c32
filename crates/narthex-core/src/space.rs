//! The unit of isolation.

use serde::{Deserialize, Serialize};

use crate::{Slug, SpaceId, Tier, Timestamp, Title};

/// Pages, proposals and graphs live in exactly one space.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Space {
    /// Its id.
    pub id: SpaceId,
    /// Its slug.
    pub slug: Slug,
    /// What people call it.
    pub name: Title,
    /// The highest tier allowed in it, if the owner set one.
    pub ceiling: Option<Tier>,
    /// When it was made.
    pub created: Timestamp,
}
