//! `cargo xtask bench`: Narthex beside a bare rmcp server, in one run, under one load generator.
//!
//! Ratios are what counts: both servers meet the same `wrk` on the same machine, one after the
//! other, in several rounds, and the median round is reported. Needs `wrk` (Debian's package of
//! that name). `--against PATH` puts another version's program beside it, in the same rounds.

mod load;
mod server;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};

use self::load::{Load, Measured, Request};
use self::server::{Narthex, bare};

/// What is measured, from the command line.
#[derive(Debug)]
pub(crate) struct Options {
    pages: usize,
    rounds: usize,
    seconds: u64,
    connections: usize,
    against: Option<PathBuf>,
}

impl Options {
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut options =
            Self { pages: 100_000, rounds: 3, seconds: 5, connections: 32, against: None };
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("{word} needs a value"))?;
            match word.as_str() {
                "--pages" => options.pages = value.parse()?,
                "--rounds" => options.rounds = value.parse()?,
                "--seconds" => options.seconds = value.parse()?,
                "--connections" => options.connections = value.parse()?,
                "--against" => options.against = Some(value.into()),
                _ => bail!(
                    "unknown option {word}; there are --pages, --rounds, --seconds, --connections, --against"
                ),
            }
        }
        Ok(options)
    }
}

const READ: &str = r#"{"kind":"page","id":"page-00042"}"#;

/// Runs it and returns what to print.
pub(crate) fn run(root: &Path, options: &Options) -> anyhow::Result<Vec<String>> {
    server::build(root)?;
    let mut said = Vec::new();
    let (narthex, ready) = Narthex::start(&root.join("target/release/narthex"))?;
    said.push(format!("time to ready: {} ms", ready.as_millis()));
    said.push(format!("idle memory: {:.1} MB", narthex.memory_mb()?));
    let seeding = narthex.fill(options.pages)?;
    said.push(format!("{} pages imported in {:.1} s", options.pages, seeding.as_secs_f64()));
    let other = options.against.as_deref().map(Narthex::start).transpose()?;
    if let Some((other, _)) = &other {
        other.fill(options.pages)?;
    }
    let bare = bare(root)?;
    let load =
        Load { connections: options.connections, time: Duration::from_secs(options.seconds) };
    let mut cases = vec![
        ("bare rmcp echo", Request::call(bare.url(), None, "echo", r#"{"text":"hello"}"#)),
        ("narthex read", narthex.call("read", READ)),
        ("narthex search (rare word)", narthex.call("search", r#"{"query":"needle42"}"#)),
        ("narthex search (two words)", narthex.call("search", r#"{"query":"harbour lantern7"}"#)),
        ("narthex tools/list", narthex.request("tools/list", "{}")),
    ];
    if let Some((other, _)) = &other {
        cases.push(("the other: read", other.call("read", READ)));
        cases.push(("the other: tools/list", other.request("tools/list", "{}")));
    }
    // What the import left for the disk to do, and cold caches, are not what is measured.
    std::process::Command::new("sync").status()?;
    let warm_up = Load { time: Duration::from_secs(1), ..load };
    for (_, request) in &cases {
        warm_up.run(request)?;
    }
    let mut results: Vec<Vec<Measured>> = cases.iter().map(|_| Vec::new()).collect();
    for _ in 0..options.rounds {
        for ((_, request), rounds) in cases.iter().zip(&mut results) {
            rounds.push(load.run(request)?);
        }
    }
    let medians: Vec<Measured> =
        results.iter_mut().filter_map(|rounds| Measured::median(rounds)).collect();
    let yardstick = medians.first().copied().context("nothing measured")?;
    said.push(format!(
        "{:<28}{:>12}{:>12}{:>12}{:>12}",
        "", "requests/s", "of bare", "p99 ms", "of bare"
    ));
    for ((name, _), median) in cases.iter().zip(&medians) {
        said.push(format!(
            "{name:<28}{:>12.0}{:>11.2}x{:>12.2}{:>11.2}x",
            median.per_second,
            median.per_second / yardstick.per_second,
            median.p99_ms,
            median.p99_ms / yardstick.p99_ms
        ));
    }
    let (idle, open) = narthex.memory_with_connections(1_000)?;
    said.push(format!(
        "memory after the load: {idle:.1} MB; with 1,000 open connections: {open:.1} MB"
    ));
    let (records, took) = narthex.verify()?;
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let rate = records as f64 / took.as_secs_f64();
    said.push(format!(
        "{records} records verified in {:.1} s: {rate:.0} a second",
        took.as_secs_f64()
    ));
    Ok(said)
}
