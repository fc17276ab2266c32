//! `space add|list|show`.

use clap::{Args, Subcommand};

/// Spaces: the units of isolation.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Examples:
  narthex space add research --name \"Research notes\"
  narthex space list")]
pub enum SpaceCommand {
    /// Make a space
    Add(SpaceAddArgs),
    /// List all spaces
    #[command(after_help = "\
Examples:
  narthex space list
  narthex space list --output json")]
    List,
    /// Show one space
    #[command(after_help = "\
Examples:
  narthex space show research")]
    Show(SpaceNameArgs),
}

/// Makes a space.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex space add research
  narthex space add research --name \"Research notes\"")]
pub struct SpaceAddArgs {
    /// Its slug: a-z, 0-9 and '-'
    pub slug: String,

    /// What to call it [default: the slug]
    #[arg(long)]
    pub name: Option<String>,
}

/// Names a space.
#[derive(Debug, Clone, Args)]
pub struct SpaceNameArgs {
    /// Its slug or id
    pub space: String,
}
