//! `list_mcp_servers`: the servers this agent was given.

use narthex_core::{Subject, Taint};
use narthex_gate::{CallContext, ToolError, ToolOutput, write_answer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::servers::{ServerLine, ServerShelf};
use super::{Declared, Does};

pub(super) const DECLARED: Declared = Declared {
    name: "list_mcp_servers",
    title: "List servers",
    description: "The MCP servers the owner has given this agent: whether each can be used, in which state \
                  it is, and the module a program reaches it by. Listing starts nothing.",
    does: Does::Look,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The servers.
    servers: Vec<Listed>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Listed {
    /// Its name.
    name: String,
    /// Whether it can be used, and if not why.
    stands: &'static str,
    /// idle, connecting, connected or error.
    state: String,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    error: Option<String>,
    /// How many tools were approved.
    tools: usize,
    /// The module, if it can be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    module: Option<String>,
}

impl Listed {
    pub(super) fn of(line: &ServerLine) -> Self {
        Self {
            name: line.name.clone(),
            stands: line.stands,
            state: line.state.clone(),
            error: line.error.clone(),
            tools: line.tools.len(),
            module: line.module.clone(),
        }
    }
}

pub(super) async fn run(
    servers: &dyn ServerShelf,
    context: &CallContext,
) -> Result<ToolOutput, ToolError> {
    let servers = servers.servers(context).await?;
    let output = Output { servers: servers.iter().map(Listed::of).collect() };
    let subject = Subject { count: Some(output.servers.len() as u64), ..Subject::default() };
    Ok(ToolOutput::new(write_answer(&output)?).about(Taint::CLEAN, subject))
}
