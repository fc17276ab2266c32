//! `policy check|explain`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use narthex_core::{ChangeAction, EntityType};

/// Policy: who may ask for what.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Examples:
  narthex policy check
  narthex policy explain --agent claude --tool propose_change")]
pub enum PolicyCommand {
    Check(PolicyCheckArgs),
    /// Say which policy allows or denies an agent a tool
    Explain(PolicyExplainArgs),
}

/// Check your policy files against the schema
///
/// Reads every .cedar file of the folder beside the standard policy, and shows the place of the
/// first thing that is wrong.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex policy check
  narthex policy check --folder ./policies
  narthex policy check --standard > standard.cedar
  narthex policy check --schema > narthex.cedarschema")]
pub struct PolicyCheckArgs {
    /// The folder with .cedar files [default: the one narthex.toml names]
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,

    /// Print the schema that policies are checked against
    #[arg(long, conflicts_with_all = ["folder", "standard"])]
    pub schema: bool,

    /// Print the policy that every house starts with
    #[arg(long, conflicts_with = "folder")]
    pub standard: bool,
}

/// Says which policy allows or denies an agent a tool.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex policy explain --agent claude --tool search
  narthex policy explain --agent claude --tool propose_change --action delete
  narthex policy explain --agent claude --tool read --space public --output json")]
pub struct PolicyExplainArgs {
    /// Who asks
    #[arg(long, value_name = "SLUG")]
    pub agent: String,

    /// For which tool: search, read, context or propose_change
    #[arg(long)]
    pub tool: String,

    /// For propose_change: create, update or delete [default: all three]
    #[arg(long, value_parser = action)]
    pub action: Option<ChangeAction>,

    /// About which space [default: the agent's own]
    #[arg(long, value_name = "SLUG")]
    pub space: Option<String>,

    /// About which kind of thing: page or conversation [default: page]
    #[arg(long, value_name = "KIND", value_parser = entity_type)]
    pub entity_type: Option<EntityType>,
}

fn action(text: &str) -> Result<ChangeAction, String> {
    text.parse().map_err(|_| "an action is create, update or delete".to_owned())
}

fn entity_type(text: &str) -> Result<EntityType, String> {
    text.parse().map_err(|_| "an entity type is page or conversation".to_owned())
}
