//! The benchmark at a tiny size, so that it does not rot.

#[path = "../../../benches/graphs/bench.rs"]
mod bench;

use bench::Options;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_benchmark_runs() {
    let words = ["--bench", "--nodes", "100", "--edges", "390", "--times", "1,2"];
    let words = words.into_iter().chain(["--commits", "20", "--rounds", "3", "--output", "json"]);
    let (options, json) = Options::parse(words.map(str::to_owned)).expect("options");
    assert!(json);
    let report = bench::run(&options, |_| ()).await.expect("runs");
    assert_eq!(report.lines.len(), 2 * 21);
    let rows: Vec<u64> = report.lines.iter().map(|line| line.rows).collect();
    assert_eq!((rows.first(), rows.last()), (Some(&490), Some(&980)));
    assert!(report.lines.iter().all(|line| !line.ours.is_zero() && !line.plain.is_zero()));
    assert!(report.to_table().contains("two hops"));
    let said: serde_json::Value = serde_json::from_str(&report.to_json()).expect("JSON");
    assert_eq!(said.pointer("/lines/0/what"), Some(&serde_json::json!("load")));
    assert!(Options::parse(["--nodes".to_owned()].into_iter()).is_err());
}
