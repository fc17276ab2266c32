//! One thing a server does when a message comes.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A step. What looks at something notes what it found under its own name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Answers with the arguments.
    Echo,
    /// Answers with this result; `resultType` is added where the era wants it.
    Answer(Value),
    /// Answers with this result and nothing added.
    Raw(Value),
    /// Answers with this text where the result stands, JSON or not: keys that appear twice, numbers of
    /// any size, schemas deeper than a parser likes.
    Written(String),
    /// Answers with an error.
    Refuse {
        /// Of JSON-RPC.
        code: i64,
        /// What it says.
        message: String,
        /// What else it says.
        #[serde(default)]
        data: Option<Value>,
    },
    /// Answers with a text of so many bytes.
    Large(usize),
    /// Answers with so many blocks of content.
    Many(usize),
    /// Answers with `isError` and a text that holds whatever is filled in.
    Fail(String),
    /// Answers with what was found so far, one byte each so many milliseconds.
    Drip(u64),
    /// Over HTTP: answers with a status, headers and a body of its own.
    Status {
        /// The code.
        code: u16,
        /// Headers besides the length.
        #[serde(default)]
        headers: Vec<(String, String)>,
        /// The body.
        #[serde(default)]
        body: String,
    },
    /// Answers under an id that is not the question's; the question stays open.
    AnswerTo(Id, Value),
    /// Says the last message once more.
    Again,
    /// Never answers.
    Silence,

    /// A line that is this text, whatever it is.
    Line(String),
    /// A line of these bytes, in hexadecimal.
    Hex(String),
    /// So many bytes without an end of the line.
    Endless(u64),
    /// A notification, so many times.
    Notify {
        /// Its method.
        method: String,
        /// Its parameters.
        #[serde(default)]
        params: Map<String, Value>,
        /// How often.
        times: u64,
    },
    /// Progress of this call, if the client wants to know: so many steps, with a pause before each.
    Progress {
        /// How many.
        steps: u64,
        /// The pause.
        every_ms: u64,
    },
    /// Progress of this call in these words, if the client wants to know, with whatever is filled in.
    Tell(String),
    /// Writes this to stderr, so many times.
    Stderr(String, u64),
    /// Writes its environment to stderr.
    StderrEnvironment,

    /// Waits.
    Sleep(u64),
    /// Ends the process with this code. In a test's process: ends the server.
    Exit(i32),
    /// Writes its pid into the file, and exits with the code while there are fewer lines than this.
    ExitBefore {
        /// Where the starts are counted.
        file: PathBuf,
        /// How many it takes.
        starts: usize,
        /// The code.
        code: i32,
    },
    /// Starts so many children that ignore SIGTERM and outlive it.
    Fork {
        /// How many.
        count: usize,
        /// Where their pids are written, one a line.
        pids: PathBuf,
        /// Whether they leave its session and process group.
        #[serde(default)]
        detach: bool,
    },
    /// Ignores SIGTERM from here on.
    IgnoreTerm,
    /// Waits until the call is cancelled, at most so many milliseconds, and notes whether it was.
    AwaitCancel(u64),
    /// Takes the next turn that waits for it.
    Flip,

    /// Notes the environment.
    Environment,
    /// Notes what came of reading this file or folder.
    Read(String),
    /// Notes what came of writing this file.
    Write(String),
    /// Notes what came of connecting to this host and port.
    Connect(String),
    /// Notes what the client answered to a request in mid-call.
    Ask {
        /// The request's method.
        method: String,
        /// Its parameters.
        #[serde(default)]
        params: Map<String, Value>,
    },
    /// In the newer revision: answers that input is required, and notes it when the call is repeated.
    NeedInput(Value),
    /// Notes the notifications and stray answers that came so far.
    Heard,
    /// Notes how often this was done in this connection.
    Count,
    /// Notes the headers of the HTTP request.
    Headers,
    /// Notes the pids of itself, its parent and its grandparent.
    Pids,
}

/// Whose id an answer carries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Id {
    /// This one.
    Fixed(Value),
    /// The question's own, plus this: another question's.
    Off(i64),
    /// The question's own, as a string.
    Text,
}

impl Step {
    /// Whether over HTTP it takes a stream of events.
    pub(super) fn streams(&self) -> bool {
        matches!(
            self,
            Self::AnswerTo(..)
                | Self::Again
                | Self::Line(_)
                | Self::Hex(_)
                | Self::Endless(_)
                | Self::Drip(_)
                | Self::Notify { .. }
                | Self::Progress { .. }
                | Self::Tell(_)
                | Self::Ask { .. }
        )
    }
}
