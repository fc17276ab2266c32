//! `narthex proxy`.

use crate::cli::ProxyArgs;
use crate::{Context, Exit, Failure};

/// Carries out `narthex proxy`.
pub async fn run(_context: &Context, _args: &ProxyArgs) -> Result<Exit, Failure> {
    Err(Failure::new(Exit::Unavailable, "not part of this build"))
}
