//! `narthex policy`.

use crate::cli::PolicyCommand;
use crate::{Context, Exit, Failure};

/// Carries out `narthex policy …`.
pub async fn run(_context: &Context, _command: &PolicyCommand) -> Result<Exit, Failure> {
    Err(Failure::new(Exit::Unavailable, "not part of this build"))
}
