//! The benchmark of other people's servers at a tiny size, so that it does not rot. What it costs is for
//! whoever reads the figures: a busy machine is no fault.

#[path = "../../../benches/servers/bench.rs"]
mod bench;
#[path = "../../../benches/servers/ways.rs"]
mod ways;

use bench::Options;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_benchmark_runs() -> anyhow::Result<()> {
    let words = ["--bench", "--rounds", "1", "--calls", "32", "--pace-ms", "1"];
    let lines = bench::run(&Options::parse(words.into_iter().map(str::to_owned))?).await?;
    assert_eq!(lines.len(), 16);
    assert!(bench::table(&lines).contains("HTTP, through Narthex"));
    assert!(Options::parse(["--rounds".to_owned()].into_iter()).is_err());
    Ok(())
}
