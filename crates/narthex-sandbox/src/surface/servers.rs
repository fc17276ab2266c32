//! Other people's servers, as an agent may know of them.

use std::fmt::Debug;

use async_trait::async_trait;
use narthex_gate::{CallContext, Staged, ToolError};

/// Where servers are looked up and asked for.
#[async_trait]
pub trait ServerShelf: Debug + Send + Sync {
    /// Those that a profile of the caller's has.
    async fn servers(&self, context: &CallContext) -> Result<Vec<ServerLine>, ToolError>;

    /// The caller asks the owner for one of those.
    async fn ask_for(&self, context: &CallContext, asked: AskedServer)
    -> Result<Staged, ToolError>;
}

/// A server, in a line.
#[derive(Debug, Clone)]
pub struct ServerLine {
    /// Its name.
    pub name: String,
    /// Whether it can be used, and if not why.
    pub stands: &'static str,
    /// idle, connecting, connected or error.
    pub state: String,
    /// What went wrong, in our own words.
    pub error: Option<String>,
    /// The tools that were approved.
    pub tools: Vec<String>,
    /// Its module, if it can be used.
    pub module: Option<String>,
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct AskedServer {
    /// Which server.
    pub server: String,
    /// Why, in the agent's words.
    pub reason: String,
}
