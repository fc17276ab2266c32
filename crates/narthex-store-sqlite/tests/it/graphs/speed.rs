//! How quick it is. Not run with the rest: `cargo nextest run --release --run-ignored only`.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "it prints what it measured")]

use std::time::{Duration, Instant};

use narthex_core::BranchName;
use narthex_store::{
    At, GraphView, GraphWrite, Graphs as _, IndexRange, RowNo, RowWrite, Side, Tag, TextEntry,
};
use serde_json::json;

use super::{NODE, Net, node, write};

const EDGE: Tag = Tag(2);
const BY_NAME: Tag = Tag(3);
const BY_TEXT: Tag = Tag(4);
const NODES: i64 = 10_000;
const EDGES: i64 = 39_100;

/// Numbers that are spread like digests.
const fn spread(n: i64) -> i64 {
    ((n.cast_unsigned() + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 1).cast_signed()
}

fn person(n: i64, round: i64) -> RowWrite {
    let name = format!("Person number {n}");
    let words = format!("person number n{n} likes w{} and w{}", n % 97, (n + round) % 89);
    let body = json!({"slug": format!("p{n}"), "name": name, "bio": words}).to_string();
    RowWrite {
        index: vec![(BY_NAME, json!(name))],
        texts: vec![TextEntry { index: BY_TEXT, words }],
        ..node(spread(n), &body)
    }
}

fn knows(n: i64) -> RowWrite {
    let (a, b) = (spread(n % NODES), spread(n * 7 % NODES));
    let body = format!(r#"{{"@from":["Person","p{}"],"@to":["Person","p{}"]}}"#, n, n * 7);
    let ends = Some((RowNo(a), RowNo(b)));
    RowWrite { tag: EDGE, ends, ..node(spread(n + 1_000_000), &body) }
}

/// What the process has computed so far, on any thread, in hundredths of a second: on a machine that
/// does other things too, the clock on the wall says little.
fn computed() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit(')').next().unwrap_or_default();
    after.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

async fn timed<T>(what: &str, run: impl Future<Output = T>) -> (T, Duration) {
    let (start, before) = (Instant::now(), computed());
    let done = run.await;
    let took = start.elapsed();
    let cpu = 10 * (computed() - before);
    println!("{what}: {:.3} ms, computing {cpu} ms", took.as_secs_f64() * 1e3);
    (done, took)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it measures; in a release build only"]
async fn loads_commits_and_reads() {
    let net = Net::open().await;
    let main = BranchName::main();
    let rows: Vec<RowWrite> =
        (0..NODES).map(|n| person(n, 0)).chain((0..EDGES).map(knows)).collect();
    let next = net.next(&main, rows).await;
    timed("load of 49,100 rows", write(&net.store, GraphWrite::Commit(next))).await.0.unwrap();
    let rows: Vec<RowWrite> = (0..EDGES).map(knows).collect();
    let next = net.next(&main, rows).await;
    timed("the edges again", write(&net.store, GraphWrite::Commit(next))).await.0.unwrap();

    reads("main at its head", &net, &main).await;
    let side: BranchName = "side".parse().unwrap();
    let head = net.store.branch(net.graph, &main).await.unwrap().unwrap().head;
    net.fork(&side, head).await;
    commits(&net, "record", 1, |_, _| None).await;
    // Only the body changes; then the text that is searched as well.
    commits(&net, "plain commit", 1, |n, _| Some(person(n, 0))).await;
    commits(&net, "commit", 10, |n, round| Some(person(n, round))).await;
    reads("main after 10,000 commits", &net, &main).await;
    reads("a branch from before them", &net, &side).await;
    timed("a branch", net.fork(&"third".parse().unwrap(), head)).await;
    net.store.close().await.unwrap();
}

/// Changes of one row each, in thousands; without a row, only what is said in the ledger.
async fn commits(
    net: &Net,
    what: &str,
    thousands: i64,
    change: impl Fn(i64, i64) -> Option<RowWrite>,
) {
    let main = BranchName::main();
    for thousand in 0..thousands {
        let (mut taken, mut most) = (Duration::ZERO, Duration::ZERO);
        let before = computed();
        for n in 0..1_000 {
            let start = match change(n * 7 % NODES, thousand + 1) {
                None => {
                    let start = Instant::now();
                    crate::backend::append(&net.store, 1).await;
                    start
                }
                Some(mut changed) => {
                    changed.unindex = changed.index.clone();
                    let next = net.next(&main, vec![changed]).await;
                    let start = Instant::now();
                    write(&net.store, GraphWrite::Commit(next)).await.unwrap();
                    start
                }
            };
            taken += start.elapsed();
            most = most.max(start.elapsed());
        }
        let cpu = 10 * (computed() - before);
        println!("1,000 × {what}: {:?} each, {most:?} at most, computing {cpu} ms", taken / 1_000);
    }
}

async fn reads(what: &str, net: &Net, branch: &BranchName) {
    println!("-- {what}");
    let at = At::Branch(branch.clone());
    let view = timed("view", net.store.view(net.graph, &at)).await.0.unwrap();
    let mut view: Box<dyn GraphView> = view.unwrap();
    let all: Vec<RowNo> = (0..NODES).map(|n| RowNo(spread(n))).collect();
    let first = [RowNo(spread(0))];
    for _ in 0..2 {
        let one = timed("one row", view.rows(NODE, &first)).await.0.unwrap();
        assert_eq!(one.len(), 1);
    }
    let rows = timed("10,000 rows", view.rows(NODE, &all)).await.0.unwrap();
    assert_eq!(rows.len(), 10_000);
    let rows = timed("scan of 10,000", view.scan(NODE, None, 10_000)).await.0.unwrap();
    assert_eq!(rows.len(), 10_000);
    let few = timed("edges of one", view.edges(EDGE, Side::To, &first, false)).await.0.unwrap();
    assert!(!few.is_empty());
    let all_edges = timed("edges of all", view.edges(EDGE, Side::From, &all, false)).await.0;
    assert_eq!(all_edges.unwrap().len(), 39_100);
    let any = IndexRange::Any(vec![json!("Person number 77")]);
    for _ in 0..2 {
        let one = timed("index", view.index(BY_NAME, &any, 10)).await.0.unwrap().unwrap();
        assert_eq!(one.len(), 1);
    }
    let words = ["w17".to_owned()];
    let hits = timed("search", view.search(BY_TEXT, &words, false, 10)).await.0.unwrap().unwrap();
    assert_eq!(hits.len(), 10);
}
