//! How a run ended, in words for whoever sent the program.

use std::time::Duration;

use narthex_core::{Journal, RunAnswer, RunCall};
use narthex_gate::{CallError, Waiting};
use serde_json::Value;

use super::{Drive, Stop};
use crate::layer::Gone;
use crate::wire::{Ended, Level, MAX_MESSAGE, cut};

/// How a run ended.
#[derive(Debug)]
pub enum Outcome {
    /// It is over.
    Over(Box<Report>),
    /// It waits for the owner.
    Parked {
        /// What it did so far.
        report: Box<Report>,
        /// What it takes to go on; none where that is more than may be kept.
        journal: Option<Journal>,
        /// What it waits for.
        waiting: Vec<Waiting>,
    },
    /// Nothing of it may leave.
    Broken(CallError),
}

/// What a run did.
#[derive(Debug)]
pub struct Report {
    /// The value, or what went wrong.
    pub value: Result<Option<Value>, Failed>,
    /// What it said.
    pub said: Vec<Said>,
    /// Whether it said more than is kept.
    pub said_more: bool,
    /// The calls it made.
    pub calls: Vec<CallMade>,
    /// What it used up.
    pub used: Used,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// A stable word.
    pub code: String,
    /// What to do about it.
    pub message: String,
    /// Where in the text as it was sent: line and column.
    pub at: Option<(u32, u32)>,
    /// The line.
    pub excerpt: Option<String>,
}

/// Something a program said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub(super) level: Level,
    /// What.
    pub text: String,
}

impl Said {
    /// The line as it is shown.
    pub fn line(&self) -> String {
        match self.level {
            Level::Log => self.text.clone(),
            Level::Warn => format!("warning: {}", self.text),
            Level::Error => format!("error: {}", self.text),
        }
    }
}

/// What a run used up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    /// Its own time.
    pub script: Duration,
    /// All of the time.
    pub wall: Duration,
    /// Bytes of heap at the end.
    pub heap: u64,
}

/// A call a program made.
#[derive(Debug, Clone, PartialEq)]
pub struct CallMade {
    /// The module.
    pub module: String,
    /// The function.
    pub function: String,
    /// Whether it was begun.
    pub begun: bool,
    /// How it was decided on and how it ended, in a word; none while it is open.
    pub decision: Option<String>,
    /// The error's code, if it was answered with one.
    pub error: Option<String>,
}

/// The calls of a run, as they are made.
#[derive(Debug, Default)]
pub struct CallLog(Vec<CallMade>);

impl CallLog {
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// How many have no answer.
    pub(super) fn open(&self) -> usize {
        let open =
            |made: &&CallMade| made.decision.as_deref().is_none_or(|decision| decision == WAITS);
        self.0.iter().filter(open).count()
    }

    pub(super) fn called(&mut self, call: &RunCall) {
        self.0.push(CallMade {
            module: call.module.clone(),
            function: call.function.clone(),
            begun: false,
            decision: None,
            error: None,
        });
    }

    pub(super) fn begun(&mut self, call: u32) {
        if let Some(made) = self.get(call) {
            made.begun = true;
        }
    }

    pub(super) fn waits(&mut self, call: u32) {
        if let Some(made) = self.get(call) {
            made.decision = Some(WAITS.to_owned());
        }
    }

    pub(super) fn answered(&mut self, call: u32, answer: &RunAnswer, decision: String) {
        if let Some(made) = self.get(call) {
            made.decision = Some(decision);
            made.error = match answer {
                RunAnswer::Thrown(thrown) => Some(thrown.code.clone()),
                RunAnswer::Value { .. } => None,
            };
        }
    }

    fn get(&mut self, call: u32) -> Option<&mut CallMade> {
        self.0.get_mut(usize::try_from(call).ok()?)
    }
}

impl Drive<'_> {
    pub(super) fn outcome(&mut self, ran: Result<(Ended, u64, u64), Stop>, gone: Gone) -> Outcome {
        let (value, heap, script) = match ran {
            Ok((ended, heap, micros)) => (self.value(ended), heap, Duration::from_micros(micros)),
            Err(Stop::Broken(error)) => return Outcome::Broken(error),
            Err(Stop::Parked) => {
                let report = Box::new(self.report(Ok(None), 0, self.script.passed()));
                let journal = self.journal.take();
                return Outcome::Parked {
                    report,
                    journal,
                    waiting: std::mem::take(&mut self.waiting),
                };
            }
            Err(stop) => (Err(self.stopped(&stop, gone)), 0, self.script.passed()),
        };
        Outcome::Over(Box::new(self.report(value, heap, script)))
    }

    fn report(
        &mut self,
        value: Result<Option<Value>, Failed>,
        heap: u64,
        script: Duration,
    ) -> Report {
        Report {
            value,
            said: std::mem::take(&mut self.said),
            said_more: self.said_bytes >= self.config.console,
            calls: std::mem::take(&mut self.log.0),
            used: Used { script, wall: self.began.elapsed(), heap },
        }
    }

    fn value(&self, ended: Ended) -> Result<Option<Value>, Failed> {
        let failed = |code: &str, message: String| Failed {
            code: code.to_owned(),
            message,
            at: None,
            excerpt: None,
        };
        Err(match ended {
            Ended::Value(value) if value.get().len() <= self.config.result => {
                match serde_json::from_str(value.get()) {
                    Ok(value) => return Ok(Some(value)),
                    Err(_) => failed(
                        "bad_result",
                        "the result cannot be told: it is nested too deeply, or has half a character in a name; return something simpler"
                            .to_owned(),
                    ),
                }
            }
            Ended::Nothing => return Ok(None),
            Ended::Value(value) => self.too_large(value.get().len() as u64),
            Ended::TooLarge { bytes } => self.too_large(bytes),
            Ended::OutOfTime => self.out_of_time(),
            Ended::Stuck => failed(
                "stuck",
                "the program waits for a promise that nothing will ever settle; there are no timers here"
                    .to_owned(),
            ),
            Ended::Misshapen { line, column, message, excerpt } => Failed {
                code: "syntax_error".to_owned(),
                message: cut(message, MAX_MESSAGE),
                at: Some((line, column)),
                excerpt: Some(cut(excerpt, MAX_MESSAGE)),
            },
            Ended::Threw(threw) => {
                // Whoever took a worker over can say anything, and at length.
                let threw = threw.bounded();
                let code = threw.code.unwrap_or_else(|| "uncaught_error".to_owned());
                let hint = hint(&threw.name, &threw.message, self.config.heap);
                let message = format!("{}: {}{hint}", threw.name, threw.message);
                Failed { at: threw.at, ..failed(&code, message) }
            }
        })
    }

    fn stopped(&self, stop: &Stop, gone: Gone) -> Failed {
        let (code, message) = match stop {
            Stop::OutOfTime => return self.out_of_time(),
            Stop::OutOfWall => (
                "deadline_exceeded",
                format!("the run took more than {} s, waiting included", self.config.wall.as_secs()),
            ),
            Stop::Diverged => (
                "diverged",
                "the program did something else than before it waited, so it was ended; send it again as a new one"
                    .to_owned(),
            ),
            Stop::TooManyCalls => (
                "limit_reached",
                format!("the program made more than {} calls, and went on", self.config.calls),
            ),
            Stop::Gone => ("crashed", crashed(gone)),
            Stop::Nonsense(what) => {
                tracing::warn!(what, "a worker was taken over, or is broken");
                ("crashed", crashed(gone))
            }
            Stop::Broken(_) | Stop::Parked => ("internal", String::new()),
        };
        Failed { code: code.to_owned(), message, at: None, excerpt: None }
    }

    fn out_of_time(&self) -> Failed {
        let most = self.may_run.as_millis();
        Failed {
            code: "out_of_time".to_owned(),
            message: format!(
                "the program ran for more than its {most} ms (waiting for calls does not count): do less, or let a call do the work"
            ),
            at: None,
            excerpt: None,
        }
    }

    fn too_large(&self, bytes: u64) -> Failed {
        Failed {
            code: "result_too_large".to_owned(),
            message: format!(
                "the result has {bytes} bytes where {} are allowed: return less of it",
                self.config.result
            ),
            at: None,
            excerpt: None,
        }
    }
}

fn crashed(gone: Gone) -> String {
    let how = match gone {
        Gone::Killed { signal: libc::SIGSEGV | libc::SIGBUS | libc::SIGABRT } => {
            "it is nested too deeply, or used up its memory"
        }
        Gone::Killed { signal: libc::SIGXCPU | libc::SIGKILL } => "it used up its time",
        // What the C library does when memory or stack are used up is not allowed in there either.
        Gone::Killed { signal: libc::SIGSYS } => {
            "it is nested too deeply, used up its memory, or tried to leave its sandbox"
        }
        Gone::Killed { .. } | Gone::Ended => "it broke the sandbox it ran in",
    };
    format!("the program was ended: {how}")
}

/// What a model is told besides, where the engine's words alone do not help.
fn hint(name: &str, message: &str, heap: usize) -> String {
    let missing = |what: &str| message.contains(what);
    if name == "InternalError" && missing("out of memory") {
        return format!(" (a program has {} MB)", heap / (1024 * 1024));
    }
    if name == "ReferenceError" {
        if missing("setTimeout") || missing("setInterval") {
            return " (there are no timers: nothing here takes time but calls, and those wait by themselves)".to_owned();
        }
        if missing("fetch") || missing("process") || missing("XMLHttpRequest") {
            return " (a program reaches nothing but its modules: see list_modules)".to_owned();
        }
    }
    String::new()
}

const WAITS: &str = "waits for the owner";
