//! `narthex agent`.

use crate::cli::AgentCommand;
use crate::{Context, Exit, Failure};

/// Carries out `narthex agent …`.
pub async fn run(_context: &Context, _command: &AgentCommand) -> Result<Exit, Failure> {
    Err(Failure::new(Exit::Unavailable, "not part of this build"))
}
