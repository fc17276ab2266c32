//! `narthex inbox`.

use crate::cli::InboxCommand;
use crate::{Context, Exit, Failure};

/// Carries out `narthex inbox …`.
pub async fn run(_context: &Context, _command: &InboxCommand) -> Result<Exit, Failure> {
    Err(Failure::new(Exit::Unavailable, "not part of this build"))
}
