//! A new graph.

use narthex_core::BranchName;
use narthex_store::{Commit, GraphDone, GraphInfo, Refused};
use sqlx::{AssertSqlSafe, SqliteConnection};

use super::super::space_number;
use super::{commit, lines};
use crate::fault::Fault;
use crate::gate::Bench;
use crate::graphs::{Line, graph_mac};

/// A graph with its first commit, and the full-text indexes that only its own texts are in.
pub(super) async fn found(
    bench: &mut Bench<'_>,
    info: &GraphInfo,
    first: Commit,
    schema: &str,
) -> Result<GraphDone, Fault> {
    let space = space_number(bench.conn, info.space).await?;
    let taken: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM graphs WHERE slug = ?1)")
        .bind(info.slug.as_str())
        .fetch_one(&mut *bench.conn)
        .await?;
    if taken {
        return Err(Refused::GraphExists.into());
    }
    let n = add(bench, info, space).await?;
    create_fts(bench.conn, n).await?;
    let main = Line {
        n: 0,
        graph: n,
        name: BranchName::main(),
        fork: None,
        head: 0,
        owner: None,
        protected: true,
        dropped: false,
        created: info.created,
    };
    let mut main = lines::add(bench, main).await?;
    commit::keep_schema(bench.conn, n, first.schema, schema).await?;
    let first = commit::fitted(first, &main, true, &[])?;
    main.head = 1;
    commit::record(bench, &main, &first, Vec::new()).await?;
    lines::done(bench, &main).await
}

async fn add(bench: &mut Bench<'_>, info: &GraphInfo, space: i64) -> Result<i64, Fault> {
    let added = sqlx::query(
        "INSERT INTO graphs (id, space, slug, salt, created, mac)
         VALUES (?1, ?2, ?3, ?4, ?5, zeroblob(32))",
    )
    .bind(info.id.as_bytes().as_slice())
    .bind(space)
    .bind(info.slug.as_str())
    .bind(info.salt.as_slice())
    .bind(info.created.as_millis())
    .execute(&mut *bench.conn)
    .await?;
    let n = added.last_insert_rowid();
    sqlx::query("UPDATE graphs SET mac = ?2 WHERE n = ?1")
        .bind(n)
        .bind(graph_mac(bench.key, n, space, info).as_bytes().as_slice())
        .execute(&mut *bench.conn)
        .await?;
    Ok(n)
}

/// Texts are split at spaces and nowhere else: to this tokenizer, whatever is beyond ASCII belongs to
/// a word, and so does what is named here. Only the graph's number goes into the statement.
async fn create_fts(conn: &mut SqliteConnection, n: i64) -> Result<(), Fault> {
    for name in ["graph_fts", "graph_fts_old"] {
        let sql = format!(
            "CREATE VIRTUAL TABLE {name}_{n} USING fts5(
                 words, content = '', contentless_delete = 1,
                 tokenize = 'ascii tokenchars ''!\"#$%&''''()*+,-./:;<=>?@[\\]^_`{{|}}~''')"
        );
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *conn).await?;
    }
    Ok(())
}
