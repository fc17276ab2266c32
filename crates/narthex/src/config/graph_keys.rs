//! What the settings say about graphs: `[graphs.NAME]`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use narthex_graph::stored::{McpBlock, Mode, Shown};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A graph of this house, by its slug, and its stored queries. It must be there (`narthex graph
/// init`) when the server starts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GraphKeys {
    /// Its stored queries: a folder whose `.gq` files are taken, a list of such files, or a table
    /// of single ones, `name = { file = "x.gq" }`. Paths begin at this file. They are checked
    /// against the graph's schema before anything is served.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("type" = ["string", "array", "object"]))]
    pub queries: Option<QueryPaths>,
    /// How the stored queries are shown to agents.
    pub mcp: McpKeys,
}

/// Where stored queries are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "queries is a folder, a list of .gq files, or a table of name = { file = \"x.gq\" }"
)]
pub enum QueryPaths {
    /// Every `.gq` file of a folder.
    Folder(PathBuf),
    /// These files.
    Files(Vec<PathBuf>),
    /// One query each, by name.
    Named(BTreeMap<String, QueryPath>),
}

/// The file of one stored query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryPath {
    /// The file.
    pub file: PathBuf,
}

/// How stored queries are shown to agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct McpKeys {
    /// `per_query` makes each exposed query a tool, `meta` shows all of them behind
    /// `stored_query_list` and `stored_query_run`, `auto` decides by their number.
    #[schemars(with = "String", extend("enum" = ["auto", "per_query", "meta"]))]
    pub mode: Mode,
    /// From how many exposed queries on `auto` means `meta`.
    #[schemars(range(min = 1, max = 1_000))]
    pub threshold: usize,
    /// What is said about single queries, by their names.
    pub queries: BTreeMap<String, ShownKeys>,
}

/// One stored query, by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShownKeys {
    /// Whether agents may know of it. One that is not exposed is yours alone to call.
    pub expose: bool,
    /// The name of its tool, if that is not its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub tool_name: Option<String>,
}

impl Default for McpKeys {
    fn default() -> Self {
        let McpBlock { mode, threshold, .. } = McpBlock::default();
        Self { mode, threshold, queries: BTreeMap::new() }
    }
}

impl Default for ShownKeys {
    fn default() -> Self {
        let Shown { expose, tool_name } = Shown::default();
        Self { expose, tool_name }
    }
}

impl From<&McpKeys> for McpBlock {
    fn from(keys: &McpKeys) -> Self {
        let shown =
            |one: &ShownKeys| Shown { expose: one.expose, tool_name: one.tool_name.clone() };
        Self {
            mode: keys.mode,
            threshold: keys.threshold,
            queries: keys.queries.iter().map(|(name, one)| (name.clone(), shown(one))).collect(),
        }
    }
}
