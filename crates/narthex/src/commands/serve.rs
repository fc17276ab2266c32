//! `narthex serve`.

use crate::cli::ServeArgs;
use crate::{Context, Exit, Failure};

/// Carries out `narthex serve`.
pub async fn run(_context: &Context, _args: &ServeArgs) -> Result<Exit, Failure> {
    Err(Failure::new(Exit::Unavailable, "not part of this build"))
}
