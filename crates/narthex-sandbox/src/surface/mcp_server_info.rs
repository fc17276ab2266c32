//! `mcp_server_info`: one of the servers this agent was given.

use narthex_core::{Subject, Taint};
use narthex_gate::{CallContext, ToolError, ToolOutput, write_answer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list_mcp_servers::Listed;
use super::servers::ServerShelf;
use super::{Declared, Does};

pub(super) const DECLARED: Declared = Declared {
    name: "mcp_server_info",
    title: "About a server",
    description: "One MCP server the owner has given this agent, with the names of the tools that were \
                  approved. module_info has their types.",
    does: Does::Look,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Its name.
    #[schemars(length(min = 1, max = 100))]
    server: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// How it stands.
    server: Listed,
    /// The names of its approved tools.
    tools: Vec<String>,
}

pub(super) async fn run(
    servers: &dyn ServerShelf,
    context: &CallContext,
    input: Input,
) -> Result<ToolOutput, ToolError> {
    let all = servers.servers(context).await?;
    let line = all.iter().find(|line| line.name == input.server);
    let line = line.ok_or_else(ToolError::not_found)?;
    let output = Output { server: Listed::of(line), tools: line.tools.clone() };
    let subject = Subject::one("server", &line.name);
    Ok(ToolOutput::new(write_answer(&output)?).about(Taint::CLEAN, subject))
}
