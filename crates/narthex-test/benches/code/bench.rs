//! A program from a worker that is ready to its result; from nothing; with a thousand calls through the
//! whole gate to a tool that does nothing; sixteen at once; and how much memory one has to itself.

use std::future::ready;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use async_trait::async_trait;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use narthex_core::{
    Containment, EffectSite, Effects, EntityType, Journal, PolicyAction, Question, Reads, RunCall,
    Sends, TakesIn, Target, Tier, Timestamp,
};
use narthex_gate::{
    Annotations, Asks, CallContext, Gate, Intent, Invocation, Local, Observe, ReadySurface,
    RecordedIntent, Staged, Stdio, Surface, SurfaceInfo, ToolError, ToolOutput, ToolSpec,
};
use narthex_sandbox::drive::{Host, Made, Outcome, Program, drive};
use narthex_sandbox::modules::{Shelf, Shelved};
use narthex_sandbox::{
    CodeParts, CodeSurface, Layer, Pool, ProcessLayer, SandboxConfig, WorkerOrder, baseline,
};
use narthex_test::{HouseOptions, TestHouse, upstream};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;

/// How much, from the command line.
#[derive(Debug)]
pub(crate) struct Options {
    rounds: usize,
    program: Option<PathBuf>,
    beside: Vec<(String, String)>,
}

impl Options {
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut options = Self { rounds: 30, program: None, beside: Vec::new() };
        // Cargo says this to every benchmark.
        let mut words = words.filter(|word| word != "--bench");
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("{word} needs a value"))?;
            match word.as_str() {
                "--rounds" => options.rounds = value.parse()?,
                "--program" => options.program = Some(value.into()),
                "--beside" => {
                    let (name, command) = value.split_once('=').context("--beside NAME=COMMAND")?;
                    options.beside.push((name.to_owned(), command.to_owned()));
                }
                _ => bail!("unknown option {word}; there are --rounds, --program, --beside"),
            }
        }
        Ok(options)
    }
}

/// Measures everything and prints it.
pub(crate) async fn run(options: &Options) -> anyhow::Result<()> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => upstream::program()?,
    };
    let config = SandboxConfig {
        calls: 2_000,
        ready: 0,
        runs: 16,
        runs_per_agent: 16,
        ..SandboxConfig::default()
    };
    let order = WorkerOrder { heap: config.heap as u64, cpu_seconds: 8, without_walls: false };
    let layer = ProcessLayer { program, order };
    println!("{:<58}{:>12}{:>12}", "", "median", "worst");
    let mut plain = Vec::new();
    for _ in 0..options.rounds {
        let began = Instant::now();
        ensure!(baseline::evaluate("1+1")? == "2", "the engine cannot count");
        plain.push(began.elapsed());
    }
    let plain = line("the engine alone, in this process: new, then 1+1", plain);
    let (mut ready, mut cold) = (Vec::new(), Vec::new());
    for _ in 0..options.rounds {
        let began = Instant::now();
        let worker = layer.start().await?;
        let started = Instant::now();
        let program = program_of("1+1");
        let Outcome::Over(report) = drive(worker, program, &config, &Nobody).await else {
            bail!("it waits")
        };
        ensure!(report.value.as_ref().is_ok_and(Option::is_some), "{report:?}");
        ready.push(started.elapsed());
        cold.push(began.elapsed());
    }
    let ready = line("a worker that is ready, to the result of 1+1", ready);
    line("nothing, to the result of 1+1 (process, walls, engine)", cold);
    println!("{:<58}{:>11.1}x", "  ready worker against the engine alone", ratio(ready, plain));
    let house = TestHouse::with(HouseOptions::default()).await?;
    let gate = house.house().gate().clone();
    let scene = Scene::new(gate, &layer, &config, &house).await?;
    let mut warm = Vec::new();
    scene.pool.warm();
    for _ in 0..options.rounds {
        tokio::time::sleep(Duration::from_millis(60)).await;
        let began = Instant::now();
        scene.call("1+1").await?;
        warm.push(began.elapsed());
    }
    let one = line("execute_code of 1+1: the gate, two durable records, a worker", warm);
    let calls =
        "const t = require('host:nothing'); for (let i = 0; i < 1000; i++) t.nothing({}); 1";
    let mut thousand = Vec::new();
    for _ in 0..options.rounds.min(20) {
        tokio::time::sleep(Duration::from_millis(60)).await;
        let began = Instant::now();
        scene.call(calls).await?;
        thousand.push(began.elapsed());
    }
    let calls = line("the same with 1,000 calls through the gate, all recorded", thousand);
    let mut plain_calls = Vec::new();
    for _ in 0..options.rounds.min(20) {
        let began = Instant::now();
        baseline::evaluate(
            "let n = 0; for (let i = 0; i < 1000; i++) n += JSON.parse(host('{}')).n ?? 1; n",
        )?;
        plain_calls.push(began.elapsed());
    }
    line("the engine alone with 1,000 calls of a function of ours", plain_calls);
    let mut sixteen = Vec::new();
    for _ in 0..options.rounds.min(10) {
        let began = Instant::now();
        let mut all = JoinSet::new();
        for _ in 0..16 {
            let scene = Arc::clone(&scene);
            all.spawn(async move { scene.call("1+1").await });
        }
        while let Some(done) = all.join_next().await {
            done??;
        }
        sixteen.push(began.elapsed());
    }
    let sixteen = line("sixteen at once, from nothing, until the last is done", sixteen);
    let worker = layer.start().await?;
    tokio::time::sleep(Duration::from_millis(50)).await;
    let (private, all) = memory()?;
    println!(
        "{:<58}{private:>9} KB{all:>9} KB",
        "memory of a worker: its own, and with what is shared"
    );
    drop(worker);
    let scale = Scale::default();
    let program = Program {
        modules: vec![("host:scale".to_owned(), vec!["weigh".to_owned()])],
        ..program_of(
            "const { weigh } = require('host:scale'); const kept = [1, 2, 3]; weigh({}); kept",
        )
    };
    drive(layer.start().await?, program, &config, &scale).await;
    let (private, all) =
        scale.0.lock().ok().and_then(|weight| *weight).context("nothing was weighed")?;
    println!("{:<58}{private:>9} KB{all:>9} KB", "the same, of a run in the middle of a call");
    house.stop().await?;
    for (name, command) in &options.beside {
        let theirs = beside(command, options.rounds)
            .with_context(|| format!("{name}: what ran beside it failed"))?;
        for (what, ours, theirs) in [
            ("1+1", one, theirs.one),
            ("1,000 calls", calls, theirs.calls),
            ("sixteen at once", sixteen, theirs.sixteen),
        ] {
            let times = theirs.into_iter().map(|ms| Duration::from_secs_f64(ms / 1e3)).collect();
            let theirs = line(&format!("{name}: {what}"), times);
            println!("{:<58}{:>11.2}x", format!("  ours against {name}"), ratio(ours, theirs));
        }
    }
    Ok(())
}

/// What something else took for the same, in milliseconds, as it printed it.
#[derive(Debug, Deserialize)]
struct Theirs {
    one: Vec<f64>,
    calls: Vec<f64>,
    sixteen: Vec<f64>,
}

fn beside(command: &str, rounds: usize) -> anyhow::Result<Theirs> {
    let command = command.replace("{rounds}", &rounds.to_string());
    let output = std::process::Command::new("sh").args(["-c", &command]).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {said}", output.status);
    serde_json::from_slice(&output.stdout).context("it printed something else")
}

fn program_of(source: &str) -> Program {
    let journal = Journal::new(1, Timestamp::from_millis(0));
    Program { source: source.to_owned(), modules: Vec::new(), journal, script: None }
}

fn line(what: &str, mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    let worst = times.last().copied().unwrap_or_default();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!("{what:<58}{:>9.3} ms{:>9.3} ms", ms(median), ms(worst));
    median
}

fn ratio(ours: Duration, theirs: Duration) -> f64 {
    ours.as_secs_f64() / theirs.as_secs_f64().max(f64::EPSILON)
}

/// Kilobytes of the largest worker of this process: what is its own, and what is resident. Pages of the
/// program's file that it has not changed are everybody's who runs it. Those that wait are smaller than one
/// that runs.
fn memory() -> anyhow::Result<(u64, u64)> {
    let own = std::process::id().to_string();
    let mut largest = None;
    for entry in std::fs::read_dir("/proc")? {
        let path = entry?.path();
        let status = std::fs::read_to_string(path.join("status")).unwrap_or_default();
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
        if parent.map(str::trim) != Some(own.as_str()) {
            continue;
        }
        let rollup = std::fs::read_to_string(path.join("smaps_rollup"))?;
        let kb = |key: &str| -> u64 {
            let line = rollup.lines().find_map(|line| line.strip_prefix(key));
            line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
        };
        largest = largest.max(Some((kb("Private_Dirty:"), kb("Rss:"))));
    }
    largest.context("no worker")
}

struct Nobody;

impl Host for Nobody {
    fn call(&self, _call: RunCall) -> BoxFuture<'_, Made> {
        ready(Made::Broken(narthex_gate::CallError::Internal)).boxed()
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millis(0)
    }
}

/// A host whose one function says nothing, and keeps how much memory the worker that asks has.
#[derive(Default)]
struct Scale(Mutex<Option<(u64, u64)>>);

impl Host for Scale {
    fn call(&self, _call: RunCall) -> BoxFuture<'_, Made> {
        if let Ok(mut weight) = self.0.lock() {
            *weight = memory().ok();
        }
        ready(Made::Broken(narthex_gate::CallError::Internal)).boxed()
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millis(0)
    }
}

/// Code mode over one surface whose one tool does nothing, for an agent of a house.
struct Scene {
    gate: Gate,
    pool: Pool,
    surface: Arc<ReadySurface>,
    agent: narthex_core::AgentId,
}

impl Scene {
    async fn new(
        gate: Gate,
        layer: &ProcessLayer,
        config: &SandboxConfig,
        house: &TestHouse,
    ) -> anyhow::Result<Arc<Self>> {
        let agent = house.store().agent_by_slug(&"agent-a".parse()?).await?.context("no agent")?.id;
        let pool = Pool::new(Arc::new(layer.clone()), SandboxConfig { ready: 2, ..config.clone() });
        let nothing = Arc::new(ReadySurface::new(Arc::new(Nothing::new()))?);
        let parts = CodeParts {
            gate: gate.clone(),
            pool: pool.clone(),
            shelf: Arc::new(OneShelf(nothing)),
            servers: None,
        };
        let surface = CodeSurface::new(parts, vec!["host:nothing".to_owned()]);
        let surface = Arc::new(ReadySurface::new(Arc::new(surface))?);
        Ok(Arc::new(Self { gate, pool, surface, agent }))
    }

    async fn call(&self, code: &str) -> anyhow::Result<()> {
        let admitted = self.gate.admit_stdio(Stdio::Agent(self.agent)).await;
        let admitted = admitted.map_err(|refusal| anyhow::anyhow!("{refusal:?}"))?;
        let invocation = Invocation::new("execute_code", json!({"code": code}));
        let output = self.gate.call(&admitted, &self.surface, invocation).await;
        let output = output.map_err(|error| anyhow::anyhow!("{error:?}"))?;
        let status = output.structured.get("status").and_then(Value::as_str);
        ensure!(status == Some("done"), "{}", output.structured);
        Ok(())
    }
}

#[derive(Debug)]
struct OneShelf(Arc<ReadySurface>);

#[async_trait]
impl Shelf for OneShelf {
    async fn surfaces(&self, _context: &CallContext) -> Result<Vec<Shelved>, ToolError> {
        let (name, about) = ("host:nothing".to_owned(), "nothing".to_owned());
        Ok(vec![Shelved { name, about, surface: Arc::clone(&self.0) }])
    }
}

#[derive(Debug)]
struct Nothing(Vec<ToolSpec>);

impl Nothing {
    fn new() -> Self {
        Self(vec![ToolSpec {
            name: "nothing".to_owned(),
            title: "Nothing".to_owned(),
            description: "Does nothing.".to_owned(),
            input_schema: json!({"type": "object", "properties": {}, "additionalProperties": false}),
            output_schema: None,
            annotations: Annotations {
                read_only: true,
                destructive: false,
                idempotent: true,
                open_world: false,
            },
            tier: Tier::T0,
            effects: Effects {
                reads: Reads::Nothing,
                takes_in: TakesIn::Owned,
                sends: Sends::Inside,
                containment: Containment::Contained,
                site: EffectSite::Observe,
            },
            ignored_arguments: &[],
            target: None,
            cost: None,
        }])
    }
}

#[async_trait]
impl Surface for Nothing {
    fn name(&self) -> &'static str {
        "nothing"
    }
    fn info(&self, _context: &CallContext) -> SurfaceInfo {
        SurfaceInfo { title: String::new(), instructions: String::new() }
    }
    fn tools(&self) -> &[ToolSpec] {
        &self.0
    }
    fn asks(&self, _tool: &ToolSpec, _arguments: Option<&Value>, context: &CallContext) -> Asks {
        let Some(space) = context.scope.space() else { return Asks::new([]) };
        let (action, entity_type) = (PolicyAction::Read, EntityType::Page);
        Asks::new([Question { action, entity_type, target: Target::Space(space) }])
    }
    async fn observe(
        &self,
        _intent: &Intent<Observe>,
        _arguments: Value,
    ) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::new(json!({"n": 1})))
    }
    async fn stage(&self, _intent: &Intent<Local>, _arguments: Value) -> Result<Staged, ToolError> {
        Err(ToolError::not_found())
    }
    async fn perform(
        &self,
        _intent: &RecordedIntent,
        _arguments: Value,
    ) -> Result<ToolOutput, ToolError> {
        Err(ToolError::not_found())
    }
}
