//! `manage_mcp`: asks the owner for a server. An agent turns nothing on.

use narthex_gate::{CallContext, Staged, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::servers::{AskedServer, ServerShelf};
use super::{Declared, Does};

pub(super) const DECLARED: Declared = Declared {
    name: "manage_mcp",
    title: "Ask for a server",
    description: "Asks the owner to let this agent use one of the servers list_mcp_servers shows as not \
                  approved or disabled. It becomes a request in the owner's inbox; nothing is started or \
                  changed by asking.",
    does: Does::Ask,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// What is asked for.
    #[expect(dead_code, reason = "there is one thing to ask for; the schema says which")]
    action: Action,
    /// Which server.
    #[schemars(length(min = 1, max = 100))]
    server: String,
    /// Why, for the owner to read.
    #[schemars(length(min = 1, max = 2000))]
    reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    Enable,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The request that the owner sees.
    pending_change_id: String,
    /// Always pending: the owner decides.
    status: &'static str,
}

pub(super) async fn run(
    servers: &dyn ServerShelf,
    context: &CallContext,
    input: Input,
) -> Result<Staged, ToolError> {
    let known = servers.servers(context).await?;
    if !known.iter().any(|line| line.name == input.server) {
        return Err(ToolError::not_found());
    }
    servers.ask_for(context, AskedServer { server: input.server, reason: input.reason }).await
}
