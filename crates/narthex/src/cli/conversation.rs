//! `conversation add|list|show`.

use clap::{Args, Subcommand};

use super::TextArgs;
use super::parse::at_least_one;

/// Your own conversations.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Examples:
  narthex conversation add --title \"Planning\" --file planning.md
  narthex conversation list")]
pub enum ConversationCommand {
    Add(ConversationAddArgs),
    /// List conversations, newest first
    List(ConversationListArgs),
    /// Show one conversation
    Show(ConversationShowArgs),
}

/// Keep a conversation
///
/// The text comes from --body, from --file, or from standard input.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex conversation add --title \"Planning\" --file planning.md
  cat planning.md | narthex conversation add --title \"Planning\"")]
pub struct ConversationAddArgs {
    /// Its title
    #[arg(long)]
    pub title: String,

    /// Where the text comes from.
    #[command(flatten)]
    pub text: TextArgs,
}

/// Lists conversations.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex conversation list
  narthex conversation list --limit 10 --output json")]
pub struct ConversationListArgs {
    /// At most so many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100, value_parser = at_least_one())]
    pub limit: u32,
}

/// Names a conversation.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex conversation show 0198c0de-0000-7000-8000-000000000001")]
pub struct ConversationShowArgs {
    /// Its id
    #[arg(value_name = "ID")]
    pub conversation: String,
}
