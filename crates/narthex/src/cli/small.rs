//! `status`, `doctor`, `completions` and the hidden `reference` and `keep`.

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

pub(super) const STATUS_EXAMPLES: &str = "\
Examples:
  narthex status
  narthex status --output json";

pub(super) const DOCTOR_EXAMPLES: &str = "\
Examples:
  narthex doctor
  narthex doctor --data-dir ./house --output json";
