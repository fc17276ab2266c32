//! `narthex token`.

use crate::cli::TokenCommand;
use crate::{Context, Exit, Failure};

/// Carries out `narthex token …`.
pub async fn run(_context: &Context, _command: &TokenCommand) -> Result<Exit, Failure> {
    Err(Failure::new(Exit::Unavailable, "not part of this build"))
}
