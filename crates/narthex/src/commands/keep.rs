//! `narthex keep`: our own binary, between us and a process of somebody else's.

use std::process::ExitCode;

use crate::cli::{Cli, Command};
use crate::{Exit, Failure};

/// Keeps, if that is what was asked for. Before anything else: a keeper has one thread, no
/// settings, no log and no house.
pub fn instead(cli: &Cli) -> Option<ExitCode> {
    match &cli.command {
        Command::Keep(args) => Some(narthex_walls::keep(args.order.iter().cloned())),
        _ => None,
    }
}

/// With a runtime there are threads, which the keeper must not have.
pub(super) fn too_late() -> Failure {
    Failure::new(Exit::Failed, "a process is kept before anything else is started, or not at all")
}
