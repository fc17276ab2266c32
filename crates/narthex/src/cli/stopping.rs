//! `stop` and `resume`.

use clap::Args;
use narthex_server::owner::StopScope;

/// Stop agents, at once
///
/// New calls are refused and calls under way are cancelled. It is on disk before this command
/// answers, and holds over a restart until you say `narthex resume`. If the house cannot be
/// reached, the file STOP is made in the data directory, which stops everything.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex stop
  narthex stop --agent claude --reason \"it loops\"
  narthex stop --space research
  narthex stop --list")]
pub struct StopArgs {
    /// What to stop.
    #[command(flatten)]
    pub scope: ScopeArgs,

    /// Why, for your own eyes
    #[arg(long)]
    pub reason: Option<String>,

    /// Only say what is stopped
    #[arg(long, conflicts_with_all = ["reason", "space", "agent", "server"])]
    pub list: bool,
}

/// Let agents go on that were stopped
///
/// Lifts exactly the switch that was engaged: one for everything, for a space, an agent or a
/// server. While the file STOP is in the data directory, nothing is lifted.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex resume
  narthex resume --agent claude
  narthex resume --space research")]
pub struct ResumeArgs {
    /// What to lift.
    #[command(flatten)]
    pub scope: ScopeArgs,
}

/// Everything, or less.
#[derive(Debug, Clone, Args)]
#[group(multiple = false)]
pub struct ScopeArgs {
    /// Only calls in this space
    #[arg(long, value_name = "SLUG")]
    pub space: Option<String>,

    /// Only calls of this agent
    #[arg(long, value_name = "SLUG")]
    pub agent: Option<String>,

    /// Only calls that reach this upstream server
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,
}

impl ScopeArgs {
    /// What was named; everything if nothing was.
    pub fn scope(&self) -> StopScope {
        match (&self.space, &self.agent, &self.server) {
            (Some(space), _, _) => StopScope::Space(space.clone()),
            (_, Some(agent), _) => StopScope::Agent(agent.clone()),
            (_, _, Some(server)) => StopScope::Server(server.clone()),
            (None, None, None) => StopScope::Everything,
        }
    }
}
