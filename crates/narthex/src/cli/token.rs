//! `token create|list|revoke`.

use clap::{Args, Subcommand};

use super::parse;

/// Tokens: what an agent shows at the door.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Examples:
  narthex token create claude --label laptop --expires 30d
  narthex token list")]
pub enum TokenCommand {
    /// Make a token; it is shown this once
    Create(TokenCreateArgs),
    /// List tokens, without their secrets
    List(TokenListArgs),
    /// End a token, at once
    Revoke(TokenRevokeArgs),
}

/// Makes a token.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex token create claude
  narthex token create claude --label laptop --expires 30d
  narthex token create claude --output json")]
pub struct TokenCreateArgs {
    /// The agent it is for
    pub agent: String,

    /// What to call it
    #[arg(long)]
    pub label: Option<String>,

    /// When it ends by itself: 45s, 90m, 12h, 30d, 2w [default: never]
    #[arg(long, value_name = "TIME", value_parser = parse::seconds)]
    pub expires: Option<u64>,
}

/// Lists tokens.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex token list
  narthex token list claude")]
pub struct TokenListArgs {
    /// Only this agent's
    pub agent: Option<String>,
}

/// Ends a token.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex token revoke 0198c0de-0000-7000-8000-000000000001")]
pub struct TokenRevokeArgs {
    /// Its id, as token list shows it
    #[arg(value_name = "ID")]
    pub token: String,
}
