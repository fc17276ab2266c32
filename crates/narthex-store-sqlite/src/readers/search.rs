//! Full-text search in the index of one space.
//!
//! Each space has an index of its own, because bm25 over a shared one would tell, by its scores,
//! what is in the spaces one may not see.

use narthex_store::{Hit, SearchQuery, Term};
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, SqlitePool};

use crate::fault::Fault;
use crate::rows::{self, Fields};

/// All terms first; if no page has them all, any. `space` is the short key of the space.
pub(super) async fn search(
    readers: &SqlitePool,
    space: i64,
    query: &SearchQuery,
    limit: u32,
) -> Result<Vec<Hit>, Fault> {
    if query.terms().is_empty() || limit == 0 {
        return Ok(Vec::new());
    }
    let hits = matching(readers, space, &expression(query, " AND "), limit).await?;
    if hits.is_empty() && query.terms().len() > 1 {
        return matching(readers, space, &expression(query, " OR "), limit).await;
    }
    Ok(hits)
}

async fn matching(
    readers: &SqlitePool,
    space: i64,
    expression: &str,
    limit: u32,
) -> Result<Vec<Hit>, Fault> {
    // Only the number of the space goes into the text of the statement. `CROSS JOIN` holds SQLite
    // to this order: the index first, then the pages it names.
    let sql = format!(
        "SELECT p.id, s.id AS space_id, p.slug, p.title, p.tags, p.revision, p.foreign_history,
                p.updated, snippet(fts_{space}, -1, '**', '**', '…', 24) AS snippet, rank
           FROM fts_{space}
           CROSS JOIN pages p ON p.n = fts_{space}.rowid AND p.space = ?2
           CROSS JOIN spaces s ON s.n = p.space
          WHERE fts_{space} MATCH ?1 AND rank MATCH 'bm25({TITLE_WEIGHT}, {TAGS_WEIGHT}, 1.0)'
          ORDER BY rank LIMIT ?3"
    );
    let found: Vec<SqliteRow> = sqlx::query(AssertSqlSafe(sql))
        .bind(expression)
        .bind(space)
        .bind(i64::from(limit))
        .fetch_all(readers)
        .await?;
    let mut hits = found.iter().map(|row| hit(Fields(row))).collect::<Result<Vec<_>, _>>()?;
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.page.slug.cmp(&b.page.slug)));
    Ok(hits)
}

fn hit(row: Fields<'_>) -> Result<Hit, Fault> {
    Ok(Hit {
        page: rows::page_summary(row)?,
        snippet: row.get("snippet")?,
        // bm25 calls the best match the lowest.
        score: -row.get::<f64>("rank")?,
    })
}

/// Every term is a quoted string, so nothing in it can be an operator.
fn expression(query: &SearchQuery, between: &str) -> String {
    query.terms().iter().map(term).collect::<Vec<_>>().join(between)
}

fn term(term: &Term) -> String {
    match term {
        Term::Word(word) => quoted(word),
        Term::Prefix(word) => quoted(word) + "*",
        Term::Phrase(words) => quoted(&words.join(" ")),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\"").replace('\0', " "))
}

const TITLE_WEIGHT: &str = "8.0";
const TAGS_WEIGHT: &str = "4.0";

#[cfg(test)]
mod tests {
    use super::{expression, quoted};
    use narthex_store::SearchQuery;

    #[test]
    fn terms_are_quoted_whatever_is_in_them() {
        for (text, expected) in [
            ("a b", "\"a\" AND \"b\""),
            ("pre*", "\"pre\"*"),
            ("\"a b\" c", "\"a b\" AND \"c\""),
            ("a OR b", "\"a\" AND \"OR\" AND \"b\""),
        ] {
            assert_eq!(expression(&SearchQuery::parse(text), " AND "), expected, "{text:?}");
        }
        assert_eq!(quoted("a\"b\0c"), "\"a\"\"b c\"");
    }
}
