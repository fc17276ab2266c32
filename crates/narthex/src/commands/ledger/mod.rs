//! `narthex ledger`.

use crate::cli::LedgerCommand;
use crate::{Context, Exit, Failure};

/// Carries out `narthex ledger …`.
pub async fn run(_context: &Context, _command: &LedgerCommand) -> Result<Exit, Failure> {
    Err(Failure::new(Exit::Unavailable, "not part of this build"))
}
