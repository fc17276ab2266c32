//! `narthex keep` and `narthex sandbox`: our own binary, between us and a process of somebody else's, or
//! around a program.

use std::process::ExitCode;

use crate::cli::{Cli, Command};
use crate::{Exit, Failure};

/// Keeps or works, if that is what was asked for. Before anything else: both have one thread, no
/// settings, no log and no house.
pub fn instead(cli: &Cli) -> Option<ExitCode> {
    match &cli.command {
        Command::Keep(args) => Some(narthex_walls::keep(args.order.iter().cloned())),
        Command::Sandbox(args) => Some(
            narthex_sandbox::WorkerOrder::of(&args.order)
                .map_or(ExitCode::FAILURE, narthex_sandbox::work),
        ),
        _ => None,
    }
}

/// With a runtime there are threads, which neither must have.
pub(super) fn too_late() -> Failure {
    Failure::new(Exit::Failed, "a process is kept before anything else is started, or not at all")
}
