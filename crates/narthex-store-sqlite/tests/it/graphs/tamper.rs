//! Rows that decide something, changed from outside.

use narthex_core::BranchName;
use narthex_store::{At, GraphWrite, Graphs as _, Soundness as _, StoreError};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use super::{Net, node, write};

async fn sql(net: &Net, sql: &str) {
    let config = net.backend.config();
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(config.database);
    let mut conn = options.foreign_keys(false).connect().await.expect("connects");
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut conn).await.expect("runs");
    conn.close().await.expect("closes");
}

fn is_damage<T: std::fmt::Debug>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Damaged(_)))
}

#[tokio::test]
async fn a_branch_that_was_changed_is_served_to_nobody() {
    let side: BranchName = "side".parse().expect("a name");
    for change in [
        "UPDATE graph_lines SET protected = 0 WHERE name = 'side'",
        "UPDATE graph_lines SET owner = zeroblob(16) WHERE name = 'side'",
        "UPDATE graph_lines SET fork = 1 WHERE name = 'side'",
        "UPDATE graph_lines SET parent = n WHERE name = 'side'",
        "UPDATE graph_lines SET head = 1 WHERE name = 'side'",
        "UPDATE graph_lines SET created = 7 WHERE name = 'side'",
        "UPDATE graph_lines SET mac = zeroblob(32) WHERE name = 'side'",
        "DELETE FROM graph_commits WHERE seq = 2 AND line = (SELECT max(n) FROM graph_lines)",
    ] {
        let net = Net::blind().await;
        net.commit(&BranchName::main(), vec![node(1, "a")]).await;
        net.fork(&side, 2).await;
        net.commit(&side, vec![node(1, "b")]).await;
        net.commit(&side, vec![node(1, "c")]).await;
        let next = net.next(&side, vec![node(2, "d")]).await;
        sql(&net, change).await;
        assert!(is_damage(&net.store.branch(net.graph, &side).await), "{change}");
        let view = net.store.view(net.graph, &At::Branch(side.clone())).await;
        assert!(is_damage(&view.map(|view| view.map(drop))), "{change}");
        assert!(is_damage(&write(&net.store, GraphWrite::Commit(next)).await), "{change}");
        // The others are still there.
        let left = net.store.branches(net.graph).await.expect("lists");
        assert_eq!(left.iter().map(|b| b.name.as_str()).collect::<Vec<_>>(), ["main"], "{change}");
        net.store.close().await.expect("closes");
    }
}

#[tokio::test]
async fn a_branch_that_was_renamed_or_brought_back_is_none() {
    let (side, other): (BranchName, BranchName) =
        ("side".parse().expect("a name"), "other".parse().expect("a name"));
    let net = Net::blind().await;
    let line = net.fork(&side, 1).await;
    sql(&net, "UPDATE graph_lines SET name = 'other' WHERE name = 'side'").await;
    assert!(is_damage(&net.store.branch(net.graph, &other).await));
    sql(&net, "UPDATE graph_lines SET name = 'side' WHERE name = 'other'").await;
    let gone = GraphWrite::DropBranch { graph: net.graph, line, head: 0 };
    write(&net.store, gone).await.expect("drops");
    sql(&net, "UPDATE graph_lines SET dropped = 0 WHERE name = 'side'").await;
    assert!(is_damage(&net.store.branch(net.graph, &side).await));
    net.store.close().await.expect("closes");
}

#[tokio::test]
async fn a_graph_that_was_changed_is_served_to_nobody() {
    for change in [
        "UPDATE graphs SET salt = zeroblob(16)",
        "UPDATE graphs SET created = 9",
        "UPDATE graphs SET mac = zeroblob(32)",
        "INSERT INTO spaces (id, slug, name, created) VALUES (zeroblob(16), 'b', 'B', 1);
         UPDATE graphs SET space = (SELECT n FROM spaces WHERE slug = 'b')",
        "UPDATE spaces SET id = zeroblob(16)",
    ] {
        let net = Net::blind().await;
        sql(&net, change).await;
        assert!(is_damage(&net.store.graph(&"net".parse().expect("a slug")).await), "{change}");
        assert_eq!(net.store.graphs(None).await.expect("lists"), [], "{change}");
        let view = net.store.view(net.graph, &At::Branch(BranchName::main())).await;
        assert!(is_damage(&view.map(|view| view.map(drop))), "{change}");
        let _ = net.store.close().await;
    }
}

#[tokio::test]
async fn a_commit_whose_parts_do_not_fit_is_damage() {
    for change in [
        "UPDATE graph_commits SET seen = '[]' WHERE seq = 2",
        "UPDATE graph_commits SET parents = x'' WHERE seq = 2",
        "UPDATE graph_commits SET actor = 'nobody' WHERE seq = 2",
        "UPDATE graph_commits SET kind = 'init' WHERE seq = 2",
    ] {
        let net = Net::blind().await;
        let done = net.commit(&BranchName::main(), vec![node(1, "a")]).await;
        sql(&net, change).await;
        let id = done.commit.expect("a commit");
        assert!(is_damage(&net.store.graph_commit(net.graph, id).await), "{change}");
        net.store.close().await.expect("closes");
    }
}

#[tokio::test]
async fn graphs_and_branches_that_were_changed_are_listed() {
    let side: BranchName = "side".parse().expect("a name");
    for (change, said) in [
        ("UPDATE graph_lines SET protected = 0 WHERE name = 'side'", "branch side"),
        ("UPDATE graph_lines SET mac = zeroblob(32) WHERE name = 'main'", "branch main"),
        ("UPDATE graph_lines SET dropped = 1, head = 7 WHERE name = 'side'", "branch side"),
        ("UPDATE graphs SET created = 9", "graph net"),
    ] {
        let net = Net::blind().await;
        net.fork(&side, 1).await;
        assert_eq!(net.store.damaged_rows().await.expect("lists"), Vec::<String>::new());
        sql(&net, change).await;
        let damaged = net.store.damaged_rows().await.expect("lists");
        assert!(matches!(damaged.as_slice(), [one] if one.contains(said)), "{change}: {damaged:?}");
        net.store.close().await.expect("closes");
    }
}
