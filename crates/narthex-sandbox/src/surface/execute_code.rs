//! `execute_code`: runs a program.

use std::time::{Duration, Instant};

use narthex_core::{Digest, Journal, ParkedRun, Reason, RunId, Taint, Timestamp};
use narthex_gate::{CallError, RecordedIntent, Run, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::host::RunHost;
use super::result::{self, RunResult};
use super::{CodeSurface, Declared, Does, resume_run};
use crate::config::SandboxConfig;
use crate::drive::{Outcome, Program, drive};
use crate::modules::Modules;
use crate::pool::{NoTurn, Place, Turn};

pub(super) const DECLARED: Declared = Declared {
    name: "execute_code",
    title: "Run a program",
    description: "Runs a JavaScript or TypeScript program in a sandbox. Its modules are what \
                  list_modules shows: require(\"host:…\") or import. Calls look synchronous, throw \
                  HostError, and each is decided on and recorded like a call of yours. The value of the \
                  last expression (or of a top-level return, or of main()) is the result, as JSON. There \
                  is no network, no file, no timer. A call that needs the owner pauses the run: use \
                  resume_run with its id once the owner has decided.",
    does: Does::Run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The program.
    #[schemars(length(min = 1))]
    code: String,
    /// Milliseconds of its own time, if less than it may have; waiting for calls does not count.
    #[schemars(with = "u32", range(min = 1, max = 60000))]
    #[serde(default)]
    timeout_ms: Option<u32>,
}

pub(super) async fn run(
    surface: &CodeSurface,
    intent: &RecordedIntent,
    input: Input,
) -> Result<ToolOutput, ToolError> {
    let most = surface.parts.pool.config().source;
    if input.code.len() > most {
        let message =
            format!("the program has {} bytes where {most} are allowed", input.code.len());
        return Err(ToolError::caller(Reason::LimitReached, message));
    }
    let asked = Digest::of_json(&json!({"code": input.code, "timeout_ms": input.timeout_ms}));
    // The same program again, while it waits, is that run.
    let waits = surface.parts.gate.parked_run_of(intent, asked).await.map_err(failed)?;
    if let Some(id) = waits
        && let Some(done) = resume_run::resume(surface, intent, id).await?
    {
        return Ok(done);
    }
    let mut seed = [0; 8];
    getrandom::fill(&mut seed).map_err(|error| ToolError::Unavailable(error.to_string()))?;
    let now = surface.parts.gate.clock().now();
    let id = RunId::from_uuid(narthex_store::fresh_uuid());
    let started = Started {
        source: input.code,
        asked,
        script: input.timeout_ms.map(|millis| Duration::from_millis(millis.into())),
        journal: Journal::new(u64::from_le_bytes(seed), now),
        waited: None,
    };
    let ready = Ready::new(surface, intent).await?;
    let run = surface.parts.gate.run(intent, id);
    go(surface, intent, run, started, ready).await
}

/// A run that begins, or goes on.
pub(super) struct Started {
    pub(super) source: String,
    pub(super) asked: Digest,
    pub(super) script: Option<Duration>,
    pub(super) journal: Journal,
    /// Until when it can go on, where that was said before, and the place it comes from.
    pub(super) waited: Option<(Timestamp, Place)>,
}

/// What it takes to run: modules, a worker, and the time that is left.
pub(super) struct Ready {
    modules: Modules,
    turn: Turn,
    config: SandboxConfig,
}

impl Ready {
    pub(super) async fn new(
        surface: &CodeSurface,
        intent: &RecordedIntent,
    ) -> Result<Self, ToolError> {
        let (gate, pool) = (&surface.parts.gate, &surface.parts.pool);
        let began = Instant::now();
        let modules = surface.modules(intent.context()).await?;
        let agent = intent.context().principal.agent.id;
        let turn = pool.turn(agent).await.map_err(no_turn)?;
        // Whoever waited for its turn has less time, so that it can still say how it ended.
        let left = gate.config().call_deadline.saturating_sub(began.elapsed() + LAST_WORDS);
        let config = SandboxConfig { wall: pool.config().wall.min(left), ..pool.config().clone() };
        Ok(Self { modules, turn, config })
    }
}

/// Runs until it is over or waits.
pub(super) async fn go(
    surface: &CodeSurface,
    intent: &RecordedIntent,
    run: Run,
    started: Started,
    ready: Ready,
) -> Result<ToolOutput, ToolError> {
    let gate = &surface.parts.gate;
    let Ready { modules, turn, config } = ready;
    let program = Program {
        source: started.source.clone(),
        modules: modules.names(),
        journal: started.journal,
        script: started.script,
    };
    let host = RunHost { gate, run: &run, modules: &modules };
    let outcome = drive(turn.worker, program, &config, &host).await;
    drop(turn.rights);
    match outcome {
        Outcome::Over(report) => {
            run.flush().await.map_err(failed)?;
            result::over(run.id(), *report)
        }
        Outcome::Broken(error) => Err(failed(error)),
        Outcome::Parked { report, journal: None, .. } => {
            run.flush().await.map_err(failed)?;
            result::too_much_to_wait(run.id(), *report, config.journal)
        }
        Outcome::Parked { report, journal: Some(journal), waiting } => {
            let now = gate.clock().now();
            let kept_for = i64::try_from(config.parked_for.as_millis()).unwrap_or(i64::MAX);
            let parked = ParkedRun {
                id: run.id(),
                holder: intent.holder(),
                program: started.source,
                asked: started.asked,
                waiting: waiting.iter().map(|waiting| waiting.approval).collect(),
                journal,
                taint: Taint::CLEAN,
                rules: None,
                parked: now,
                until: started
                    .waited
                    .as_ref()
                    .map_or_else(|| now.plus_millis(kept_for), |(until, _)| *until),
                script_ms: script_ms(started.script),
            };
            // One that waited before has its place already; nobody else is given it meanwhile.
            let places = surface.parts.pool.places_of(intent.holder().agent);
            let own = u32::from(started.waited.is_some());
            let cap = config.parked.saturating_sub(places.saturating_sub(own));
            run.park(parked, cap).await.map_err(failed)?;
            let output = RunResult::paused(run.id(), *report, &waiting)?;
            Ok(output.waiting_for(waiting.into_iter().next()))
        }
    }
}

fn script_ms(script: Option<Duration>) -> Option<u64> {
    script.map(|script| u64::try_from(script.as_millis()).unwrap_or(u64::MAX))
}

/// What the gate says when a run cannot go on.
pub(super) fn failed(error: CallError) -> ToolError {
    match error {
        CallError::Refused { reason, message } => ToolError::caller(reason, message),
        CallError::Unauthorized => {
            ToolError::caller(Reason::Unauthorized, Reason::Unauthorized.message())
        }
        CallError::Unavailable => ToolError::Unavailable("a run could not be recorded".to_owned()),
        other => ToolError::Internal(format!("a run ended with {other:?}")),
    }
}

fn no_turn(error: NoTurn) -> ToolError {
    match error {
        NoTurn::Busy => ToolError::caller(
            Reason::LimitReached,
            "too many programs run already; try again in a while",
        ),
        NoTurn::Layer(fault) => ToolError::Internal(fault.to_string()),
    }
}

/// What telling how a run ended takes.
const LAST_WORDS: Duration = Duration::from_secs(1);
