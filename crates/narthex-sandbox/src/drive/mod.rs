//! A run, from its first frame to its last.
//!
//! The program is told what the journal says it was told, until that is used up; a program that then
//! asks for something else than it did is ended. From there on its calls are made.
//!
//! INVARIANT: a call that is in the journal with an answer is never made again.

mod answered;
mod outcome;
mod replay;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};
use narthex_core::{Journal, Reason, RunAnswer, RunCall, RunEvent, Thrown, Timestamp, strict};
use serde_json::Value;

use self::answered::{Binaries, NeverWere};
pub use self::outcome::{CallLog, CallMade, Failed, Outcome, Report, Said, Used};
use self::replay::Replay;
use crate::config::SandboxConfig;
use crate::layer::{Gone, LayerFault, Worker};
use crate::wire::{Bounds, Ended, FromWorker, Level, ModuleNames, Start, ToWorker, framed};

/// What carries out the calls of a program.
pub trait Host: Sync {
    /// Makes a call: it is begun when this returns, whoever waits for what comes of it.
    fn call(&self, call: RunCall) -> BoxFuture<'_, Made>;

    /// What the clock says.
    fn now(&self) -> Timestamp;
}

/// What came of a call.
#[derive(Debug)]
pub enum Made {
    /// An answer, and how it was decided on, in a word.
    Answered(RunAnswer, String),
    /// It waits for the owner: nothing was done.
    Waits(Box<narthex_gate::Waiting>),
    /// The run cannot go on, and nothing of it may leave.
    Broken(narthex_gate::CallError),
}

/// A program to be run.
#[derive(Debug)]
pub struct Program {
    /// The text as it was sent.
    pub source: String,
    /// The modules it may use: their names, and the identifiers of their functions.
    pub modules: Vec<(String, Vec<String>)>,
    /// What it was told already.
    pub journal: Journal,
    /// Its own time, if it is to have less than it may.
    pub script: Option<Duration>,
}

/// Runs a program on a worker.
pub async fn drive(
    worker: Box<dyn Worker>,
    program: Program,
    config: &SandboxConfig,
    host: &dyn Host,
) -> Outcome {
    let Program { source, modules, journal, script } = program;
    let script = script.map_or(config.script, |script| script.min(config.script));
    let names = modules
        .iter()
        .map(|(name, functions)| ModuleNames { name: name.clone(), functions: functions.clone() });
    let start = Start {
        source,
        seed: journal.seed,
        now: journal.started.as_millis(),
        modules: names.collect(),
        bounds: Bounds {
            heap: config.heap,
            stack: config.stack,
            script_millis: u64::try_from(script.as_millis()).unwrap_or(u64::MAX),
            result: config.result,
            console: config.console,
        },
    };
    let replay = Replay::of(&journal);
    let kept = Journal { events: Vec::new(), ..journal };
    let mut drive = Drive {
        worker: Some(worker),
        config,
        host,
        modules,
        replay,
        journal: Some(kept),
        kept: 0,
        log: CallLog::default(),
        said: Vec::new(),
        said_bytes: 0,
        binaries: Binaries::new(config.heap),
        waiting: Vec::new(),
        told: 0,
        script: ScriptClock::new(script + config.margin),
        may_run: script,
        began: Instant::now(),
    };
    drive.run(start).await
}

struct Drive<'a> {
    worker: Option<Box<dyn Worker>>,
    config: &'a SandboxConfig,
    host: &'a dyn Host,
    modules: Vec<(String, Vec<String>)>,
    replay: Replay,
    /// What happened this time, which becomes the journal of the next: as long as it may be kept.
    journal: Option<Journal>,
    /// Bytes of it.
    kept: usize,
    log: CallLog,
    said: Vec<Said>,
    said_bytes: usize,
    binaries: Binaries,
    waiting: Vec<narthex_gate::Waiting>,
    /// How many answers the program was sent.
    told: u32,
    script: ScriptClock,
    may_run: Duration,
    began: Instant,
}

/// Why a run ends before its program does.
enum Stop {
    OutOfTime,
    OutOfWall,
    TooManyCalls,
    Gone,
    Nonsense(&'static str),
    Diverged,
    Broken(narthex_gate::CallError),
    Parked,
}

impl From<LayerFault> for Stop {
    fn from(fault: LayerFault) -> Self {
        match fault {
            LayerFault::Nonsense(what) => Self::Nonsense(what),
            LayerFault::NotStarted(_) | LayerFault::NotShutIn(_) | LayerFault::Gone => Self::Gone,
        }
    }
}

impl Drive<'_> {
    async fn run(&mut self, start: Start) -> Outcome {
        let wall = self.config.wall;
        let ran = match tokio::time::timeout(wall, self.frames(start)).await {
            Ok(ran) => ran,
            Err(_) => Err(Stop::OutOfWall),
        };
        let gone = match self.worker.take() {
            // One that is done, and one that is still at work, is not waited for.
            Some(worker) if matches!(ran, Ok(_) | Err(Stop::OutOfTime | Stop::OutOfWall)) => {
                drop(worker);
                Gone::Ended
            }
            Some(worker) => worker.end().await,
            None => Gone::Ended,
        };
        self.outcome(ran, gone)
    }

    /// Hears the worker and carries out what it asks for, until it is done.
    async fn frames(&mut self, start: Start) -> Result<(Ended, u64, u64), Stop> {
        self.tell(&ToWorker::Start(Box::new(start)))?;
        self.script.runs();
        let mut under_way = FuturesUnordered::new();
        let mut queue: VecDeque<RunCall> = VecDeque::new();
        let host = self.host;
        let mut heard = 0_u64;
        loop {
            // What was not answered before is asked once everything that was has been told.
            while self.replay.is_over() && under_way.len() < self.config.at_once {
                let Some(call) = queue.pop_front() else { break };
                let number = call.call;
                self.log.begun(number);
                under_way.push(host.call(call).map(move |made| (number, made)));
            }
            // What the journal still has comes first, in its order.
            while let Some((call, at, answer)) = self.replay.next_answer() {
                self.answer(call, at, answer, "replayed".to_owned())?;
            }
            let Some(worker) = self.worker.as_mut() else { return Err(Stop::Gone) };
            // Whoever talks without end is never waited for: what ends it must have its turn all the same.
            heard += 1;
            if heard.is_multiple_of(IN_A_ROW) {
                tokio::task::yield_now().await;
            }
            let left = self.script.left();
            if left == Some(Duration::ZERO) {
                return Err(Stop::OutOfTime);
            }
            tokio::select! {
                biased;
                Some((call, made)) = under_way.next() => {
                    self.made(call, made)?;
                    if self.is_parked(under_way.len() + queue.len()) {
                        return Err(Stop::Parked);
                    }
                }
                frame = worker.receive() => {
                    let frame = frame?;
                    let frame = serde_json::from_slice(&frame).map_err(|_| Stop::Nonsense("no frame"))?;
                    match self.hear(frame)? {
                        Heard::Call(call) => queue.push_back(call),
                        Heard::Done(ended, heap, micros) => return Ok((ended, heap, micros)),
                        Heard::Nothing => {}
                    }
                }
                () = sleep(left) => return Err(Stop::OutOfTime),
            }
        }
    }

    /// Whether nothing more can happen before the owner decides.
    fn is_parked(&self, under_way: usize) -> bool {
        !self.waiting.is_empty() && under_way == 0 && !self.script.is_running()
    }

    fn hear(&mut self, frame: FromWorker) -> Result<Heard, Stop> {
        match frame {
            FromWorker::Call { call, module, function, arguments, deferred } => {
                let known = usize::try_from(module).ok().and_then(|at| self.modules.get(at));
                let name = known.and_then(|(module, functions)| {
                    let function = functions.get(usize::try_from(function).ok()?)?;
                    Some((module.clone(), function.clone()))
                });
                let (module, function) = name.ok_or(Stop::Nonsense("a call of nothing"))?;
                if !deferred {
                    self.script.stands();
                }
                let text = arguments.get();
                let read = if text.len() > self.config.arguments {
                    let most = self.config.arguments;
                    Err(format!("the arguments have {} bytes where {most} are allowed", text.len()))
                } else {
                    strict::parse(text.as_bytes())
                        .map_err(|fault| format!("these arguments are not taken: {fault}"))
                };
                let bytes = text.len();
                let (arguments, bad) = match read {
                    Ok(arguments) => (arguments, None),
                    Err(why) => (Value::Null, Some(why)),
                };
                self.called(RunCall { call, module, function, arguments, deferred }, bytes, bad)
            }
            // One that has not heard everything yet goes on by itself, as does one with nothing to hear.
            FromWorker::Waits { heard } if heard != self.told || self.log.open() == 0 => {
                Ok(Heard::Nothing)
            }
            FromWorker::Waits { .. } => {
                self.script.stands();
                // All that could be answered may be answered already.
                if self.is_parked(0) && self.log.open() == self.waiting.len() {
                    return Err(Stop::Parked);
                }
                Ok(Heard::Nothing)
            }
            FromWorker::Fetch { binary } => {
                let base64 = self.binaries.get(binary);
                let base64 = base64.map_err(|NeverWere| Stop::Nonsense("no such bytes"))?;
                self.tell(&ToWorker::Bytes { binary, base64 })?;
                Ok(Heard::Nothing)
            }
            FromWorker::Said { level, text } => {
                self.say(level, text);
                Ok(Heard::Nothing)
            }
            // One that ends before it did everything it did before does something else.
            FromWorker::Done { .. } if !self.replay.is_over() => Err(Stop::Diverged),
            FromWorker::Done { ended, heap, micros } => Ok(Heard::Done(ended, heap, micros)),
            FromWorker::Ready | FromWorker::NotLocked { .. } => {
                Err(Stop::Nonsense("it began twice"))
            }
        }
    }

    /// A call of the program: one that was made before, or a new one.
    fn called(&mut self, call: RunCall, bytes: usize, bad: Option<String>) -> Result<Heard, Stop> {
        if call.call != self.log.count() {
            return Err(Stop::Nonsense("calls out of order"));
        }
        self.log.called(&call);
        self.keep(bytes, || RunEvent::Called(call.clone()));
        match self.replay.called(&call) {
            replay::Was::Same => return Ok(Heard::Nothing),
            replay::Was::Another => return Err(Stop::Diverged),
            replay::Was::New => {}
        }
        if self.log.count() > self.config.calls.saturating_mul(2) {
            return Err(Stop::TooManyCalls);
        }
        if self.log.count() > self.config.calls {
            let most = format!("a program may make {} calls", self.config.calls);
            return self.refuse(call.call, "limit_reached", most);
        }
        if let Some(why) = bad {
            return self.refuse(call.call, Reason::InvalidArguments.code(), why);
        }
        Ok(Heard::Call(call))
    }

    /// Answers a call that is not made.
    fn refuse(&mut self, call: u32, code: &str, message: String) -> Result<Heard, Stop> {
        let code = code.to_owned();
        let thrown = Thrown { code, message, parameters: None, retryable: false };
        let answer = RunAnswer::Thrown(thrown);
        self.answer(call, self.host.now(), answer, "refused".to_owned())?;
        Ok(Heard::Nothing)
    }

    /// Keeps what happened, for as long as all of it is no more than may be kept.
    fn keep(&mut self, bytes: usize, event: impl FnOnce() -> RunEvent) {
        self.kept = self.kept.saturating_add(bytes);
        match &mut self.journal {
            Some(journal) if self.kept <= self.config.journal => journal.events.push(event()),
            journal => *journal = None,
        }
    }

    fn made(&mut self, call: u32, made: Made) -> Result<(), Stop> {
        match made {
            Made::Answered(answer, decision) => {
                self.answer(call, self.host.now(), answer, decision)
            }
            Made::Waits(waiting) => {
                self.log.waits(call);
                self.waiting.push(*waiting);
                Ok(())
            }
            Made::Broken(error) => Err(Stop::Broken(error)),
        }
    }

    /// Answers a call of the program, and notes what it was told.
    fn answer(
        &mut self,
        call: u32,
        at: Timestamp,
        answer: RunAnswer,
        decision: String,
    ) -> Result<(), Stop> {
        self.log.answered(call, &answer, decision);
        let wire = self.binaries.wire(&answer).ok_or(Stop::Nonsense("an answer is no JSON"))?;
        self.told = self.told.saturating_add(1);
        let told = self.tell(&ToWorker::Reply { call, now: at.as_millis(), answer: wire })?;
        let bytes = match &answer {
            RunAnswer::Value { binaries, .. } => {
                binaries.iter().map(|bytes| bytes.base64.len()).sum()
            }
            RunAnswer::Thrown(_) => 0,
        };
        self.keep(told.saturating_add(bytes), || RunEvent::Answered { call, at, answer });
        self.script.runs();
        Ok(())
    }

    /// Puts a frame on its way; how many bytes it has.
    fn tell(&mut self, frame: &ToWorker) -> Result<usize, Stop> {
        let bytes = framed(frame).map_err(|_| Stop::Nonsense("no frame of ours"))?;
        let Some(worker) = self.worker.as_mut() else { return Err(Stop::Gone) };
        worker.send(&bytes);
        Ok(bytes.len())
    }

    fn say(&mut self, level: Level, mut text: String) {
        let room = self.config.console.saturating_sub(self.said_bytes);
        if text.len() > room {
            let end = (0..=room).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            text.truncate(end);
        }
        // Every line counts for something, so that empty ones are bounded too.
        if room > 0 {
            self.said_bytes += text.len() + 1;
            self.said.push(Said { level, text });
        }
    }
}

enum Heard {
    Nothing,
    Call(RunCall),
    Done(Ended, u64, u64),
}

/// A program's own time, as we see it: it runs from when it was told something until it waits.
#[derive(Debug)]
struct ScriptClock {
    most: Duration,
    before: Duration,
    since: Option<Instant>,
}

impl ScriptClock {
    const fn new(most: Duration) -> Self {
        Self { most, before: Duration::ZERO, since: None }
    }

    fn runs(&mut self) {
        self.since.get_or_insert_with(Instant::now);
    }

    fn stands(&mut self) {
        self.before += self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
    }

    const fn is_running(&self) -> bool {
        self.since.is_some()
    }

    fn passed(&self) -> Duration {
        self.before + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// How long until it is over; none while it stands still.
    fn left(&self) -> Option<Duration> {
        self.since.map(|_| self.most.saturating_sub(self.passed()))
    }
}

/// Frames before others have their turn.
const IN_A_ROW: u64 = 32;

async fn sleep(left: Option<Duration>) {
    match left {
        Some(left) => tokio::time::sleep(left).await,
        None => std::future::pending().await,
    }
}
