//! Spaces.

use narthex_core::{Space, Tier};
use narthex_store::{Effected, Refused};
use sqlx::SqliteConnection;

use super::fts;
use crate::fault::Fault;

/// A new space, with the full-text index that only its own pages are in.
pub(super) async fn add(conn: &mut SqliteConnection, space: &Space) -> Result<Effected, Fault> {
    let taken: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM spaces WHERE slug = ?1)")
        .bind(space.slug.as_str())
        .fetch_one(&mut *conn)
        .await?;
    if taken {
        return Err(Refused::Taken("slug").into());
    }
    let added = sqlx::query(
        "INSERT INTO spaces (id, slug, name, ceiling, created) VALUES (?1, ?2, ?3, ?4, ?5)",
    )
    .bind(space.id.as_bytes().as_slice())
    .bind(space.slug.as_str())
    .bind(space.name.as_str())
    .bind(space.ceiling.map(Tier::as_str))
    .bind(space.created.as_millis())
    .execute(&mut *conn)
    .await?;
    fts::create(conn, added.last_insert_rowid()).await?;
    Ok(Effected::Done)
}
