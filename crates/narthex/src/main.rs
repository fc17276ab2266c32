//! `narthex`: read the command line, find the house, carry out the command, say how it ended.

use clap::Parser;
use narthex::cli::Cli;
use narthex::{Exit, commands, logs};

fn main() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return commands::usage(&error),
    };
    cli.globals.color.settle();
    let output = cli.globals.output;
    let ended = commands::prepare(cli).and_then(|ready| {
        logs::start(&ready);
        ready.run()
    });
    ended.unwrap_or_else(|failure| {
        failure.print(output);
        failure.exit
    })
}
