//! `narthex conversation`.

use crate::cli::ConversationCommand;
use crate::{Context, Exit, Failure};

/// Carries out `narthex conversation …`.
pub async fn run(_context: &Context, _command: &ConversationCommand) -> Result<Exit, Failure> {
    Err(Failure::new(Exit::Unavailable, "not part of this build"))
}
