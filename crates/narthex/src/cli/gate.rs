//! `mode show|set` and `taint show|clear`.

use clap::{Args, Subcommand};
use narthex_core::Mode;

/// The posture: how far calls may reach at all
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex mode
  narthex mode set readonly")]
pub struct ModeArgs {
    /// Show it if nothing is said.
    #[command(subcommand)]
    pub command: Option<ModeCommand>,
}

/// What to do with the posture.
#[derive(Debug, Clone, Subcommand)]
pub enum ModeCommand {
    /// Show the posture in force, and what the settings allow
    #[command(after_help = "\
Examples:
  narthex mode show
  narthex mode show --output json")]
    Show,
    Set(ModeSetArgs),
}

/// Change the posture, at once
///
/// Never above `mode` in narthex.toml: that is the most there can be. What you choose here holds
/// over a restart.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex mode set readonly
  narthex mode set guarded --yes")]
pub struct ModeSetArgs {
    /// readonly (T0), guarded (T0 to T2) or open (all, each behind its own gate)
    #[arg(value_name = "MODE")]
    pub mode: Mode,

    /// Do not ask again when it goes upward
    #[arg(long)]
    pub yes: bool,
}

/// What agents have taken in.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Examples:
  narthex taint show
  narthex taint clear claude")]
pub enum TaintCommand {
    /// Show what agents have taken in, and what set it
    Show(TaintShowArgs),
    Clear(TaintClearArgs),
}

/// Shows what agents have taken in.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex taint show
  narthex taint show claude --output json")]
pub struct TaintShowArgs {
    /// Only this agent
    pub agent: Option<String>,
}

/// Forget what an agent has taken in
///
/// From then on it is trusted as if it had not: do this when its conversation has ended, or you
/// have looked at what it read. Without `--private` and `--untrusted`, both are cleared.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex taint clear claude
  narthex taint clear claude --untrusted --space research")]
pub struct TaintClearArgs {
    /// Whose
    pub agent: String,

    /// That it has read your own data
    #[arg(long)]
    pub private: bool,

    /// That it has read text you did not write
    #[arg(long)]
    pub untrusted: bool,

    /// Only in this space
    #[arg(long, value_name = "SLUG")]
    pub space: Option<String>,
}
