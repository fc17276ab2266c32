//! `agent add|list|show|set|disable|enable`.

use clap::{ArgGroup, Args, Subcommand};
use narthex_core::{Tier, ToolName, ToolNameError};
use narthex_server::owner::BudgetChange;

use super::budget;

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
    /// Show one agent: its ceiling and why, what it took in, what it has left
    #[command(after_help = "\
Examples:
  narthex agent show claude")]
    Show(AgentNameArgs),
    Set(AgentSetArgs),
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

/// Change an agent's ceiling, its budget, or what a tool weighs for it, at once
///
/// A budget is what it may use up in a rolling window: calls by tier, bytes returned, time taken
/// and what an upstream says a call cost. What you do not name stays as it is; `none` takes a
/// limit away; `default` gives it the house's budget again. What was used up stays used up.
///
/// A tool's tier says what happens to a call of it: at T2 you are asked each time, at T1 you are not.
/// `--tool-tier` gives a tool of a surface another one for this agent alone. A tool that only looks
/// stays T0, one that changes something is never less than T1, and what a single call adds to its
/// tool's own tier still counts.
#[derive(Debug, Clone, Args)]
#[command(
    group = ArgGroup::new("what").required(true).multiple(true).args(["ceiling", "budget", "tool_tiers"]),
    after_help = "\
Examples:
  narthex agent set claude --ceiling T2
  narthex agent set claude --budget window=1h,t2=5,bytes=10MB
  narthex agent set claude --budget window=1d,t1=200,time=5m,cost=2.5 --yes
  narthex agent set claude --budget default
  narthex agent set claude --tool-tier workspace/propose_change=T2
  narthex agent set claude --tool-tier workspace/propose_change=default"
)]
pub struct AgentSetArgs {
    /// Its slug or id
    pub agent: String,

    /// The highest tier it may reach: T0, T1, T2 or T3
    #[arg(long, value_name = "TIER")]
    pub ceiling: Option<Tier>,

    /// What it may use up: window=1h,t0=…,t1=…,t2=…,t3=…,bytes=10MB,time=5m,cost=2.5, or default
    #[arg(long, value_parser = budget::budget)]
    pub budget: Option<BudgetChange>,

    /// A tool's tier for this agent: surface/tool=T0 … T3, or =default; may be given several times
    #[arg(long = "tool-tier", value_name = "TOOL=TIER", value_parser = tool_tier)]
    pub tool_tiers: Vec<(ToolName, Option<Tier>)>,

    /// Do not ask again when it goes upward
    #[arg(long)]
    pub yes: bool,
}

/// Reads `surface/tool=T1`, or `=default`.
fn tool_tier(text: &str) -> Result<(ToolName, Option<Tier>), String> {
    let (tool, tier) = text.split_once('=').ok_or("say surface/tool=T1, or =default")?;
    let tool = tool.parse().map_err(|error: ToolNameError| error.to_string())?;
    let tier = match tier {
        "default" => None,
        word => Some(word.parse::<Tier>().map_err(|error| error.to_string())?),
    };
    Ok((tool, tier))
}
