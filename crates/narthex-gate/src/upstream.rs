//! The port to other people's MCP servers: what a surface needs of a connection, said without a
//! wire format. `narthex-servers` asks through it; `narthex-mcp` speaks the protocol behind it.
//!
//! What comes back is the server's own JSON, byte for byte as it came: nobody in between may drop a
//! field or change an order. Whoever asks bounds it, scans it and decides what becomes of it.
//!
//! `lists.rs` follows a server's lists to their end, under caps; `log.rs` has what it says to a log; `marks.rs` reads which arguments of
//! a tool go into headers, and says which tools mark them so that they cannot be called.

mod lists;
mod log;
mod marks;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use secrecy::SecretString;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};

pub use lists::{List, ListCaps, whole_list};
pub use log::{LogEar, LogLevel, UpstreamLog};
pub use marks::{Mark, MarkFault, marks};

/// How a server is reached.
pub enum Line {
    /// A process: what it reads and what it writes, a message a line.
    Pipes {
        /// Its standard input.
        to: Box<dyn AsyncWrite + Send + Unpin>,
        /// Its standard output.
        from: Box<dyn AsyncRead + Send + Unpin>,
    },
    /// Streamable HTTP.
    Http {
        /// Where.
        url: String,
        /// Headers of the owner's choosing. Their values are secrets.
        headers: Vec<(String, SecretString)>,
        /// What proves to the server who we are, if anything does.
        credentials: Option<Arc<dyn Credentials>>,
    },
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pipes { .. } => "Line::Pipes",
            Self::Http { .. } => "Line::Http",
        })
    }
}

/// A bearer token for an HTTP server: one that stands, or a fresh one.
#[async_trait]
pub trait Credentials: fmt::Debug + Send + Sync {
    /// The token to send now. `refused` is the one that the server has just turned away, with what
    /// it said in `WWW-Authenticate`; answering with the same one again ends the attempt.
    async fn bearer(
        &self,
        refused: Option<(&SecretString, &str)>,
    ) -> Result<Option<SecretString>, UpstreamFault>;
}

/// Which revisions to try with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UpstreamEra {
    /// The stateless ones first, then those with `initialize`.
    #[default]
    Either,
    /// Only the stateless ones.
    Modern,
    /// Only those with `initialize`.
    Legacy,
}

/// What a connection is held to.
#[derive(Debug, Clone)]
pub struct Terms {
    /// Which revisions to try.
    pub era: UpstreamEra,
    /// Until the server has greeted us.
    pub connect_deadline: Duration,
    /// The longest line, or the longest event of a stream, that is read.
    pub line_bytes: usize,
    /// The longest result that is handed on.
    pub result_bytes: usize,
    /// Questions under way at once.
    pub questions: usize,
}

/// Opens connections.
#[async_trait]
pub trait Connector: fmt::Debug + Send + Sync {
    /// Connects and greets. What the server asks of its client goes to `asked`.
    async fn connect(
        &self,
        line: Line,
        terms: Terms,
        asked: Arc<dyn AskedByServer>,
    ) -> Result<Arc<dyn Connection>, UpstreamFault>;
}

/// A connection that was greeted. Dropping it closes it.
#[async_trait]
pub trait Connection: fmt::Debug + Send + Sync {
    /// What the server said of itself.
    fn greeting(&self) -> &Greeting;

    /// Asks, and waits for the result. Dropping the future tells the server that nobody waits any
    /// more.
    async fn ask(&self, question: UpstreamQuestion) -> Result<Box<RawValue>, UpstreamFault>;

    /// Rises when the server says that a list of its has changed.
    fn lists_changed(&self) -> watch::Receiver<u64>;

    /// How many messages answered nothing that was asked, or were none: wrong, foreign, doubled and
    /// late ids, requests that this revision does not know, garbage.
    fn passed_over(&self) -> u64 {
        0
    }

    /// Why it ended, once it has.
    fn ended(&self) -> Option<UpstreamFault>;

    /// Says goodbye.
    async fn close(&self);
}

/// What a server said of itself when it was greeted.
#[derive(Debug, Clone, PartialEq)]
pub struct Greeting {
    /// Whether it speaks the stateless revisions.
    pub modern: bool,
    /// The revision in use.
    pub revision: String,
    /// Its name and version, as it says them.
    pub server_info: Value,
    /// What it can do, as it says it.
    pub capabilities: Map<String, Value>,
    /// What it would tell a model.
    pub instructions: Option<String>,
}

/// A question.
#[derive(Debug)]
pub struct UpstreamQuestion {
    /// The method.
    pub method: String,
    /// Its parameters, without what the envelope adds.
    pub params: Map<String, Value>,
    /// The name that goes into `Mcp-Name`, where the method has one.
    pub name: Option<String>,
    /// The schema of the tool that is called: its arguments marked `x-mcp-header` go into headers.
    pub input_schema: Option<Arc<Value>>,
    /// How long it may take.
    pub deadline: Duration,
    /// Where what it says on the way goes. Full means dropped.
    pub progress: Option<mpsc::Sender<UpstreamProgress>>,
    /// Who answers what the server asks in the middle of it, and what is declared with it. Without one
    /// nothing is declared, and whatever it asks goes to whom the connection was opened with.
    pub asked: Option<Arc<dyn AskedByServer>>,
    /// Who hears what the server says to the log in the middle of it.
    pub logs: Option<LogEar>,
}

/// What a server says while it is at work.
#[derive(Debug, Clone, PartialEq)]
pub struct UpstreamProgress {
    /// How far it is.
    pub progress: f64,
    /// How far it goes.
    pub total: Option<f64>,
    /// In words.
    pub message: Option<String>,
}

/// What a server asks of its client: to be answered, or refused.
#[async_trait]
pub trait AskedByServer: fmt::Debug + Send + Sync {
    /// Which of `sampling`, `elicitation` and `roots` are declared to the server.
    fn declared(&self) -> Map<String, Value> {
        Map::new()
    }

    /// The server says that a resource has changed.
    fn updated(&self, _uri: &str) {}

    /// A request; an error is a code and a message for the server.
    async fn asked(&self, method: &str, params: Value) -> Result<Value, (i64, String)>;
}

/// Refuses whatever a server asks.
#[derive(Debug, Clone, Copy, Default)]
pub struct RefusesAll;

#[async_trait]
impl AskedByServer for RefusesAll {
    async fn asked(&self, method: &str, _params: Value) -> Result<Value, (i64, String)> {
        Err((-32601, format!("{method} is not offered here")))
    }
}

/// A server did not do what was asked. What is said holds no secret of ours, and what the server
/// said only in [`UpstreamFault::Refused`].
#[derive(Debug, Clone, thiserror::Error)]
pub enum UpstreamFault {
    /// It went away, or never came.
    #[error("the server ended the connection: {0}")]
    Ended(String),
    /// It cannot be reached.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// It took too long.
    #[error("the server did not answer in {0:?}")]
    Late(Duration),
    /// It said more than is read.
    #[error("the server's answer has {} bytes, and at most {most} are taken", size.map_or_else(|| format!("more than {most}"), |size| size.to_string()))]
    TooLarge {
        /// How much, as far as it is known.
        size: Option<u64>,
        /// The most.
        most: usize,
    },
    /// It does not speak the protocol.
    #[error("the server does not speak MCP as it should: {0}")]
    Garbled(String),
    /// It wants to know who we are.
    #[error("the server wants a credential that it accepts")]
    Unauthorized {
        /// What it said in `WWW-Authenticate`.
        challenge: Option<String>,
    },
    /// It answered with an error.
    #[error("the server answered with error {code}")]
    Refused {
        /// Its code.
        code: i64,
        /// Its words, unscanned.
        message: String,
        /// What it added, unscanned.
        data: Option<Box<Value>>,
    },
    /// More questions are under way than the connection takes.
    #[error("too many questions are waiting for the server")]
    Busy,
}
