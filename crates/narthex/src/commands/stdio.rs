//! `narthex stdio`.

use crate::cli::StdioArgs;
use crate::{Context, Exit, Failure};

/// Carries out `narthex stdio`.
pub async fn run(_context: &Context, _args: &StdioArgs) -> Result<Exit, Failure> {
    Err(Failure::new(Exit::Unavailable, "not part of this build"))
}
