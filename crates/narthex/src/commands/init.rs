//! `narthex init`.

use crate::cli::InitArgs;
use crate::{Context, Exit, Failure};

/// Carries out `narthex init`.
pub async fn run(_context: &Context, _args: &InitArgs) -> Result<Exit, Failure> {
    Err(Failure::new(Exit::Unavailable, "not part of this build"))
}
