//! The full-text index of one space. The texts lie in `pages`; the index must be told exactly
//! what it was told before when a page changes or goes.

use narthex_core::PageDraft;
use sqlx::{AssertSqlSafe, SqliteConnection};

use crate::fault::Fault;

/// The index of a new space. Only its number goes into the text of the statement.
pub(super) async fn create(conn: &mut SqliteConnection, space: i64) -> Result<(), Fault> {
    let sql = format!(
        "CREATE VIRTUAL TABLE fts_{space} USING fts5(
             title, tags, body,
             content = 'page_text', content_rowid = 'n',
             tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3')"
    );
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(conn).await?;
    Ok(())
}

/// A page comes into the index.
pub(super) async fn add(
    conn: &mut SqliteConnection,
    space: i64,
    row: i64,
    draft: &PageDraft,
) -> Result<(), Fault> {
    let sql = format!("INSERT INTO fts_{space} (rowid, title, tags, body) VALUES (?1, ?2, ?3, ?4)");
    run(conn, sql, row, draft).await
}

/// A page leaves it, with what it said when it came.
pub(super) async fn remove(
    conn: &mut SqliteConnection,
    space: i64,
    row: i64,
    draft: &PageDraft,
) -> Result<(), Fault> {
    let sql = format!(
        "INSERT INTO fts_{space} (fts_{space}, rowid, title, tags, body)
         VALUES ('delete', ?1, ?2, ?3, ?4)"
    );
    run(conn, sql, row, draft).await
}

async fn run(
    conn: &mut SqliteConnection,
    sql: String,
    row: i64,
    draft: &PageDraft,
) -> Result<(), Fault> {
    sqlx::query(AssertSqlSafe(sql))
        .bind(row)
        .bind(draft.title.as_str())
        // INVARIANT: the same line that the view `page_text` makes of the tags.
        .bind(draft.tags.join(", "))
        .bind(draft.body.as_str())
        .execute(conn)
        .await?;
    Ok(())
}
