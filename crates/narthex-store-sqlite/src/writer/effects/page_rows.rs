//! A page's rows, kept in step: the page, its revision, its links, its place in the index.

use narthex_core::{
    Author, PageDraft, PageId, PageSlug, Provenance, RevisionId, Timestamp, wiki_links,
};
use narthex_store::Refused;
use sqlx::query::Query;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Sqlite, SqliteConnection};

use super::fts;
use crate::fault::Fault;
use crate::rows::Fields;

/// Who writes a revision, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp {
    pub(super) revision: RevisionId,
    pub(super) provenance: Provenance,
    pub(super) at: Timestamp,
}

/// A page as it is before a change.
#[derive(Debug)]
pub(super) struct Current {
    pub(super) row: i64,
    pub(super) space: i64,
    pub(super) id: PageId,
    pub(super) draft: PageDraft,
    pub(super) revision: u32,
    foreign_history: bool,
}

impl Current {
    /// A page of this space.
    pub(super) async fn by_id(
        conn: &mut SqliteConnection,
        space: i64,
        page: PageId,
    ) -> Result<Option<Self>, Fault> {
        let row = sqlx::query(
            "SELECT n, space, id, slug, title, body, tags, revision, foreign_history
               FROM pages WHERE space = ?1 AND id = ?2",
        )
        .bind(space)
        .bind(page.as_bytes().as_slice())
        .fetch_optional(conn)
        .await?;
        row.map(|row| Self::read(Fields(&row))).transpose()
    }

    /// The page of this space that has this slug.
    pub(super) async fn by_slug(
        conn: &mut SqliteConnection,
        space: i64,
        slug: &PageSlug,
    ) -> Result<Option<Self>, Fault> {
        let row = sqlx::query(
            "SELECT n, space, id, slug, title, body, tags, revision, foreign_history
               FROM pages WHERE space = ?1 AND slug = ?2",
        )
        .bind(space)
        .bind(slug.as_str())
        .fetch_optional(conn)
        .await?;
        row.map(|row| Self::read(Fields(&row))).transpose()
    }

    fn read(row: Fields<'_>) -> Result<Self, Fault> {
        Ok(Self {
            row: row.get("n")?,
            space: row.get("space")?,
            id: row.id("id", PageId::from_bytes)?,
            draft: row.draft()?,
            revision: row.revision("revision")?,
            foreign_history: row.flag("foreign_history")?,
        })
    }

    /// Refuses unless the page is where the caller saw it.
    pub(super) fn at(self, expected: u32) -> Result<Self, Fault> {
        if self.revision == expected {
            Ok(self)
        } else {
            Err(Refused::Stale { expected, is: self.revision }.into())
        }
    }

    fn next_revision(&self) -> Result<u32, Fault> {
        self.revision.checked_add(1).ok_or_else(|| Fault::damaged("a page has no number left"))
    }
}

/// Refuses if another page of the space has the slug.
pub(super) async fn slug_is_free(
    conn: &mut SqliteConnection,
    space: i64,
    slug: &PageSlug,
) -> Result<(), Fault> {
    let taken: bool =
        sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM pages WHERE space = ?1 AND slug = ?2)")
            .bind(space)
            .bind(slug.as_str())
            .fetch_one(conn)
            .await?;
    if taken { Err(Refused::Taken("slug").into()) } else { Ok(()) }
}

/// Makes a page at revision 1.
pub(super) async fn insert(
    conn: &mut SqliteConnection,
    space: i64,
    page: PageId,
    draft: &PageDraft,
    by: &Stamp,
) -> Result<u32, Fault> {
    slug_is_free(conn, space, &draft.slug).await?;
    let query = sqlx::query(
        "INSERT INTO pages (space, id, slug, title, body, tags, revision, foreign_history,
                            created, updated, author, proposal, taint_private, taint_untrusted)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?8, ?8, ?9, ?10, ?11, ?12)",
    )
    .bind(space)
    .bind(page.as_bytes().as_slice())
    .bind(draft.slug.as_str())
    .bind(draft.title.as_str())
    .bind(draft.body.as_str())
    .bind(json(&draft.tags))
    .bind(by.provenance.is_foreign())
    .bind(by.at.as_millis());
    let row = provenance(query, &by.provenance).execute(&mut *conn).await?.last_insert_rowid();
    save_revision(conn, space, page, 1, Some(draft), by).await?;
    save_links(conn, space, row, draft).await?;
    fts::add(conn, space, row, draft).await?;
    Ok(1)
}

/// Gives a page its next revision.
///
// INVARIANT: what was foreign once stays so; no later hand washes it off.
pub(super) async fn revise(
    conn: &mut SqliteConnection,
    page: &Current,
    draft: &PageDraft,
    by: &Stamp,
) -> Result<u32, Fault> {
    if draft.slug != page.draft.slug {
        slug_is_free(conn, page.space, &draft.slug).await?;
    }
    let revision = page.next_revision()?;
    let query = sqlx::query(
        "UPDATE pages SET slug = ?2, title = ?3, body = ?4, tags = ?5, revision = ?6,
                          foreign_history = ?7, updated = ?8, author = ?9, proposal = ?10,
                          taint_private = ?11, taint_untrusted = ?12
          WHERE n = ?1",
    )
    .bind(page.row)
    .bind(draft.slug.as_str())
    .bind(draft.title.as_str())
    .bind(draft.body.as_str())
    .bind(json(&draft.tags))
    .bind(i64::from(revision))
    .bind(page.foreign_history || by.provenance.is_foreign())
    .bind(by.at.as_millis());
    fts::remove(conn, page.space, page.row, &page.draft).await?;
    provenance(query, &by.provenance).execute(&mut *conn).await?;
    fts::add(conn, page.space, page.row, draft).await?;
    save_revision(conn, page.space, page.id, revision, Some(draft), by).await?;
    drop_links(conn, page).await?;
    save_links(conn, page.space, page.row, draft).await?;
    Ok(revision)
}

/// Takes a page away and leaves a last revision that says so.
pub(super) async fn remove(
    conn: &mut SqliteConnection,
    page: &Current,
    by: &Stamp,
) -> Result<(), Fault> {
    let revision = page.next_revision()?;
    fts::remove(conn, page.space, page.row, &page.draft).await?;
    drop_links(conn, page).await?;
    sqlx::query("DELETE FROM pages WHERE n = ?1").bind(page.row).execute(&mut *conn).await?;
    save_revision(conn, page.space, page.id, revision, None, by).await
}

/// Takes a page, with everything that belongs to it, to another space.
pub(super) async fn relocate(
    conn: &mut SqliteConnection,
    page: &Current,
    to: i64,
    at: Timestamp,
) -> Result<(), Fault> {
    slug_is_free(conn, to, &page.draft.slug).await?;
    fts::remove(conn, page.space, page.row, &page.draft).await?;
    drop_links(conn, page).await?;
    sqlx::query("UPDATE pages SET space = ?2, updated = ?3 WHERE n = ?1")
        .bind(page.row)
        .bind(to)
        .bind(at.as_millis())
        .execute(&mut *conn)
        .await?;
    sqlx::query("UPDATE page_revisions SET space = ?3 WHERE space = ?1 AND page = ?2")
        .bind(page.space)
        .bind(page.id.as_bytes().as_slice())
        .bind(to)
        .execute(&mut *conn)
        .await?;
    save_links(conn, to, page.row, &page.draft).await?;
    fts::add(conn, to, page.row, &page.draft).await
}

async fn save_revision(
    conn: &mut SqliteConnection,
    space: i64,
    page: PageId,
    revision: u32,
    draft: Option<&PageDraft>,
    by: &Stamp,
) -> Result<(), Fault> {
    let query = sqlx::query(
        "INSERT INTO page_revisions (space, page, revision, id, slug, title, body, tags, at,
                                     author, proposal, taint_private, taint_untrusted)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )
    .bind(space)
    .bind(page.as_bytes().as_slice())
    .bind(i64::from(revision))
    .bind(by.revision.as_bytes().as_slice())
    .bind(draft.map(|draft| draft.slug.as_str()))
    .bind(draft.map(|draft| draft.title.as_str()))
    .bind(draft.map(|draft| draft.body.as_str()))
    .bind(draft.map(|draft| json(&draft.tags)))
    .bind(by.at.as_millis());
    provenance(query, &by.provenance).execute(conn).await?;
    Ok(())
}

async fn save_links(
    conn: &mut SqliteConnection,
    space: i64,
    row: i64,
    draft: &PageDraft,
) -> Result<(), Fault> {
    let slugs = wiki_links(&draft.body);
    if slugs.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "INSERT INTO links (space, from_page, slug) SELECT ?1, ?2, value FROM json_each(?3)",
    )
    .bind(space)
    .bind(row)
    .bind(serde_json::json!(slugs).to_string())
    .execute(conn)
    .await?;
    Ok(())
}

async fn drop_links(conn: &mut SqliteConnection, page: &Current) -> Result<(), Fault> {
    sqlx::query("DELETE FROM links WHERE space = ?1 AND from_page = ?2")
        .bind(page.space)
        .bind(page.row)
        .execute(conn)
        .await?;
    Ok(())
}

pub(super) fn json(tags: &[String]) -> String {
    serde_json::json!(tags).to_string()
}

/// The last four columns of everything that remembers where it came from.
fn provenance<'q>(
    query: Query<'q, Sqlite, SqliteArguments>,
    from: &Provenance,
) -> Query<'q, Sqlite, SqliteArguments> {
    let author = match from.author {
        Author::Owner => None,
        Author::Agent(agent) => Some(agent.as_bytes().to_vec()),
    };
    query
        .bind(author)
        .bind(from.proposal.map(|proposal| proposal.as_bytes().to_vec()))
        .bind(from.taint.private)
        .bind(from.taint.untrusted)
}
