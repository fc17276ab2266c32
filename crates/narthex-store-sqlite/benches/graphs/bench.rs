//! Graphs beside plain SQL: the same rows in both, one after the other, and how long each takes.
//!
//! Ours is what a call does: the engine prepares, the store commits with a record and flushes. The
//! other is what one would write by hand on tables of the natural shape, in the same file with the
//! same settings. Medians are reported, ours as a multiple of the other.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    reason = "the numbers are its own, and small"
)]

#[path = "data.rs"]
mod data;
#[path = "ours.rs"]
mod ours;
#[path = "plain.rs"]
mod plain;
#[path = "report.rs"]
mod report;

use std::path::Path;
use std::time::{Duration, Instant};

use data::Size;
use ours::Ours;
use plain::Plain;
pub(crate) use report::{Line, Report};
use sqlx::Connection as _;

pub(crate) type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// How much is measured.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) nodes: u64,
    pub(crate) edges: u64,
    /// The sizes, as multiples of that.
    pub(crate) times: Vec<u64>,
    /// Changes of one row each, one after the other.
    pub(crate) commits: usize,
    /// How often what is quick is asked.
    pub(crate) rounds: usize,
}

impl Options {
    /// From the words of a command line, and whether the report is to be JSON.
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Fallible<(Self, bool)> {
        let mut options =
            Self { nodes: 10_000, edges: 39_000, times: vec![1, 10], commits: 10_000, rounds: 300 };
        let mut json = false;
        while let Some(word) = words.next() {
            // What `cargo bench` says to every benchmark.
            if word == "--bench" {
                continue;
            }
            let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
            match word.as_str() {
                "--nodes" => options.nodes = value.parse()?,
                "--edges" => options.edges = value.parse()?,
                "--times" => {
                    options.times = value.split(',').map(str::parse).collect::<Result<_, _>>()?;
                }
                "--commits" => options.commits = value.parse()?,
                "--rounds" => options.rounds = value.parse()?,
                "--output" => json = value == "json",
                _ => return Err(format!("unknown option {word}").into()),
            }
        }
        Ok((options, json))
    }
}

/// Measures everything.
pub(crate) async fn run(options: &Options, said: impl Fn(&str)) -> Fallible<Report> {
    let dir = tempfile::tempdir()?;
    let mut report = Report::default();
    for times in &options.times {
        let size = Size { nodes: options.nodes * times, edges: options.edges * times };
        said(&format!("{} nodes, {} edges", size.nodes, size.edges));
        let file = dir.path().join(format!("{times}.ndjson"));
        data::write(&file, size)?;
        let slug = format!("times-{times}");
        // A house for each size, and the tables of the other in its database.
        let house = ours::House::open(&dir.path().join(&slug)).await?;
        let plain = Plain::open(house.database()).await?;
        let ours = house.graph(&slug).await?;
        let mut bench = Bench { ours, plain, size, options, report: &mut report, peak: 0 };
        bench.loads(&file).await?;
        bench.looks().await?;
        bench.changes().await?;
        bench.looks_again().await?;
        let (peak, plain) = (bench.peak, bench.plain);
        report.peaks.push((size.nodes + size.edges, peak));
        let line = opened(house, &slug, plain, size, options.rounds.min(10)).await?;
        report.lines.push(line);
    }
    Ok(report)
}

/// The store opened from its file, as after a start, and a first answer from it. (`open` is of a graph
/// in a store that is open.)
async fn opened(
    house: ours::House,
    slug: &str,
    plain: Plain,
    size: Size,
    rounds: usize,
) -> Fallible<Line> {
    // A log that anybody still has open would look like a crash to whoever opens the store.
    let plain = plain.close().await?;
    let mut shut = house.close().await?;
    let (mut ours, mut others) = (Vec::new(), Vec::new());
    for round in 0..rounds as u64 {
        let n = data::some(round, size.nodes);
        let start = Instant::now();
        let house = shut.open().await?;
        house.first(slug, n).await?;
        ours.push(start.elapsed());
        shut = house.close().await?;
        let start = Instant::now();
        let conn = plain.first(n).await?;
        others.push(start.elapsed());
        conn.close().await?;
    }
    let (what, rows) = ("open the store and a graph".to_owned(), size.nodes + size.edges);
    Ok(Line { what, rows, ours: median(ours), plain: median(others) })
}

/// One size.
struct Bench<'a> {
    ours: Ours,
    plain: Plain,
    size: Size,
    options: &'a Options,
    report: &'a mut Report,
    /// The most memory there was while ours was at work, in KiB.
    peak: u64,
}

impl Bench<'_> {
    fn note(&mut self, what: &str, ours: Vec<Duration>, plain: Vec<Duration>) {
        let rows = self.size.nodes + self.size.edges;
        let line = Line { what: what.to_owned(), rows, ours: median(ours), plain: median(plain) };
        self.report.lines.push(line);
    }

    async fn loads(&mut self, file: &Path) -> Fallible<()> {
        report::forget_peak();
        let parts = self.ours.load(file).await?;
        self.peak = report::peak_kib();
        self.report.load_peaks.push((self.size.nodes + self.size.edges, self.peak));
        let plain = timed(self.plain.load(file)).await?;
        self.note("load", vec![parts.iter().sum()], vec![plain]);
        for (what, part) in ["  reading it", "  checking it", "  writing it"].into_iter().zip(parts)
        {
            self.note(what, vec![part], vec![plain]);
        }
        Ok(())
    }

    async fn looks(&mut self) -> Fallible<()> {
        let rounds = self.options.rounds;
        for (what, rounds) in [
            ("open", rounds.min(30)),
            ("point read", rounds),
            ("one hop", rounds),
            ("two hops", rounds),
            ("aggregate over all edges", rounds.min(5)),
            ("full text", rounds),
            ("vector nearest", rounds.min(5)),
        ] {
            let (ours, plain) = self.look(what, rounds).await?;
            self.note(what, ours, plain);
        }
        Ok(())
    }

    /// What history costs those who do not ask for it.
    async fn looks_again(&mut self) -> Fallible<()> {
        for what in ["point read", "one hop", "two hops"] {
            let (ours, plain) = self.look(what, self.options.rounds).await?;
            self.note(&format!("{what}, after all that"), ours, plain);
        }
        Ok(())
    }

    async fn look(
        &mut self,
        what: &str,
        rounds: usize,
    ) -> Fallible<(Vec<Duration>, Vec<Duration>)> {
        let (mut ours, mut plain) = (Vec::new(), Vec::new());
        let mut found = Vec::new();
        report::forget_peak();
        for round in 0..rounds as u64 {
            let start = Instant::now();
            found.push(self.ours.look(what, data::some(round, self.size.nodes)).await?);
            ours.push(start.elapsed());
        }
        self.peak = self.peak.max(report::peak_kib());
        for (round, found) in (0..).zip(found) {
            let n = data::some(round, self.size.nodes);
            let start = Instant::now();
            let wanted = self.plain.look(what, n).await?;
            plain.push(start.elapsed());
            if found != wanted {
                return Err(format!("{what} of {n}: {found} rows, not {wanted}").into());
            }
        }
        Ok((ours, plain))
    }

    async fn changes(&mut self) -> Fallible<()> {
        report::forget_peak();
        let (mut ours, mut plain) = (Vec::new(), Vec::new());
        for round in 0..self.options.rounds.min(20) as u64 {
            ours.push(timed(self.ours.fork(&format!("b{round}"))).await?);
            plain.push(timed(self.plain.fork(round)).await?);
        }
        self.note("branch create", ours, plain);
        let (mut ours, mut plain) = (Vec::new(), Vec::new());
        for round in 0..self.options.commits as u64 {
            let n = data::some(round, self.size.nodes);
            ours.push(timed(self.ours.grow(n, round)).await?);
        }
        for round in 0..self.options.commits.min(1_000) as u64 {
            let n = data::some(round, self.size.nodes);
            plain.push(timed(self.plain.grow(n, round)).await?);
        }
        let first = ours.iter().take(100).copied().collect();
        let last = ours.iter().rev().take(100).copied().collect();
        self.note("change of one row", ours, plain.clone());
        self.note("  the first 100 of them", first, plain.clone());
        self.note("  the last 100 of them", last, plain);
        let (mut ours, mut plain) = (Vec::new(), Vec::new());
        for round in 0..self.options.commits.min(200) as u64 {
            let n = data::some(round, self.size.nodes);
            ours.push(timed(self.ours.rewrite(n, round)).await?);
            plain.push(timed(self.plain.rewrite(n, round)).await?);
        }
        self.note("change of a searched text", ours, plain);
        let (mut ours, mut plain) = (Vec::new(), Vec::new());
        for round in 0..self.options.rounds.min(10) as u64 {
            let changed = data::changed(self.size, round);
            let branch = format!("m{round}");
            self.ours.diverge(&branch, &changed).await?;
            ours.push(timed(self.ours.merge(&branch)).await?);
            plain.push(timed(self.plain.update_all(&changed)).await?);
        }
        self.note("merge of 100 rows", ours, plain);
        self.peak = self.peak.max(report::peak_kib());
        Ok(())
    }
}

async fn timed<T>(run: impl Future<Output = Fallible<T>>) -> Fallible<Duration> {
    let start = Instant::now();
    run.await?;
    Ok(start.elapsed())
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}
