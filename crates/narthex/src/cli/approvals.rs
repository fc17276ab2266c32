//! `approvals list|show|approve|deny`.

use clap::{Args, Subcommand};

use super::parse::at_least_one;

/// Calls that wait for your go-ahead.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Examples:
  narthex approvals list
  narthex approvals show 0198c0de-0000-7000-8000-000000000001
  narthex approvals approve 0198c0de-0000-7000-8000-000000000001")]
pub enum ApprovalsCommand {
    List(ApprovalsListArgs),
    /// Show a call, exactly as it would be made
    #[command(after_help = "\
Examples:
  narthex approvals show 0198c0de-0000-7000-8000-000000000001")]
    Show(ApprovalsIdArgs),
    Approve(ApprovalsApproveArgs),
    /// Say no to a call; the agent sees the reason
    Deny(ApprovalsDenyArgs),
}

/// List calls that wait for you, newest first
///
/// With `--watch` it stays and shows new ones as they come, until Ctrl-C. Where standard output is
/// no terminal, that is one line for each new one, or one JSON object with `--output json`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex approvals list
  narthex approvals list --agent claude --all
  narthex approvals list --watch
  narthex approvals list --watch --output json")]
pub struct ApprovalsListArgs {
    /// Also those that were answered, used or are void
    #[arg(long)]
    pub all: bool,

    /// Only of this agent
    #[arg(long, value_name = "SLUG")]
    pub agent: Option<String>,

    /// At most so many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100, value_parser = at_least_one())]
    pub limit: u32,

    /// Stay, and show new ones as they come
    #[arg(long, conflicts_with = "all")]
    pub watch: bool,
}

/// Names a request for approval.
#[derive(Debug, Clone, Args)]
pub struct ApprovalsIdArgs {
    /// Its id, as approvals list shows it
    #[arg(value_name = "ID")]
    pub approval: String,
}

/// Let a call run, once
///
/// The agent makes the same call again and it runs, once, within approvals.valid_seconds. A call
/// that cannot be undone (T3) also needs the nonce that is shown to you and to nobody else: you
/// type it, here or with `--nonce`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex approvals approve 0198c0de-0000-7000-8000-000000000001
  narthex approvals approve 0198c0de-0000-7000-8000-000000000001 --yes
  narthex approvals approve 0198c0de-0000-7000-8000-000000000001 --nonce 7hq2m0xk")]
pub struct ApprovalsApproveArgs {
    /// Its id, as approvals list shows it
    #[arg(value_name = "ID")]
    pub approval: String,

    /// The nonce that approvals show says, for a call that cannot be undone
    #[arg(long)]
    pub nonce: Option<String>,

    /// Do not ask again
    #[arg(long)]
    pub yes: bool,
}

/// Says no to a call.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex approvals deny 0198c0de-0000-7000-8000-000000000001
  narthex approvals deny 0198c0de-0000-7000-8000-000000000001 --reason \"Not on a Friday.\"")]
pub struct ApprovalsDenyArgs {
    /// Its id, as approvals list shows it
    #[arg(value_name = "ID")]
    pub approval: String,

    /// Why, for the agent to read
    #[arg(long)]
    pub reason: Option<String>,
}
