//! `narthex doctor`.

use crate::cli::Globals;
use crate::{Context, Exit, Failure};

/// Looks for what is wrong.
pub async fn run(_context: &Context, _globals: &Globals) -> Result<Exit, Failure> {
    Err(Failure::new(Exit::Unavailable, "not part of this build"))
}
