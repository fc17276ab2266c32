//! `space add|list|show|set`.

use clap::{Args, Subcommand};

use super::parse;

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
    /// Change how far calls in a space may reach
    Set(SpaceSetArgs),
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

/// Changes a space.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex space set research --ceiling T0
  narthex space set research --ceiling none --yes")]
pub struct SpaceSetArgs {
    /// Its slug or id
    pub space: String,

    /// The highest tier allowed in it: T0, T1, T2, T3, or none of its own
    #[arg(long, value_name = "TIER", value_parser = parse::ceiling)]
    pub ceiling: parse::SpaceCeiling,

    /// Do not ask again when it goes upward
    #[arg(long)]
    pub yes: bool,
}
