//! `agent add|list|show|disable|enable`.

use clap::{Args, Subcommand};
use narthex_core::Tier;

/// Agents: registered outsiders.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Examples:
  narthex agent add claude --space research
  narthex agent list")]
pub enum AgentCommand {
    Add(AgentAddArgs),
    /// List all agents
    #[command(after_help = "\
Examples:
  narthex agent list
  narthex agent list --output json")]
    List,
    /// Show one agent
    #[command(after_help = "\
Examples:
  narthex agent show claude")]
    Show(AgentNameArgs),
    /// Switch an agent off, at once
    #[command(after_help = "\
Examples:
  narthex agent disable claude")]
    Disable(AgentNameArgs),
    /// Switch an agent on again
    #[command(after_help = "\
Examples:
  narthex agent enable claude")]
    Enable(AgentNameArgs),
}

/// Register an agent
///
/// It may read and suggest within its one space, up to tier T1, unless more or less is said.
/// Nothing that can be given means apply: what an agent suggests waits in your inbox.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex agent add claude --space research
  narthex agent add reader --space research --can read
  narthex agent add editor --space research --can read --can suggest:update:page --ceiling T1")]
pub struct AgentAddArgs {
    /// Its slug: a-z, 0-9 and '-'
    pub slug: String,

    /// The one space it is bound to; without one it is refused everywhere
    #[arg(long, value_name = "SLUG")]
    pub space: Option<String>,

    /// What to call it [default: the slug]
    #[arg(long)]
    pub name: Option<String>,

    /// The model behind it, for your own eyes
    #[arg(long)]
    pub model: Option<String>,

    /// What it may do: read, suggest, or narrower (suggest:update:page); may be given several
    /// times [default: read and suggest]
    #[arg(long = "can", value_name = "GRANT")]
    pub grants: Vec<String>,

    /// The highest tier it may reach: T0, T1, T2 or T3 [default: T1]
    #[arg(long, value_name = "TIER")]
    pub ceiling: Option<Tier>,
}

/// Names an agent.
#[derive(Debug, Clone, Args)]
pub struct AgentNameArgs {
    /// Its slug or id
    pub agent: String,
}
