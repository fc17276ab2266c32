//! A graph goes, with all that is in it.

use narthex_store::{GraphDone, LineNo};
use sqlx::{AssertSqlSafe, SqliteConnection};

use crate::fault::Fault;

pub(super) async fn remove(conn: &mut SqliteConnection, graph: i64) -> Result<GraphDone, Fault> {
    for table in [
        "graph_rows",
        "graph_from",
        "graph_to",
        "graph_history",
        "graph_index",
        "graph_index_old",
        "graph_indexes",
        "graph_texts",
        "graph_texts_old",
        "graph_touched",
        "graph_commits",
    ] {
        let sql = format!(
            "DELETE FROM {table} WHERE line IN (SELECT n FROM graph_lines WHERE graph = ?1)"
        );
        sqlx::query(AssertSqlSafe(sql)).bind(graph).execute(&mut *conn).await?;
    }
    let sql = format!("DROP TABLE graph_fts_{graph}; DROP TABLE graph_fts_old_{graph}");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *conn).await?;
    // Lines name each other: they let go before they go.
    sqlx::query(
        "DELETE FROM graph_schemas WHERE graph = ?1;
         UPDATE graph_lines SET parent = NULL, fork = NULL WHERE graph = ?1;
         DELETE FROM graph_lines WHERE graph = ?1;
         DELETE FROM graphs WHERE n = ?1",
    )
    .bind(graph)
    .execute(&mut *conn)
    .await?;
    Ok(GraphDone { line: LineNo(0), seq: 0, commit: None })
}
