//! Views that are over are kept and lent again: never one that shows less than was answered, and
//! never so that the log grows without end.

use std::time::Duration;

use narthex_core::BranchName;
use narthex_store::{At, Commits as _, Graphs as _, RowNo, UnitOfWork};
use narthex_store_sqlite::{SqliteConfig, SqliteStore};

use super::{NODE, Net, node};
use crate::backend::record;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_answered_is_shown() {
    let net = Net::open().await;
    let (main, other): (BranchName, BranchName) = (BranchName::main(), "b".parse().expect("one"));
    net.fork(&other, 1).await;
    for round in 0..100 {
        let branch = if round % 3 == 0 { &other } else { &main };
        let body = format!("{{\"n\":{round}}}");
        net.commit(branch, vec![node(1, &body)]).await;
        let look = || async {
            let at = At::Branch(branch.clone());
            let mut view = net.store.view(net.graph, &at).await.expect("reads").expect("a view");
            view.rows(NODE, &[RowNo(1)]).await.expect("rows").pop().and_then(|row| row.body)
        };
        let (one, two, three) = tokio::join!(look(), look(), look());
        for seen in [one, two, three, look().await] {
            assert_eq!(seen.as_deref(), Some(body.as_str()), "round {round}");
        }
    }
    net.store.close().await.expect("closes, whatever is kept");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_branch_that_is_gone_is_gone() {
    let net = Net::open().await;
    let name: BranchName = "b".parse().expect("one");
    let line = net.fork(&name, 1).await;
    let at = At::Branch(name.clone());
    drop(net.store.view(net.graph, &at).await.expect("reads").expect("a view"));
    let gone = narthex_store::GraphWrite::DropBranch { graph: net.graph, line, head: 0 };
    super::write(&net.store, gone).await.expect("drops");
    assert!(net.store.view(net.graph, &at).await.expect("reads").is_none());
}

/// Somebody looks at the graph all the time while nothing but records is written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_does_not_wait_for_those_who_look() {
    let net = Net::open().await;
    net.store.close().await.expect("closes");
    let config = SqliteConfig { wal_pages: 20, wal_pages_hard: 60, ..net.backend.config() };
    let log = config.database.with_extension("db-wal");
    let store = SqliteStore::open(config).await.expect("opens");
    let at = At::Branch(BranchName::main());
    for _ in 0..600 {
        drop(store.view(net.graph, &at).await.expect("reads").expect("a view"));
        store.commit(UnitOfWork::records(vec![record("tools/call")])).await.expect("commits");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let bytes = std::fs::metadata(&log).expect("a log").len();
    // Without letting go of what is kept it has several pages for each of them.
    assert!(bytes < 600 * 4_096, "{bytes}");
    store.close().await.expect("closes");
}
