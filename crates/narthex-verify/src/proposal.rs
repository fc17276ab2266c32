//! The fields of a proposal, as they are under its MAC.

use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::rows::ended;

pub(crate) fn fields(row: &SqliteRow) -> Result<Vec<Vec<u8>>, sqlx::Error> {
    let bytes = |name: &str| row.try_get::<Option<&[u8]>, _>(name).map(|b| b.map(<[u8]>::to_vec));
    let text = |name: &str| {
        row.try_get::<Option<&str>, _>(name).map(|text| text.map(|text| text.as_bytes().to_vec()))
    };
    let number = |name: &str| row.try_get::<Option<i64>, _>(name);
    let millis = |name: &str| number(name).map(|at| at.map(|at| at.to_be_bytes().to_vec()));
    let base = number("base_revision")?.and_then(|base| u32::try_from(base).ok());
    let taint = ["taint_private", "taint_untrusted"]
        .iter()
        .map(|name| number(name).map(|set| u8::from(set == Some(1))))
        .collect::<Result<Vec<u8>, _>>()?;
    let fields = [
        bytes("id")?,
        bytes("agent")?,
        bytes("space_id")?,
        text("entity_type")?,
        text("action")?,
        bytes("page")?,
        base.map(|base| base.to_be_bytes().to_vec()),
        text("slug")?,
        text("title")?,
        text("body")?,
        text("tags")?,
        text("reason")?,
        Some(taint),
        text("status")?,
        text("note")?,
        millis("created")?,
        millis("decided")?,
    ];
    // Under the MAC as far as they are there: proposals from before there were any have none.
    let later = match (text("merge")?, text("server")?) {
        (None, None) => vec![],
        (merge, None) => vec![merge],
        (merge, server) => vec![merge, server],
    };
    Ok(fields.into_iter().chain(later).map(ended).collect())
}

/// Whether it may still be applied: while it waits, and a merge also when it was in conflict.
pub(crate) fn is_open(row: &SqliteRow) -> Result<bool, sqlx::Error> {
    Ok(match row.try_get("status")? {
        "pending" => true,
        "conflict" => row.try_get::<Option<&str>, _>("merge")?.is_some(),
        _ => false,
    })
}

macro_rules! proposals {
    ($merge:literal, $server:literal) => {
        concat!(
            "SELECT p.id, p.agent, s.id AS space_id, p.entity_type, p.action, p.page,
                    p.base_revision, p.slug, p.title, p.body, p.tags, p.reason, p.taint_private,
                    p.taint_untrusted, p.status, p.note, p.created, p.decided, ",
            $merge,
            " AS merge, ",
            $server,
            " AS server, p.mac, p.rowid AS place
               FROM proposals p LEFT JOIN spaces s ON s.n = p.space
              WHERE p.rowid > ?1 ORDER BY p.rowid LIMIT 500"
        )
    };
}

/// All of them.
pub(crate) const ALL: &str = proposals!("p.merge", "p.server");
/// All of them in a database of a program that knew of no servers to be asked for.
pub(crate) const ALL_BEFORE_SERVERS: &str = proposals!("p.merge", "NULL");
/// All of them in a database of a program that knew of no merges either.
pub(crate) const ALL_BEFORE_MERGES: &str = proposals!("NULL", "NULL");
