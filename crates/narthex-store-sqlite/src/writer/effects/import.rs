//! Many pages at once, by slug.

use narthex_core::{PageDraft, Provenance, SpaceId, Timestamp};
use narthex_store::{Effected, ImportOutcome, ImportedPage};
use sqlx::SqliteConnection;

use super::page_rows::{self, Current, Stamp};
use super::space_number;
use crate::fault::Fault;

/// New ones are made, changed ones revised, equal ones left alone.
pub(super) async fn pages(
    conn: &mut SqliteConnection,
    space: SpaceId,
    pages: Vec<ImportedPage>,
    at: Timestamp,
) -> Result<Effected, Fault> {
    let space = space_number(conn, space).await?;
    let mut outcomes = Vec::with_capacity(pages.len());
    for page in pages {
        outcomes.push(one(conn, space, &page, at).await?);
    }
    Ok(Effected::Imported(outcomes))
}

async fn one(
    conn: &mut SqliteConnection,
    space: i64,
    page: &ImportedPage,
    at: Timestamp,
) -> Result<ImportOutcome, Fault> {
    let by = Stamp { revision: page.revision, provenance: Provenance::OWNER, at };
    match Current::by_slug(conn, space, &page.draft.slug).await? {
        None => {
            page_rows::insert(conn, space, page.page, &page.draft, &by).await?;
            Ok(ImportOutcome::Created)
        }
        Some(current) if says_the_same(&current.draft, &page.draft) => Ok(ImportOutcome::Unchanged),
        Some(current) => {
            page_rows::revise(conn, &current, &page.draft, &by).await?;
            Ok(ImportOutcome::Updated)
        }
    }
}

fn says_the_same(a: &PageDraft, b: &PageDraft) -> bool {
    a.title == b.title && a.body == b.body && a.tags == b.tags
}
