//! A run of an agent's program, as far as it is kept: what it did so far, so that it can go on.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ApprovalId, Digest, Holder, RunId, Taint, Timestamp};

/// A run that waits for the owner. Nothing of it is in memory: it goes on by being run again, with
/// what it was answered before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParkedRun {
    /// Its id.
    pub id: RunId,
    /// Whose.
    pub holder: Holder,
    /// What it was asked to run, as it came.
    pub program: String,
    /// The digest of everything it was asked with: the same again is this run.
    pub asked: Digest,
    /// Milliseconds of its own time, if it was given less than it may have.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub script_ms: Option<u64>,
    /// What it waits for.
    pub waiting: Vec<ApprovalId>,
    /// What happened so far.
    pub journal: Journal,
    /// What it was told, all in all: going on with it is being told again.
    #[serde(default)]
    pub taint: Taint,
    /// Under which rules it was told that. Under others it does not go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Digest>,
    /// Since when it waits.
    pub parked: Timestamp,
    /// Until when it can go on.
    pub until: Timestamp,
}

/// What a run was told by the world, in order. The same program with the same journal does the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Journal {
    /// What its randomness is made of.
    pub seed: u64,
    /// What its clock said at the start.
    pub started: Timestamp,
    /// What happened.
    pub events: Vec<RunEvent>,
}

/// One thing that happened in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEvent {
    /// The program made a call.
    Called(RunCall),
    /// The call was answered.
    Answered {
        /// Which one, counted from 0.
        call: u32,
        /// What the clock said.
        at: Timestamp,
        /// What it was answered.
        answer: RunAnswer,
    },
}

/// A call a program makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunCall {
    /// Which one, counted from 0.
    pub call: u32,
    /// The module.
    pub module: String,
    /// The function, as the program calls it.
    pub function: String,
    /// The arguments.
    pub arguments: Value,
    /// Whether the program goes on meanwhile.
    pub deferred: bool,
}

/// How a call of a program was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunAnswer {
    /// With a value.
    Value {
        /// The value.
        value: Value,
        /// What in it is bytes, and stands there as null.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        binaries: Vec<Binary>,
    },
    /// With an error, which the program can catch.
    Thrown(Thrown),
}

/// Bytes in an answer: the program gets a handle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binary {
    /// Where in the value, as a JSON pointer.
    pub at: String,
    /// What kind of bytes, as whoever sent them says.
    pub mime: String,
    /// The bytes, as base64.
    pub base64: String,
}

/// An error of a call, as the program sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thrown {
    /// A stable word.
    pub code: String,
    /// What to do about it.
    pub message: String,
    /// The parameters that would have been right.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parameters: Option<String>,
    /// Whether the same call may do better later.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub retryable: bool,
}

impl Journal {
    /// Of a run that has not begun.
    pub const fn new(seed: u64, started: Timestamp) -> Self {
        Self { seed, started, events: Vec::new() }
    }

    /// The calls made so far, each with its answer if it has one.
    pub fn calls(&self) -> impl Iterator<Item = (&RunCall, Option<&RunAnswer>)> {
        self.events.iter().filter_map(|event| match event {
            RunEvent::Called(call) => Some((call, self.answer(call.call))),
            RunEvent::Answered { .. } => None,
        })
    }

    fn answer(&self, of: u32) -> Option<&RunAnswer> {
        self.events.iter().find_map(|event| match event {
            RunEvent::Answered { call, answer, .. } if *call == of => Some(answer),
            _ => None,
        })
    }
}
