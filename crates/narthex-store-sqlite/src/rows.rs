//! From stored rows to the words of the house. A row that does not parse is damage, never served.

use std::fmt::Display;
use std::str::FromStr;

use narthex_core::{
    Agent, AgentId, AgentKind, Author, Conversation, ConversationSummary, Digest, IdError,
    MergeRequest, Page, PageDraft, PageRevision, PageSummary, Proposal, Provenance, Space, Taint,
    Timestamp, Title, TokenLabel, TokenSummary, ToolTiers,
};
use narthex_store::chain::{Head, Seal, StoredRecord};
use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Row, Sqlite, Type};

use crate::fault::Fault;
use crate::matter::merge_text;

/// A row, read column by column.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'r>(pub(crate) &'r SqliteRow);

impl<'r> Fields<'r> {
    pub(crate) fn get<T>(self, column: &str) -> Result<T, Fault>
    where
        T: Decode<'r, Sqlite> + Type<Sqlite>,
    {
        self.0.try_get(column).map_err(|error| Fault::damaged(format!("{column}: {error}")))
    }

    /// Sixteen bytes that are an id.
    pub(crate) fn id<T>(
        self,
        column: &str,
        read: fn(&[u8]) -> Result<T, IdError>,
    ) -> Result<T, Fault> {
        read(self.get::<&[u8]>(column)?).map_err(|error| bad(column, error))
    }

    /// The same, or nothing.
    pub(crate) fn id_if<T>(
        self,
        column: &str,
        read: fn(&[u8]) -> Result<T, IdError>,
    ) -> Result<Option<T>, Fault> {
        let bytes = self.get::<Option<&[u8]>>(column)?;
        bytes.map(read).transpose().map_err(|error| bad(column, error))
    }

    /// A word, a slug, a tier: anything with a parser.
    pub(crate) fn parsed<T>(self, column: &str) -> Result<T, Fault>
    where
        T: FromStr<Err: Display>,
    {
        self.get::<&str>(column)?.parse().map_err(|error| bad(column, error))
    }

    /// The same, or nothing.
    fn parsed_if<T>(self, column: &str) -> Result<Option<T>, Fault>
    where
        T: FromStr<Err: Display>,
    {
        self.get::<Option<&str>>(column)?.map(|_| self.parsed(column)).transpose()
    }

    fn title(self, column: &str) -> Result<Title, Fault> {
        Title::parse(self.get(column)?).map_err(|error| bad(column, error))
    }

    pub(crate) fn json<T: serde::de::DeserializeOwned>(self, column: &str) -> Result<T, Fault> {
        serde_json::from_str(self.get(column)?).map_err(|error| bad(column, error))
    }

    pub(crate) fn flag(self, column: &str) -> Result<bool, Fault> {
        match self.get::<i64>(column)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(bad(column, other)),
        }
    }

    fn time(self, column: &str) -> Result<Timestamp, Fault> {
        self.get(column).map(Timestamp::from_millis)
    }

    fn time_if(self, column: &str) -> Result<Option<Timestamp>, Fault> {
        Ok(self.get::<Option<i64>>(column)?.map(Timestamp::from_millis))
    }

    pub(crate) fn revision(self, column: &str) -> Result<u32, Fault> {
        u32::try_from(self.get::<i64>(column)?).map_err(|error| bad(column, error))
    }

    fn revision_if(self, column: &str) -> Result<Option<u32>, Fault> {
        let number = self.get::<Option<i64>>(column)?;
        number.map(u32::try_from).transpose().map_err(|error| bad(column, error))
    }

    pub(crate) fn digest(self, column: &str) -> Result<Digest, Fault> {
        bytes32(self.get(column)?).map(Digest::from_bytes).ok_or_else(|| bad(column, "length"))
    }

    fn provenance(self) -> Result<Provenance, Fault> {
        Ok(Provenance {
            author: self.id_if("author", AgentId::from_bytes)?.map_or(Author::Owner, Author::Agent),
            proposal: self.id_if("proposal", narthex_core::ProposalId::from_bytes)?,
            taint: self.taint()?,
        })
    }

    fn taint(self) -> Result<Taint, Fault> {
        Ok(Taint { private: self.flag("taint_private")?, untrusted: self.flag("taint_untrusted")? })
    }

    pub(crate) fn draft(self) -> Result<PageDraft, Fault> {
        let (slug, title) = (self.parsed("slug")?, self.title("title")?);
        let tags: Vec<String> = self.json("tags")?;
        PageDraft::new(slug, title, self.get("body")?, tags).map_err(|error| bad("page", error))
    }

    /// No slug: no draft.
    fn draft_if(self) -> Result<Option<PageDraft>, Fault> {
        match self.get::<Option<&str>>("slug")? {
            None => Ok(None),
            Some(_) => self.draft().map(Some),
        }
    }

    /// In the one form it is kept in: any other was put there from outside.
    fn merge_if(self) -> Result<Option<MergeRequest>, Fault> {
        let Some(text) = self.get::<Option<&str>>("merge")? else { return Ok(None) };
        let merge: MergeRequest = self.json("merge")?;
        if merge_text(&merge) == text { Ok(Some(merge)) } else { Err(bad("merge", "its form")) }
    }
}

fn bad(column: &str, why: impl Display) -> Fault {
    Fault::damaged(format!("{column}: {why}"))
}

pub(crate) fn bytes32(bytes: &[u8]) -> Option<[u8; 32]> {
    bytes.try_into().ok()
}

pub(crate) fn space(row: Fields<'_>) -> Result<Space, Fault> {
    Ok(Space {
        id: row.id("id", narthex_core::SpaceId::from_bytes)?,
        slug: row.parsed("slug")?,
        name: row.title("name")?,
        ceiling: row.parsed_if("ceiling")?,
        created: row.time("created")?,
    })
}

/// Expects the space's id as `space_id`.
pub(crate) fn page(row: Fields<'_>) -> Result<Page, Fault> {
    Ok(Page {
        id: row.id("id", narthex_core::PageId::from_bytes)?,
        space: row.id("space_id", narthex_core::SpaceId::from_bytes)?,
        draft: row.draft()?,
        revision: row.revision("revision")?,
        provenance: row.provenance()?,
        foreign_history: row.flag("foreign_history")?,
        created: row.time("created")?,
        updated: row.time("updated")?,
    })
}

/// Expects the space's id as `space_id`.
pub(crate) fn page_summary(row: Fields<'_>) -> Result<PageSummary, Fault> {
    Ok(PageSummary {
        id: row.id("id", narthex_core::PageId::from_bytes)?,
        space: row.id("space_id", narthex_core::SpaceId::from_bytes)?,
        slug: row.parsed("slug")?,
        title: row.title("title")?,
        tags: row.json("tags")?,
        revision: row.revision("revision")?,
        foreign_history: row.flag("foreign_history")?,
        updated: row.time("updated")?,
    })
}

pub(crate) fn page_revision(row: Fields<'_>) -> Result<PageRevision, Fault> {
    Ok(PageRevision {
        id: row.id("id", narthex_core::RevisionId::from_bytes)?,
        page: row.id("page", narthex_core::PageId::from_bytes)?,
        revision: row.revision("revision")?,
        draft: row.draft_if()?,
        provenance: row.provenance()?,
        at: row.time("at")?,
    })
}

/// Expects the space's id as `space_id`.
pub(crate) fn agent(row: Fields<'_>) -> Result<Agent, Fault> {
    Ok(Agent {
        id: row.id("id", AgentId::from_bytes)?,
        slug: row.parsed("slug")?,
        name: row.title("name")?,
        kind: agent_kind(row.get("kind")?)?,
        model: row.get("model")?,
        grants: row.json("grants")?,
        ceiling: row.parsed("ceiling")?,
        budget: match row.get::<Option<&str>>("budget")? {
            None => None,
            Some(_) => Some(row.json("budget")?),
        },
        tiers: match row.get::<Option<&str>>("tiers")? {
            None => ToolTiers::default(),
            Some(_) => row.json("tiers")?,
        },
        space: row.id_if("space_id", narthex_core::SpaceId::from_bytes)?,
        disabled: row.flag("disabled")?,
        created: row.time("created")?,
    })
}

pub(crate) fn agent_kind(word: &str) -> Result<AgentKind, Fault> {
    [AgentKind::External, AgentKind::Companion]
        .into_iter()
        .find(|kind| kind.as_str() == word)
        .ok_or_else(|| bad("kind", word))
}

/// Expects the columns of a token under `token_…` names where an agent's stand beside them.
pub(crate) fn token_summary(row: Fields<'_>) -> Result<TokenSummary, Fault> {
    Ok(TokenSummary {
        id: row.id("token_id", narthex_core::TokenId::from_bytes)?,
        agent: row.id("token_agent", AgentId::from_bytes)?,
        label: TokenLabel::parse(row.get("label")?).map_err(|error| bad("label", error))?,
        created: row.time("token_created")?,
        expires: row.time_if("expires")?,
        revoked: row.time_if("revoked")?,
        last_used: row.time_if("last_used")?,
    })
}

/// Expects the space's id as `space_id`.
pub(crate) fn proposal(row: Fields<'_>) -> Result<Proposal, Fault> {
    Ok(Proposal {
        id: row.id("id", narthex_core::ProposalId::from_bytes)?,
        agent: row.id("agent", AgentId::from_bytes)?,
        space: row.id("space_id", narthex_core::SpaceId::from_bytes)?,
        entity_type: row.parsed("entity_type")?,
        action: row.parsed("action")?,
        page: row.id_if("page", narthex_core::PageId::from_bytes)?,
        base_revision: row.revision_if("base_revision")?,
        draft: row.draft_if()?,
        merge: row.merge_if()?,
        server: row.parsed_if("server")?,
        reason: row.get("reason")?,
        taint: row.taint()?,
        status: row.parsed("status")?,
        note: row.get("note")?,
        created: row.time("created")?,
        decided: row.time_if("decided")?,
    })
}

pub(crate) fn conversation(row: Fields<'_>) -> Result<Conversation, Fault> {
    let ConversationSummary { id, title, created } = conversation_summary(row)?;
    Ok(Conversation { id, title, body: row.get("body")?, created })
}

pub(crate) fn conversation_summary(row: Fields<'_>) -> Result<ConversationSummary, Fault> {
    Ok(ConversationSummary {
        id: row.id("id", narthex_core::ConversationId::from_bytes)?,
        title: row.title("title")?,
        created: row.time("created")?,
    })
}

pub(crate) fn stored_record(row: Fields<'_>) -> Result<StoredRecord, Fault> {
    Ok(StoredRecord {
        seq: seq(row)?,
        bytes: row.get::<&[u8]>("bytes")?.to_vec(),
        hash: row.digest("hash")?,
    })
}

pub(crate) fn head(row: Fields<'_>) -> Result<Head, Fault> {
    Ok(Head { seq: seq(row)?, hash: row.digest("hash")?, mac: row.digest("mac")? })
}

pub(crate) fn seal(row: Fields<'_>) -> Result<Seal, Fault> {
    Ok(Seal {
        size: u64::try_from(row.get::<i64>("size")?).map_err(|error| bad("size", error))?,
        note: row.get::<&str>("note")?.to_owned(),
        frontier: row.get::<&[u8]>("frontier")?.to_vec(),
    })
}

pub(crate) fn seq(row: Fields<'_>) -> Result<u64, Fault> {
    u64::try_from(row.get::<i64>("seq")?).map_err(|error| bad("seq", error))
}

/// A record's number as SQLite holds it.
pub(crate) fn number(seq: u64) -> Result<i64, Fault> {
    i64::try_from(seq).map_err(Fault::damaged)
}
