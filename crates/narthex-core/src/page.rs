//! Pages: markdown with a slug, a title, tags and a history that knows who wrote what.

use serde::{Deserialize, Serialize};

use crate::{
    AgentId, Bound, PageId, PageSlug, ProposalId, RevisionId, SpaceId, Taint, TextError, Timestamp,
    Title, clean_line,
};

/// What a page would be: the part of it a person or an agent writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageDraft {
    /// Its name in links.
    pub slug: PageSlug,
    /// Its title.
    pub title: Title,
    /// Its markdown.
    pub body: String,
    /// Its tags, sorted, each once.
    pub tags: Vec<String>,
}

impl PageDraft {
    /// Checks the parts against their bounds and puts the tags in order.
    pub fn new(
        slug: PageSlug,
        title: Title,
        body: String,
        tags: impl IntoIterator<Item = String>,
    ) -> Result<Self, TextError> {
        if body.len() > Bound::BODY_BYTES {
            return Err(TextError::TooLong {
                what: "body",
                limit: Bound::BODY_BYTES,
                unit: "bytes",
            });
        }
        if body.contains('\0') {
            return Err(TextError::Control { what: "body" });
        }
        let mut tags = tags
            .into_iter()
            .map(|tag| clean_line("tag", &tag, Bound::TAG_CHARS))
            .collect::<Result<Vec<_>, _>>()?;
        tags.sort_unstable();
        tags.dedup();
        if tags.len() > Bound::TAGS {
            return Err(TextError::TooMany { what: "tags", limit: Bound::TAGS });
        }
        Ok(Self { slug, title, body, tags })
    }
}

/// Who wrote something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "id", rename_all = "lowercase")]
pub enum Author {
    /// The owner.
    Owner,
    /// An agent.
    Agent(AgentId),
}

/// Where a revision came from. Applying a proposal washes none of it off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Who wrote the text.
    pub author: Author,
    /// The proposal it came by, if an agent asked for it.
    pub proposal: Option<ProposalId>,
    /// What its author had taken in.
    pub taint: Taint,
}

impl Provenance {
    /// Written by the owner's own hand.
    pub const OWNER: Self = Self { author: Author::Owner, proposal: None, taint: Taint::CLEAN };

    /// Whether this is text the owner did not write.
    pub const fn is_foreign(&self) -> bool {
        matches!(self.author, Author::Agent(_)) || self.taint.untrusted
    }
}

/// A page as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Its id.
    pub id: PageId,
    /// The space it lives in.
    pub space: SpaceId,
    /// What it says.
    #[serde(flatten)]
    pub draft: PageDraft,
    /// How often it has been written, from 1.
    pub revision: u32,
    /// Where this revision came from.
    pub provenance: Provenance,
    /// Whether any part of its history was written by someone else than the owner.
    pub foreign_history: bool,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last written.
    pub updated: Timestamp,
}

/// One revision of a page; a deletion is a revision too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRevision {
    /// Its id.
    pub id: RevisionId,
    /// The page.
    pub page: PageId,
    /// Its number, from 1.
    pub revision: u32,
    /// What the page said, or nothing if this revision deleted it.
    pub draft: Option<PageDraft>,
    /// Where it came from.
    pub provenance: Provenance,
    /// When it was written.
    pub at: Timestamp,
}

/// A page named from another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRef {
    /// Its slug.
    pub slug: PageSlug,
    /// Its title, if such a page exists in the same space.
    pub title: Option<Title>,
    /// Whether that page holds, or held, what someone else wrote: its slug and title are theirs.
    #[serde(default)]
    pub foreign: bool,
}

/// A page with what it links to and what links to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageView {
    /// The page.
    #[serde(flatten)]
    pub page: Page,
    /// What it links to, in slug order.
    pub links: Vec<PageRef>,
    /// What links to it, in slug order.
    pub backlinks: Vec<PageRef>,
}

/// A page without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageSummary {
    /// Its id.
    pub id: PageId,
    /// The space it lives in.
    pub space: SpaceId,
    /// Its slug.
    pub slug: PageSlug,
    /// Its title.
    pub title: Title,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its revision number.
    pub revision: u32,
    /// Whether any part of its history was written by someone else than the owner.
    pub foreign_history: bool,
    /// When it was last written.
    pub updated: Timestamp,
}

/// How a page is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PageKey {
    /// By id.
    Id(PageId),
    /// By slug.
    Slug(PageSlug),
}

impl PageKey {
    /// An id if it reads as one, otherwise a slug; neither means there is no such page.
    pub fn parse(text: &str) -> Option<Self> {
        match text.parse() {
            Ok(id) => Some(Self::Id(id)),
            Err(_) => text.parse().ok().map(Self::Slug),
        }
    }
}
