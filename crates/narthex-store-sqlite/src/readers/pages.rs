//! Pages of one space. The space leads every key.

use async_trait::async_trait;
use narthex_core::{
    PageId, PageKey, PageRef, PageRevision, PageSlug, PageSummary, PageView, SpaceId, Title,
};
use narthex_store::{Hit, Pages, RevisionFilter, SearchQuery, StoreError};

use crate::fault::Fault;
use crate::rows::Fields;
use crate::{SqliteStore, rows};

#[async_trait]
impl Pages for SqliteStore {
    async fn page(&self, space: SpaceId, key: &PageKey) -> Result<Option<PageView>, StoreError> {
        let epoch = self.standing.content_epoch();
        if let Some(view) = self.memory.page(epoch, space, key) {
            return Ok(Some(view.as_ref().clone()));
        }
        let query = match key {
            PageKey::Id(id) => sqlx::query(PAGE_BY_ID)
                .bind(space.as_bytes().as_slice())
                .bind(id.as_bytes().as_slice()),
            PageKey::Slug(slug) => {
                sqlx::query(PAGE_BY_SLUG).bind(space.as_bytes().as_slice()).bind(slug.as_str())
            }
        };
        let view = super::one(query.fetch_optional(&self.readers).await, page_view)?;
        if let Some(view) = &view {
            self.memory.keep_page(epoch, key.clone(), view);
        }
        Ok(view)
    }

    async fn pages(
        &self,
        space: SpaceId,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<PageSummary>, StoreError> {
        let rows = sqlx::query(PAGES_BY_SLUG)
            .bind(space.as_bytes().as_slice())
            .bind(after.unwrap_or_default())
            .bind(i64::from(limit))
            .fetch_all(&self.readers)
            .await;
        super::all(rows, rows::page_summary)
    }

    async fn page_count(&self, space: SpaceId) -> Result<u64, StoreError> {
        let row = sqlx::query(
            "SELECT count(*) AS pages FROM spaces s JOIN pages p ON p.space = s.n WHERE s.id = ?1",
        )
        .bind(space.as_bytes().as_slice())
        .fetch_optional(&self.readers)
        .await;
        let pages = super::one(row, |row| row.get::<i64>("pages"))?.unwrap_or_default();
        Ok(u64::try_from(pages).unwrap_or_default())
    }

    async fn recent_pages(
        &self,
        space: SpaceId,
        limit: u32,
    ) -> Result<Vec<PageSummary>, StoreError> {
        let rows = sqlx::query(PAGES_BY_TIME)
            .bind(space.as_bytes().as_slice())
            .bind(i64::from(limit))
            .fetch_all(&self.readers)
            .await;
        super::all(rows, rows::page_summary)
    }

    async fn revisions(
        &self,
        space: SpaceId,
        page: PageId,
        filter: RevisionFilter,
    ) -> Result<Vec<PageRevision>, StoreError> {
        let number = match filter {
            RevisionFilter::All => None,
            RevisionFilter::Number(number) => Some(i64::from(number)),
        };
        let rows = sqlx::query(REVISIONS)
            .bind(space.as_bytes().as_slice())
            .bind(page.as_bytes().as_slice())
            .bind(number)
            .fetch_all(&self.readers)
            .await;
        super::all(rows, rows::page_revision)
    }

    async fn search(
        &self,
        space: SpaceId,
        query: &SearchQuery,
        limit: u32,
    ) -> Result<Vec<Hit>, StoreError> {
        let Some(known) = self.known_space(space).await? else { return Ok(Vec::new()) };
        Ok(super::search::search(&self.readers, known.number, query, limit).await?)
    }
}

fn page_view(row: Fields<'_>) -> Result<PageView, Fault> {
    Ok(PageView {
        page: rows::page(row)?,
        links: refs(row, "links")?,
        backlinks: refs(row, "backlinks")?,
    })
}

/// `[[slug, title or null, foreign or null], …]`, put in slug order.
fn refs(row: Fields<'_>, column: &str) -> Result<Vec<PageRef>, Fault> {
    let mut refs: Vec<(PageSlug, Option<Title>, Option<i64>)> =
        serde_json::from_str(row.get(column)?)
            .map_err(|error| Fault::damaged(format!("{column}: {error}")))?;
    refs.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    let page = |(slug, title, foreign)| PageRef { slug, title, foreign: foreign == Some(1) };
    Ok(refs.into_iter().map(page).collect())
}

/// One statement for a page and both sides of its links. A title comes only from a page of the
/// same space. `CROSS JOIN` holds SQLite to the order written here: left to itself it walks all
/// pages of the space in slug order.
macro_rules! page_by {
    ($key:literal) => {
        concat!(
            "SELECT p.id, s.id AS space_id, p.slug, p.title, p.body, p.tags, p.revision, p.author,
                    p.proposal, p.taint_private, p.taint_untrusted, p.foreign_history, p.created,
                    p.updated,
                    (SELECT json_group_array(json_array(l.slug, t.title, t.foreign_history))
                       FROM links l
                       LEFT JOIN pages t ON t.space = l.space AND t.slug = l.slug
                      WHERE l.space = p.space AND l.from_page = p.n) AS links,
                    (SELECT json_group_array(json_array(slug, title, foreign_history))
                       FROM (SELECT f.slug, f.title, f.foreign_history
                               FROM links b
                               CROSS JOIN pages f ON f.n = b.from_page AND f.space = b.space
                              WHERE b.space = p.space AND b.slug = p.slug
                              ORDER BY f.slug LIMIT 2000)) AS backlinks
               FROM spaces s
               JOIN pages p ON p.space = s.n
              WHERE s.id = ?1 AND ",
            $key
        )
    };
}

const PAGE_BY_ID: &str = page_by!("p.id = ?2");
const PAGE_BY_SLUG: &str = page_by!("p.slug = ?2");

const PAGES_BY_SLUG: &str = "SELECT p.id, s.id AS space_id, p.slug, p.title, p.tags, p.revision,
        p.foreign_history, p.updated
   FROM spaces s JOIN pages p ON p.space = s.n
  WHERE s.id = ?1 AND p.slug > ?2 ORDER BY p.slug LIMIT ?3";

const PAGES_BY_TIME: &str = "SELECT p.id, s.id AS space_id, p.slug, p.title, p.tags, p.revision,
        p.foreign_history, p.updated
   FROM spaces s JOIN pages p ON p.space = s.n
  WHERE s.id = ?1 ORDER BY p.updated DESC, p.slug LIMIT ?2";

const REVISIONS: &str =
    "SELECT r.id, r.page, r.revision, r.slug, r.title, r.body, r.tags, r.author,
        r.proposal, r.taint_private, r.taint_untrusted, r.at
   FROM spaces s JOIN page_revisions r ON r.space = s.n
  WHERE s.id = ?1 AND r.page = ?2 AND (?3 IS NULL OR r.revision = ?3)
  ORDER BY r.revision DESC";
