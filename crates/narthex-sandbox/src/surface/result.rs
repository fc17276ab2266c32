//! What whoever sent a program is told.

use narthex_core::{RunId, Subject, Taint};
use narthex_gate::{ToolError, ToolOutput, Waiting, write_answer};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::drive::{CallMade, Failed, Report};

/// The answer of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RunResult {
    /// What became of it.
    status: Status,
    /// What it is called.
    run: String,
    /// Its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    value: Option<Value>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Trouble")]
    error: Option<Trouble>,
    /// What it said, a line each.
    console: Vec<String>,
    /// The calls it made, with what was decided on each.
    calls: Vec<Made>,
    /// What it used up.
    used: UsedUp,
    /// What it waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waiting: Vec<WaitsFor>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    note: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    /// It is over and has a value.
    Done,
    /// It is over, and something went wrong.
    Failed,
    /// It waits for the owner.
    Paused,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Trouble {
    /// A stable word.
    code: String,
    /// What to do about it.
    message: String,
    /// The line of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    line: Option<u32>,
    /// The column.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    column: Option<u32>,
    /// The line's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    excerpt: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Made {
    /// Module and function.
    call: String,
    /// What was decided, and how it ended.
    decision: String,
    /// The error's code, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    error: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct UsedUp {
    /// Milliseconds of its own time.
    script_ms: u64,
    /// Milliseconds all in all.
    wall_ms: u64,
    /// Bytes of heap at the end.
    heap_bytes: u64,
    /// Calls.
    calls: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct WaitsFor {
    /// The request that the owner sees.
    approval: String,
    /// Why the owner is asked.
    because: String,
    /// Until when it waits.
    until: String,
}

/// A run that is over.
pub(super) fn over(run: RunId, report: Report) -> Result<ToolOutput, ToolError> {
    RunResult::of(run, report).written(run)
}

/// A run that would have to wait with more than may be kept.
pub(super) fn too_much_to_wait(
    run: RunId,
    report: Report,
    most: usize,
) -> Result<ToolOutput, ToolError> {
    let failed = Failed {
        code: "limit_reached".to_owned(),
        message: format!(
            "a call needs the owner, and what the program was told so far is more than the {most} bytes a run can wait with: make that call first, or read less before it"
        ),
        at: None,
        excerpt: None,
    };
    over(run, Report { value: Err(failed), ..report })
}

impl RunResult {
    /// A run that waits.
    pub(super) fn paused(
        run: RunId,
        report: Report,
        waiting: &[Waiting],
    ) -> Result<ToolOutput, ToolError> {
        let waits = waiting.iter().map(|waiting| WaitsFor {
            approval: waiting.approval.to_string(),
            because: waiting.because.message().to_owned(),
            until: waiting.until.to_string(),
        });
        let note = format!(
            "Nothing of the waiting call was done yet. Once the owner has decided (narthex approvals), call resume_run with run {run}: the program goes on from here, and what it did before is not done again."
        );
        let result = Self {
            status: Status::Paused,
            waiting: waits.collect(),
            note: Some(note),
            ..Self::of(run, report)
        };
        result.written(run)
    }

    fn of(run: RunId, report: Report) -> Self {
        let Report { value, said, said_more, calls, used } = report;
        let used = UsedUp {
            script_ms: millis(used.script),
            wall_ms: millis(used.wall),
            heap_bytes: used.heap,
            calls: calls.len(),
        };
        let silent = said.is_empty();
        let mut console: Vec<String> = said.iter().map(crate::drive::Said::line).collect();
        if said_more {
            console.push("… (it said more than is kept)".to_owned());
        }
        let (status, value, error) = match value {
            Ok(value) => (Status::Done, value, None),
            Err(failed) => (Status::Failed, None, Some(Trouble::of(failed))),
        };
        let nothing = status == Status::Done && value.is_none() && silent;
        let note = nothing.then(|| {
            "The program has no value and said nothing: end it with the expression to return."
                .to_owned()
        });
        Self {
            status,
            run: run.to_string(),
            value,
            error,
            console,
            calls: calls.into_iter().map(Made::of).collect(),
            used,
            waiting: Vec::new(),
            note,
        }
    }

    fn written(&self, run: RunId) -> Result<ToolOutput, ToolError> {
        let output = ToolOutput::new(write_answer(self)?);
        Ok(output.about(Taint::CLEAN, Subject::one("run", run)))
    }
}

impl Trouble {
    fn of(failed: Failed) -> Self {
        let Failed { code, message, at, excerpt } = failed;
        let (line, column) = at.unzip();
        Self { code, message, line, column, excerpt }
    }
}

impl Made {
    fn of(made: CallMade) -> Self {
        Self {
            call: format!("{}.{}", made.module, made.function),
            decision: made
                .decision
                .unwrap_or_else(|| if made.begun { UNKNOWN } else { "not made" }.to_owned()),
            error: made.error,
        }
    }
}

/// Of a call that was under way when its run ended. It is not to be made again blindly.
const UNKNOWN: &str =
    "under way when the run ended: if it was made, the owner's ledger says what came of it";

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
