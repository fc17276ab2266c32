//! `narthex`: read the command line, find the house, carry out the command, say how it ended.

use std::process::{ExitCode, Termination as _};

use clap::Parser;
use narthex::cli::Cli;
use narthex::{commands, logs};

fn main() -> ExitCode {
    if let Some(kept) = commands::keep::instead(std::env::args_os()) {
        return kept;
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return commands::usage(&error).report(),
    };
    cli.globals.color.settle();
    let output = cli.globals.output;
    let ended = commands::prepare(cli).and_then(|ready| {
        logs::start(&ready);
        ready.run()
    });
    let exit = ended.unwrap_or_else(|failure| {
        failure.print(output);
        failure.exit
    });
    exit.report()
}
