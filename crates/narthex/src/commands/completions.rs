//! `narthex completions`.

use clap::CommandFactory as _;

use crate::cli::{Cli, CompletionsArgs};
use crate::{Exit, Failure, output};

/// Prints a script for the shell.
pub fn run(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "narthex", &mut script);
    output::text(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Exit::Done)
}
