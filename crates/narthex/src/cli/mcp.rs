//! `mcp on|off|list|info|approve|revoke|enable|disable|diff|test|call|logs|import|login|logout|
//! profiles`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use narthex_core::DefinitionName;

/// Other people's MCP servers.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Examples:
  narthex mcp on
  narthex mcp import claude-code
  narthex mcp approve github
  narthex mcp profiles set claude work")]
pub enum McpCommand {
    /// Turn other people's servers on
    #[command(after_help = "\
Examples:
  narthex mcp on")]
    On,
    /// Turn all of them off, at once: every connection ends
    #[command(after_help = "\
Examples:
  narthex mcp off")]
    Off,
    /// List the servers in the file, and how each is
    #[command(after_help = "\
Examples:
  narthex mcp list
  narthex mcp list --output json")]
    List,
    /// Show one server: what would be started, what was approved
    #[command(after_help = "\
Examples:
  narthex mcp info github")]
    Info(McpNameArgs),
    Approve(McpApproveArgs),
    Revoke(McpRevokeArgs),
    /// Let a server be used again; one that failed too often is tried anew
    #[command(after_help = "\
Examples:
  narthex mcp enable github")]
    Enable(McpNameArgs),
    /// Switch a server off, at once; what was approved stays so
    #[command(after_help = "\
Examples:
  narthex mcp disable github")]
    Disable(McpNameArgs),
    Diff(McpDiffArgs),
    Test(McpTestArgs),
    Call(McpCallArgs),
    /// Show what a server's processes said on standard error
    #[command(after_help = "\
Examples:
  narthex mcp logs github")]
    Logs(McpNameArgs),
    Import(McpImportArgs),
    Login(McpLoginArgs),
    /// Sign out of a server: what was kept of the sign-in is gone, at once
    #[command(after_help = "\
Examples:
  narthex mcp logout github")]
    Logout(McpNameArgs),
    /// Profiles: named sets of servers, and who has them
    #[command(subcommand)]
    Profiles(McpProfilesCommand),
}

/// Names a server.
#[derive(Debug, Clone, Args)]
pub struct McpNameArgs {
    /// Its name in the file
    pub server: String,
}

/// Approve a server's start, then what it offers
///
/// Two steps: what would be started is shown, and nothing is started before you say yes; then it is
/// started, what it offers is looked at, and nothing of that is shown to an agent before you say yes
/// again. What looks like an attack is approved only by name (--only). Whatever changes later is off
/// until you approve it again.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex mcp approve github
  narthex mcp approve github --yes
  narthex mcp approve github --start-only
  narthex mcp approve github --only tool:create_issue")]
pub struct McpApproveArgs {
    /// Its name in the file
    pub server: String,

    /// Approve the start and nothing that it offers
    #[arg(long, conflicts_with = "only")]
    pub start_only: bool,

    /// Approve this definition alone, even if it is in quarantine; may be given several times
    #[arg(long, value_name = "DEFINITION")]
    pub only: Vec<DefinitionName>,

    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

/// Take approvals back, at once
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex mcp revoke github
  narthex mcp revoke github --only tool:create_issue")]
pub struct McpRevokeArgs {
    /// Its name in the file
    pub server: String,

    /// Only of this definition; may be given several times
    #[arg(long, value_name = "DEFINITION")]
    pub only: Vec<DefinitionName>,
}

/// Show what is different from what was approved
///
/// Both what would be started, and, by connecting, what it offers.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex mcp diff github
  narthex mcp diff github --start")]
pub struct McpDiffArgs {
    /// Its name in the file
    pub server: String,

    /// Only what would be started; nothing is
    #[arg(long)]
    pub start: bool,
}

/// Connect to a server, and show what an agent would see
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex mcp test github
  narthex mcp test github --agent claude")]
pub struct McpTestArgs {
    /// Its name in the file
    pub server: String,

    /// As this agent would see it, under its profiles
    #[arg(long)]
    pub agent: Option<String>,
}

/// Call one approved tool by hand
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex mcp call files list_directory '{\"path\":\"/srv/notes\"}'
  narthex mcp call time now")]
pub struct McpCallArgs {
    /// The server's name in the file
    pub server: String,

    /// The tool
    pub tool: String,

    /// Its arguments, as a JSON object
    #[arg(default_value = "{}")]
    pub arguments: String,
}

/// Take servers over from another client
///
/// Shows what it would take and asks. Secrets are not taken: each becomes a variable, and you are
/// told what to export. Nothing is started or approved by it.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex mcp import claude-code
  narthex mcp import cursor --dry-run
  narthex mcp import ./mcp.json --yes")]
pub struct McpImportArgs {
    /// claude-code, claude-desktop, cursor, vscode, or a file
    pub from: String,

    /// Only show what would be taken
    #[arg(long)]
    pub dry_run: bool,

    /// The project whose own file is looked at too [default: where you are]
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,

    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

/// Sign in to a server that wants OAuth (grant authorization_code)
///
/// Prints where to go and waits for your browser to come back to this machine; nothing is opened by
/// itself. The server's start must be approved. What it is given is kept sealed in the data directory,
/// is renewed by itself, and is shown to nobody but who gave it.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex mcp login github
  narthex mcp login github --wait 60")]
pub struct McpLoginArgs {
    /// Its name in the file
    pub server: String,

    /// How many seconds to wait for the browser
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub wait: u64,
}

/// Profiles: named sets of servers, and who has them.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Examples:
  narthex mcp profiles list
  narthex mcp profiles set claude work")]
pub enum McpProfilesCommand {
    /// List the profiles in the file, and who has them
    #[command(after_help = "\
Examples:
  narthex mcp profiles list")]
    List,
    Set(McpProfilesSetArgs),
}

/// Give an agent profiles, at once; none takes all servers from it
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex mcp profiles set claude work
  narthex mcp profiles set claude work home
  narthex mcp profiles set claude")]
pub struct McpProfilesSetArgs {
    /// The agent's slug or id
    pub agent: String,

    /// The profiles, united; where two speak of one server, the more careful word counts
    pub profiles: Vec<String>,
}
