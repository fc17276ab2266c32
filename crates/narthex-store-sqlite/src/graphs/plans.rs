//! That every statement of a view finds what it looks for by a key, and walks through nothing.

use narthex_store::Side;
use sqlx::{AssertSqlSafe, Connection as _, Row as _, SqliteConnection};

use super::layers::{Layers, Segment};
use super::{edges, index, pack, rows, search};

/// At its head; then a branch, a branch of a branch, and one looked back at.
const VIEWS: [&[(i64, bool)]; 4] = [
    &[(1, true)],
    &[(2, true), (1, false)],
    &[(3, true), (2, false), (1, true)],
    &[(2, false), (1, false)],
];

async fn plan(conn: &mut SqliteConnection, sql: &str) -> Vec<String> {
    let rows = sqlx::query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}")))
        .fetch_all(conn)
        .await
        .expect("it is sound");
    rows.iter().map(|row| row.get::<String, _>("detail")).collect()
}

fn walks(step: &str) -> bool {
    step.starts_with("SCAN")
        && !step.contains("VIRTUAL TABLE")
        && !step.contains("subquery")
        && !step.starts_with("SCAN (")
        && !step.contains("CONSTANT ROW")
}

#[tokio::test]
async fn every_look_goes_by_a_key() {
    let mut conn = SqliteConnection::connect("sqlite::memory:").await.unwrap();
    sqlx::migrate!("./migrations").run(&mut conn).await.unwrap();
    for fts in ["graph_fts_1", "graph_fts_old_1"] {
        let sql = format!("CREATE VIRTUAL TABLE {fts} USING fts5(words)");
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut conn).await.unwrap();
    }
    let range = "graph_index g USING PRIMARY KEY (line=? AND tag=? AND value>? AND value<?)";
    for view in VIEWS {
        let segments: Vec<Segment> =
            view.iter().map(|&(line, at_head)| Segment { line, upto: 5, at_head }).collect();
        let over = |before| Layers { segments: &segments, before };
        for (sql, by) in [
            (rows::scan_sql(over(3), true), "r USING PRIMARY KEY (line=? AND tag=? AND row>?)"),
            (rows::scan_sql(over(3), false), "r USING PRIMARY KEY (line=? AND tag=? AND row>?)"),
            (
                edges::edges_sql(over(2), Side::From, false),
                "e USING PRIMARY KEY (line=? AND tag=? AND a=?)",
            ),
            (
                edges::edges_sql(over(2), Side::To, true),
                "e USING PRIMARY KEY (line=? AND tag=? AND b=?)",
            ),
            (index::any_sql(over(3)), "g USING PRIMARY KEY (line=? AND tag=? AND value=?)"),
            (index::between_sql(over(4), (true, false)), &range["graph_index ".len()..]),
            (search::search_sql(over(3), 1), "t USING INTEGER PRIMARY KEY (rowid=?)"),
        ] {
            let steps = plan(&mut conn, &sql).await;
            assert!(!steps.iter().any(|step| walks(step)), "{steps:#?}\n{sql}");
            assert!(steps.iter().any(|step| step.ends_with(by)), "{by}: {steps:#?}\n{sql}");
        }
    }
    for at_head in [true, false] {
        let steps = plan(&mut conn, &pack::packed(rows::versions_sql(at_head))).await;
        assert!(!steps.iter().any(|step| walks(step)), "{steps:#?}");
        let key = "SEARCH r USING PRIMARY KEY (line=? AND tag=? AND row=?)";
        assert!(steps.iter().any(|step| step == key), "{steps:#?}");
    }
}
