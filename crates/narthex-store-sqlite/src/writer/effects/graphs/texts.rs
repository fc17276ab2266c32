//! Texts that are searched. A superseded one moves to an index of its own, so that looking for what
//! is current never wades through what was.

use std::collections::BTreeMap;

use narthex_store::{IndexBuild, RowWrite};
use sqlx::{AssertSqlSafe, SqliteConnection};

use super::bulk::{Bulk, Values};
use super::commit::Onto;
use super::rows::{by_tag, numbers};
use crate::fault::Fault;
use crate::graphs::list;

/// Words by the type of their row, the row, and the index.
type Texts<'a> = BTreeMap<(i64, i64, i64), &'a str>;

pub(super) async fn write(
    conn: &mut SqliteConnection,
    onto: Onto,
    writes: &[RowWrite],
    builds: &[IndexBuild],
) -> Result<(), Fault> {
    let mut texts = Texts::new();
    for write in writes {
        for text in &write.texts {
            texts.insert((write.tag.0, write.row.0, text.index.0), text.words.as_str());
        }
    }
    if !onto.fresh {
        supersede(conn, onto, writes, &mut texts).await?;
    }
    for build in builds {
        let (index, of) = (build.index.0, build.of.0);
        // A row that the commit writes itself has said what is in it.
        for (row, words) in &build.texts {
            texts.entry((of, row.0, index)).or_insert(words.as_str());
        }
    }
    add(conn, onto, texts).await
}

/// Moves the texts of the versions before. What is the same before and after stays where it is, and
/// is taken from what is to be added.
async fn supersede(
    conn: &mut SqliteConnection,
    onto: Onto,
    writes: &[RowWrite],
    texts: &mut Texts<'_>,
) -> Result<(), Fault> {
    let mut gone: Vec<i64> = Vec::new();
    for (tag, some) in by_tag(writes) {
        let before: Vec<(i64, i64, i64, String)> = sqlx::query_as(
            "SELECT t.n, t.tag, t.row, t.words FROM json_each(?3) k CROSS JOIN graph_texts t
                 ON t.line = ?1 AND t.of = ?2 AND t.row = k.value",
        )
        .bind(onto.line)
        .bind(tag.0)
        .bind(numbers(some, |_| true))
        .fetch_all(&mut *conn)
        .await?;
        for (n, index, row, words) in before {
            let name = (tag.0, row, index);
            if texts.get(&name) == Some(&words.as_str()) {
                texts.remove(&name);
            } else {
                gone.push(n);
            }
        }
    }
    if gone.is_empty() {
        return Ok(());
    }
    let sql = format!(
        "INSERT INTO graph_fts_old_{0} (rowid, words)
         SELECT t.n, t.words FROM json_each(?1) k CROSS JOIN graph_texts t ON t.n = k.value;
         INSERT INTO graph_texts_old (n, line, tag, row, of, seq, until)
         SELECT t.n, t.line, t.tag, t.row, t.of, t.seq, ?2
           FROM json_each(?1) k CROSS JOIN graph_texts t ON t.n = k.value;
         DELETE FROM graph_fts_{0} WHERE rowid IN (SELECT value FROM json_each(?1));
         DELETE FROM graph_texts WHERE n IN (SELECT value FROM json_each(?1))",
        onto.graph
    );
    sqlx::query(AssertSqlSafe(sql)).bind(list(gone)).bind(onto.seq).execute(conn).await?;
    Ok(())
}

async fn add(conn: &mut SqliteConnection, onto: Onto, texts: Texts<'_>) -> Result<(), Fault> {
    if texts.is_empty() {
        return Ok(());
    }
    let texts: Vec<_> = texts.into_iter().collect();
    let count = i64::try_from(texts.len()).map_err(Fault::damaged)?;
    let bulk = Bulk {
        before: "INSERT INTO graph_texts (line, seq, tag, row, of, words)
                 SELECT ?, ?, column3, column2, column1, column4 FROM",
        columns: 4,
        after: "",
        first: vec![onto.line, onto.seq],
        last: Vec::new(),
    };
    let put = |((of, row, index), words): ((i64, i64, i64), &str), values: &mut Values<'_>| {
        values.add(of)?;
        values.add(row)?;
        values.add(index)?;
        values.add(words)
    };
    bulk.run(conn, texts.into_iter(), put).await?;
    // The last so many that were given a number are these.
    let sql = format!(
        "INSERT INTO graph_fts_{} (rowid, words)
         SELECT n, words FROM graph_texts
          WHERE n > (SELECT seq FROM sqlite_sequence WHERE name = 'graph_texts') - ?1 ORDER BY n",
        onto.graph
    );
    sqlx::query(AssertSqlSafe(sql)).bind(count).execute(conn).await?;
    Ok(())
}
