//! Calls that hang are under way and others keep being made, over HTTP, when everything is stopped:
//! by the owner's word, or by a file named `STOP`. Every time is counted from the moment before that.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use narthex_core::Tier;
use narthex_gate::{GateConfig, ReadySurface};
use narthex_mcp::EdgeConfig;
use narthex_server::owner::{Request, StopScope, SwitchRequest};
use narthex_test::{Answer, Client, HouseOptions, SideDoor, TestHouse};
use serde_json::json;
use tokio::task::JoinSet;

use super::surface::Rig;

/// How much, from the command line.
#[derive(Debug)]
pub(crate) struct Options {
    /// How often everything is stopped, in each way.
    rounds: usize,
    /// Calls under way.
    calls: usize,
    /// Who keep calling.
    callers: usize,
}

/// One thing that was measured, in every round.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) what: &'static str,
    pub(crate) times: Vec<Duration>,
}

impl Options {
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut options = Self { rounds: 20, calls: 100, callers: 8 };
        // Cargo says this to every benchmark.
        let mut words = words.filter(|word| word != "--bench");
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("{word} needs a value"))?.parse()?;
            match word.as_str() {
                "--rounds" => options.rounds = value,
                "--calls" => options.calls = value,
                "--callers" => options.callers = value,
                _ => bail!("unknown option {word}; there are --rounds, --calls, --callers"),
            }
        }
        Ok(options)
    }
}

/// Measures everything.
pub(crate) async fn run(options: &Options) -> anyhow::Result<Vec<Line>> {
    let scene = Scene::open().await?;
    let mut lines = Vec::new();
    for (way, whats) in [(Way::Owner, &WHATS[..]), (Way::File, &WHATS_OF_THE_FILE)] {
        let mut rounds = Vec::new();
        for _ in 0..options.rounds {
            rounds.push(scene.round(options, way).await?);
        }
        for (n, &what) in whats.iter().enumerate() {
            let times = rounds.iter().filter_map(|round| round.get(n).copied()).collect();
            lines.push(Line { what, times });
        }
    }
    scene.door.close().await;
    scene.house.stop().await?;
    Ok(lines)
}

/// The median and the worst of every line.
pub(crate) fn table(lines: &[Line]) -> String {
    let mut table = format!("{:<52}{:>12}{:>12}", "", "median ms", "worst ms");
    for Line { what, times } in lines {
        let mut times = times.clone();
        times.sort_unstable();
        let millis = |time: Option<&Duration>| time.map_or(0.0, |time| time.as_secs_f64() * 1e3);
        let (median, worst) = (millis(times.get(times.len() / 2)), millis(times.last()));
        // Writing to a String cannot fail.
        let _ = write!(table, "\n{what:<52}{median:>12.2}{worst:>12.2}");
    }
    table
}

#[derive(Debug, Clone, Copy)]
enum Way {
    Owner,
    File,
}

/// A house with a door that leads to tools that hang.
struct Scene {
    house: TestHouse,
    rig: Arc<Rig>,
    door: SideDoor,
    client: Client,
}

impl Scene {
    async fn open() -> anyhow::Result<Self> {
        let mut options = HouseOptions::default();
        options.gate = GateConfig { call_deadline: Duration::from_mins(10), ..options.gate };
        let house = TestHouse::with(options).await?;
        house.agent("caller", "a", &["read"], Tier::T1).await?;
        let token = house.new_token("caller", None, None).await?.token;
        let gate = house.house().gate().clone();
        let rig = Arc::new(Rig::new(Arc::clone(gate.store())));
        let surface = Arc::new(ReadySurface::new(Arc::clone(&rig) as _)?);
        let edge =
            EdgeConfig { early_headers_after: Duration::from_mins(1), ..EdgeConfig::default() };
        let door = SideDoor::open(gate, surface, edge).await?;
        let client = door.client(&token);
        Ok(Self { house, rig, door, client })
    }

    /// Stops everything once, and lets it go on.
    async fn round(&self, options: &Options, way: Way) -> anyhow::Result<[Duration; 4]> {
        let mut under_way = JoinSet::new();
        let begun = self.rig.performed.load(Ordering::SeqCst);
        for _ in 0..options.calls {
            under_way.spawn(called(self.client.clone(), "send-hang"));
        }
        while self.rig.performed.load(Ordering::SeqCst) < begun + options.calls {
            ensure!(under_way.try_join_next().is_none(), "a call under way ended by itself");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let mut callers = JoinSet::new();
        for _ in 0..options.callers {
            callers.spawn(until_refused(self.client.clone()));
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
        let asked = Instant::now();
        self.stop(way).await?;
        let answered = asked.elapsed();
        let (mut first, mut let_in) = (Duration::MAX, Duration::ZERO);
        while let Some(ended) = callers.join_next().await {
            let (last_begun, refused) = ended??;
            first = first.min(refused.saturating_duration_since(asked));
            let_in = let_in.max(last_begun.saturating_duration_since(asked));
        }
        let mut ended = Duration::ZERO;
        while let Some(done) = under_way.join_next().await {
            let (answer, at) = done??;
            ensure!(stopped(&answer), "a call under way was not stopped: {answer:?}");
            ended = ended.max(at.saturating_duration_since(asked));
        }
        self.go_on(way).await?;
        Ok([first, let_in, ended, answered])
    }

    async fn stop(&self, way: Way) -> anyhow::Result<()> {
        match way {
            Way::Owner => {
                let engage = SwitchRequest::Engage { scope: StopScope::Everything, reason: None };
                self.house.owner(Request::Switch(engage)).await?;
            }
            Way::File => std::fs::write(self.house.dir().stop_file().path(), "")?,
        }
        Ok(())
    }

    async fn go_on(&self, way: Way) -> anyhow::Result<()> {
        if matches!(way, Way::File) {
            std::fs::remove_file(self.house.dir().stop_file().path())?;
        }
        let lift = || Request::Switch(SwitchRequest::Lift { scope: StopScope::Everything });
        let (from, mut lifted) = (Instant::now(), self.house.owner(lift()).await);
        // What the file stopped may still be on its way to the disk.
        while lifted.is_err() && from.elapsed() < Duration::from_secs(10) {
            tokio::time::sleep(Duration::from_millis(10)).await;
            lifted = self.house.owner(lift()).await;
        }
        lifted?;
        ensure!(self.client.call("look", json!({})).await?.is_ok(), "it does not go on");
        Ok(())
    }
}

async fn called(client: Client, tool: &'static str) -> anyhow::Result<(Answer, Instant)> {
    let answer = client.call(tool, json!({})).await?;
    Ok((answer, Instant::now()))
}

/// Calls on and on: when the last call that was let in began, and when the first was refused.
async fn until_refused(client: Client) -> anyhow::Result<(Instant, Instant)> {
    let mut last = Instant::now();
    loop {
        let begun = Instant::now();
        let (answer, at) = called(client.clone(), "look").await?;
        if stopped(&answer) {
            return Ok((last, at));
        }
        ensure!(answer.is_ok(), "refused for another reason: {answer:?}");
        last = begun;
    }
}

fn stopped(answer: &Answer) -> bool {
    answer.tool_code().as_deref() == Some("stopped")
}

const WHATS: [&str; 4] = [
    "stop asked to the first call refused",
    "  to the begin of the last call let in (aim 100)",
    "  to the end of the last call under way (aim 2,000)",
    "  to its answer: it is durable",
];
const WHATS_OF_THE_FILE: [&str; 3] = [
    "STOP touched to the first call refused",
    "  to the begin of the last call let in (aim 100)",
    "  to the end of the last call under way (aim 2,000)",
];
