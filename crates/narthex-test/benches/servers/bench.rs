//! One trivial server, called directly and through a house with the gate and the durable ledger on: as a
//! process and at a URL, by one caller and by sixteen.
//!
//! Twice for each: as fast as answers come, which says how much goes through; and at a pace that leaves
//! the machine idle most of the time, which says what one call costs. The ways take turns in each round,
//! and the median round counts.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use tokio::task::JoinSet;

use super::ways::{Way, Ways};

/// How much, from the command line.
#[derive(Debug)]
pub(crate) struct Options {
    /// Calls of a round in each way.
    calls: usize,
    rounds: usize,
    /// Between two calls of one caller, where there is a pace.
    pace: Duration,
    /// Other proxies: a name, and the command that starts one. `{url}` or `{stdio}` in it is the server,
    /// which says what it is compared with; `{port}` is where it is to listen.
    pub(crate) beside: Vec<(String, String)>,
    /// What stands already, in processes of its own; without it a house is opened in this one.
    pub(crate) stands: Stands,
}

/// What was started by whoever runs this.
#[derive(Debug, Default)]
pub(crate) struct Stands {
    /// The echo server at a URL.
    pub(crate) url: Option<String>,
    /// A house with that server as `url`, and another on pipes as `process`.
    pub(crate) house: Option<String>,
    /// The token of an agent who has both.
    pub(crate) token: Option<String>,
    /// The program `rmcp_caller`, which calls a server on pipes with rmcp's own client.
    pub(crate) rmcp: Option<String>,
}

impl Options {
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let (pace, beside) = (Duration::from_millis(50), Vec::new());
        let stands = Stands::default();
        let mut options = Self { calls: 4_000, rounds: 5, pace, beside, stands };
        // Cargo says this to every benchmark.
        let mut words = words.filter(|word| word != "--bench");
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("{word} needs a value"))?;
            match word.as_str() {
                "--calls" => options.calls = value.parse()?,
                "--rounds" => options.rounds = value.parse()?,
                "--pace-ms" => options.pace = Duration::from_millis(value.parse()?),
                "--beside" => {
                    let both = value.split_once('=').context("--beside NAME=COMMAND")?;
                    options.beside.push((both.0.to_owned(), both.1.to_owned()));
                }
                "--url" => options.stands.url = Some(value),
                "--house" => options.stands.house = Some(value),
                "--token" => options.stands.token = Some(value),
                "--rmcp" => options.stands.rmcp = Some(value),
                _ => {
                    bail!(
                        "unknown option {word}; there are --calls, --rounds, --pace-ms, --beside, --url, --house, --token, --rmcp"
                    )
                }
            }
        }
        Ok(options)
    }
}

/// What came of one way under one load: the median round.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) way: String,
    /// The way it is compared with.
    pub(crate) direct: String,
    pub(crate) callers: usize,
    pub(crate) paced: bool,
    pub(crate) median: Measured,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) per_second: f64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
}

/// Measures everything.
pub(crate) async fn run(options: &Options) -> anyhow::Result<Vec<Line>> {
    let ways = Ways::open(options).await?;
    let mut lines = Vec::new();
    for callers in [1, 16] {
        for paced in [false, true] {
            let calls = if paced { options.calls / 8 } else { options.calls };
            let load = Load { callers, calls, pace: paced.then_some(options.pace) };
            let mut came: Vec<Vec<Measured>> = ways.all.iter().map(|_| Vec::new()).collect();
            // What is ours must work; another that gives up is left out of this load, and said so.
            let mut out: Vec<String> = Vec::new();
            for round in 0..=options.rounds {
                for (way, rounds) in ways.all.iter().zip(&mut came) {
                    if out.contains(&way.name) {
                        continue;
                    }
                    // The first is to warm up.
                    let warms = Load { calls: calls / 10, pace: None, ..load };
                    let measured =
                        if round == 0 { warms.run(way).await } else { load.run(way).await };
                    match measured.with_context(|| way.name.clone()) {
                        Ok(_) if round == 0 => {}
                        Ok(measured) => rounds.push(measured),
                        Err(error) if options.beside.iter().any(|(name, _)| *name == way.name) => {
                            // Nowhere is left to say that standard error is closed.
                            let _ = writeln!(
                                std::io::stderr(),
                                "left out with {callers} callers: {error:#}"
                            );
                            out.push(way.name.clone());
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
            for (way, rounds) in ways.all.iter().zip(came) {
                let Some(median) = median(&rounds).filter(|_| !out.contains(&way.name)) else {
                    continue;
                };
                let (way, direct) = (way.name.clone(), way.direct.clone());
                lines.push(Line { way, direct, callers, paced, median });
            }
        }
    }
    ways.close().await?;
    Ok(lines)
}

/// A line each, with what it is of its direct way.
pub(crate) fn table(lines: &[Line]) -> String {
    let mut table = format!(
        "{:<28}{:>8}{:>8}{:>10}{:>10}{:>9}{:>9}{:>12}{:>12}",
        "",
        "callers",
        "paced",
        "calls/s",
        "of direct",
        "p50 ms",
        "p99 ms",
        "added p50",
        "added p99"
    );
    for line in lines {
        let same = |other: &&Line| {
            other.way == line.direct && other.callers == line.callers && other.paced == line.paced
        };
        let Some(direct) = lines.iter().find(same) else { continue };
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        let (own, other) = (line.median, direct.median);
        // Writing to a String cannot fail.
        let _ = write!(
            table,
            "\n{:<28}{:>8}{:>8}{:>10.0}{:>10.2}{:>9.2}{:>9.2}{:>12.2}{:>12.2}",
            line.way,
            line.callers,
            if line.paced { "yes" } else { "no" },
            own.per_second,
            own.per_second / other.per_second,
            millis(own.p50),
            millis(own.p99),
            millis(own.p50) - millis(other.p50),
            millis(own.p99) - millis(other.p99),
        );
    }
    table
}

#[derive(Debug, Clone, Copy)]
struct Load {
    callers: usize,
    calls: usize,
    pace: Option<Duration>,
}

impl Load {
    async fn run(self, way: &Way) -> anyhow::Result<Measured> {
        if let Some(elsewhere) = way.elsewhere() {
            let (took, times) = elsewhere.run(self.callers, self.calls, self.pace).await?;
            return Ok(measured(took, times));
        }
        let mut callers = JoinSet::new();
        let each = (self.calls / self.callers).max(1);
        let start = Instant::now();
        for caller in 0..self.callers {
            let ask = way.seat(caller).await?;
            let pace = self.pace;
            callers.spawn(async move {
                let mut times = Vec::with_capacity(each);
                if let Some(pace) = pace {
                    // Not all at once.
                    tokio::time::sleep(pace.mul_f64(f64::from(u32::try_from(caller)?) / 16.0))
                        .await;
                }
                for _ in 0..each {
                    let begun = Instant::now();
                    ask.call().await?;
                    let took = begun.elapsed();
                    times.push(took);
                    if let Some(pace) = pace {
                        tokio::time::sleep(pace.saturating_sub(took)).await;
                    }
                }
                anyhow::Ok(times)
            });
        }
        let mut times = Vec::new();
        while let Some(came) = callers.join_next().await {
            times.extend(came??);
        }
        Ok(measured(start.elapsed(), times))
    }
}

fn measured(took: Duration, mut times: Vec<Duration>) -> Measured {
    times.sort_unstable();
    let last = times.len().saturating_sub(1);
    let at = |part: usize| times.get((times.len() * part / 100).min(last)).copied();
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let per_second = times.len() as f64 / took.as_secs_f64();
    let (p50, p99) = (at(50).unwrap_or_default(), at(99).unwrap_or_default());
    Measured { per_second, p50, p99 }
}

/// Of the rounds, each figure's median.
fn median(rounds: &[Measured]) -> Option<Measured> {
    let middle = rounds.len() / 2;
    let mut rates: Vec<f64> = rounds.iter().map(|round| round.per_second).collect();
    rates.sort_unstable_by(f64::total_cmp);
    let time = |of: fn(&Measured) -> Duration| {
        let mut times: Vec<Duration> = rounds.iter().map(of).collect();
        times.sort_unstable();
        times.get(middle).copied()
    };
    let (p50, p99) = (time(|round| round.p50)?, time(|round| round.p99)?);
    Some(Measured { per_second: *rates.get(middle)?, p50, p99 })
}

/// What is asked, in whichever way.
pub(crate) type Asks = Arc<dyn super::ways::Ask>;
