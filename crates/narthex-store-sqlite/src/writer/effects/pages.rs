//! Pages: written, deleted, moved.

use narthex_core::{PageId, SpaceId, Timestamp};
use narthex_store::{Effected, PageWrite, Refused};
use sqlx::SqliteConnection;

use super::page_rows::{self, Current};
use super::space_number;
use crate::fault::Fault;

pub(super) use super::page_rows::Stamp;

/// A new page, or a new revision of one that is where the caller saw it.
pub(super) async fn write(
    conn: &mut SqliteConnection,
    write: &PageWrite,
) -> Result<Effected, Fault> {
    let space = space_number(conn, write.space).await?;
    let by = Stamp { revision: write.revision, provenance: write.provenance, at: write.at };
    let revision = match write.base {
        None => page_rows::insert(conn, space, write.page, &write.draft, &by).await?,
        Some(base) => {
            let page = in_space(conn, space, write.page).await?.at(base)?;
            page_rows::revise(conn, &page, &write.draft, &by).await?
        }
    };
    Ok(Effected::PageWritten { page: write.page, revision })
}

/// Takes a page away; its revisions stay.
pub(super) async fn delete(
    conn: &mut SqliteConnection,
    space: SpaceId,
    page: PageId,
    base: u32,
    by: &Stamp,
) -> Result<Effected, Fault> {
    let space = space_number(conn, space).await?;
    let current = in_space(conn, space, page).await?.at(base)?;
    page_rows::remove(conn, &current, by).await?;
    Ok(Effected::PageDeleted { page })
}

/// Moves a page to another space.
pub(super) async fn relocate(
    conn: &mut SqliteConnection,
    from: SpaceId,
    page: PageId,
    to: SpaceId,
    at: Timestamp,
) -> Result<Effected, Fault> {
    let (from, to) = (space_number(conn, from).await?, space_number(conn, to).await?);
    let current = in_space(conn, from, page).await?;
    if from != to {
        page_rows::relocate(conn, &current, to, at).await?;
    }
    Ok(Effected::Done)
}

async fn in_space(conn: &mut SqliteConnection, space: i64, page: PageId) -> Result<Current, Fault> {
    Current::by_id(conn, space, page).await?.ok_or(Fault::Refused(Refused::NotFound("page")))
}
