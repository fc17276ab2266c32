//! `inbox list|show|approve|reject`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use narthex_core::ProposalStatus;

use super::parse::at_least_one;

/// Proposals that wait for you.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Examples:
  narthex inbox list
  narthex inbox show 0198c0de-0000-7000-8000-000000000001
  narthex inbox approve 0198c0de-0000-7000-8000-000000000001")]
pub enum InboxCommand {
    /// List proposals, newest first
    List(InboxListArgs),
    /// Show a proposal and what it would change
    #[command(after_help = "\
Examples:
  narthex inbox show 0198c0de-0000-7000-8000-000000000001")]
    Show(InboxIdArgs),
    /// Apply a proposal, exactly once
    Approve(InboxApproveArgs),
    /// Say no to a proposal; the agent sees the reason
    Reject(InboxRejectArgs),
}

/// Lists proposals.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex inbox list
  narthex inbox list --space research --status rejected
  narthex inbox list --all --output json")]
pub struct InboxListArgs {
    /// Only in this state: pending, applied, rejected or conflict; may be given several times
    /// [default: pending and conflict]
    #[arg(long = "status", value_name = "STATUS", value_parser = status)]
    pub statuses: Vec<ProposalStatus>,

    /// In every state
    #[arg(long, conflicts_with = "statuses")]
    pub all: bool,

    /// Only in this space
    #[arg(long, value_name = "SLUG")]
    pub space: Option<String>,

    /// At most so many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100, value_parser = at_least_one())]
    pub limit: u32,
}

/// Names a proposal.
#[derive(Debug, Clone, Args)]
pub struct InboxIdArgs {
    /// Its id, as inbox list shows it
    #[arg(value_name = "ID")]
    pub proposal: String,
}

/// Applies a proposal.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
A file for --resolve is a JSON array, one entry a row that cannot be merged by itself:
  [{\"row\": {\"type\": \"Person\", \"key\": \"ada\"}, \"take\": \"theirs\"}]
`take` is ours (the branch it is brought into), theirs (the agent's) or gone; or say what the row
is to be with `given`.

Examples:
  narthex inbox approve 0198c0de-0000-7000-8000-000000000001
  narthex inbox approve 0198c0de-0000-7000-8000-000000000001 --resolve rows.json")]
pub struct InboxApproveArgs {
    /// Its id, as inbox list shows it
    #[arg(value_name = "ID")]
    pub proposal: String,

    /// Of a merge: a file that says how rows are to be; '-' is standard input
    #[arg(long, value_name = "FILE")]
    pub resolve: Option<PathBuf>,
}

/// Says no to a proposal.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex inbox reject 0198c0de-0000-7000-8000-000000000001 --reason \"Cite a source.\"")]
pub struct InboxRejectArgs {
    /// Its id, as inbox list shows it
    #[arg(value_name = "ID")]
    pub proposal: String,

    /// Why, for the agent to read
    #[arg(long)]
    pub reason: String,
}

fn status(text: &str) -> Result<ProposalStatus, String> {
    text.parse().map_err(|_| "a status is pending, applied, rejected or conflict".to_owned())
}
