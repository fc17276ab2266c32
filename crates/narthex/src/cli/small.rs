//! `status`, `doctor`, `completions` and the hidden `reference` and `keep`.

use std::ffi::OsString;

use clap::{Args, ValueEnum};
use clap_complete::Shell;

/// Prints completions for a shell.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex completions bash > ~/.local/share/bash-completion/completions/narthex
  narthex completions zsh > ~/.zfunc/_narthex
  narthex completions fish > ~/.config/fish/completions/narthex.fish")]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Prints a generated reference.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex reference config > docs/configuration.md
  narthex reference cli > docs/cli.md")]
pub struct ReferenceArgs {
    /// Which one
    pub what: ReferenceWhat,
}

/// The references there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReferenceWhat {
    /// Every key of narthex.toml
    Config,
    /// Every command
    Cli,
}

/// Keeps a process of somebody else's. Narthex starts itself with it; a person has no use for it.
#[derive(Debug, Clone, Args)]
#[command(disable_help_flag = true)]
pub struct KeepArgs {
    /// The order, as narthex-walls writes and reads it
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub order: Vec<OsString>,
}

pub(super) const STATUS_EXAMPLES: &str = "\
Examples:
  narthex status
  narthex status --output json";

pub(super) const DOCTOR_EXAMPLES: &str = "\
Examples:
  narthex doctor
  narthex doctor --data-dir ./house --output json";
