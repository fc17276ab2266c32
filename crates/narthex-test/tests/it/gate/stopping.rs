//! The benchmark of the kill switch at a tiny size, so that it does not rot. How long it may take is
//! for whoever reads the figures: a busy machine is no fault.

#[path = "../../../benches/stopping/bench.rs"]
mod bench;

use super::surface;

use bench::Options;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_benchmark_runs() -> anyhow::Result<()> {
    let words = ["--bench", "--rounds", "1", "--calls", "3", "--callers", "2"];
    let lines = bench::run(&Options::parse(words.into_iter().map(str::to_owned))?).await?;
    assert_eq!(lines.len(), 7);
    assert!(lines.iter().all(|line| line.times.len() == 1), "{lines:?}");
    assert!(bench::table(&lines).contains("stop asked"));
    assert!(Options::parse(["--rounds".to_owned()].into_iter()).is_err());
    Ok(())
}
