//! The keys of other people's servers.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Other people's MCP servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Servers {
    /// The file that names them, in the format of other clients (`mcpServers`), beside this one
    /// unless it is an absolute path; `mcp.json` in the data directory if nothing is said. Only this
    /// file can name a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub file: Option<PathBuf>,
    /// How many servers the file may name.
    #[schemars(range(min = 1, max = 200))]
    pub most: usize,
    /// How many of their processes may run at once; one that nobody uses makes room for another.
    #[schemars(range(min = 1, max = 64))]
    pub started: usize,
}

impl Default for Servers {
    fn default() -> Self {
        Self { file: None, most: narthex_servers::config::USUAL_SERVERS, started: 5 }
    }
}
