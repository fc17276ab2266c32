//! `narthex page`.

use crate::cli::PageCommand;
use crate::{Context, Exit, Failure};

/// Carries out `narthex page …`.
pub async fn run(_context: &Context, _command: &PageCommand) -> Result<Exit, Failure> {
    Err(Failure::new(Exit::Unavailable, "not part of this build"))
}
