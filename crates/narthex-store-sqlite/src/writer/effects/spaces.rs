//! Spaces.

use narthex_core::{Space, Tier};
use narthex_store::{Effected, Refused};

use super::fts;
use crate::fault::Fault;
use crate::gate::Bench;
use crate::identity::{Name, Signed, bytes, number, text};

/// A new space, with the full-text index that only its own pages are in.
pub(super) async fn add(bench: &mut Bench<'_>, space: &Space) -> Result<Effected, Fault> {
    let taken: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM spaces WHERE slug = ?1)")
        .bind(space.slug.as_str())
        .fetch_one(&mut *bench.conn)
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
    .execute(&mut *bench.conn)
    .await?;
    let n = added.last_insert_rowid();
    bench.sign(&signed(space, n)).await?;
    fts::create(bench.conn, n).await?;
    Ok(Effected::Done)
}

/// The columns, in the order of [`crate::identity::SPACES`].
fn signed(space: &Space, n: i64) -> Signed {
    let values = vec![
        bytes(space.id.as_bytes()),
        number(n),
        text(space.slug.as_str()),
        text(space.name.as_str()),
        space.ceiling.map(Tier::as_str).map(text).unwrap_or_default(),
        number(space.created.as_millis()),
    ];
    Signed::new(Name::Space(space.id), values)
}
