//! `narthex ledger`.

mod export;
mod tail;
pub(super) mod verify;

use crate::cli::LedgerCommand;
use crate::{Context, Exit, Failure};

/// Carries out `narthex ledger …`.
pub async fn run(context: &Context, command: &LedgerCommand) -> Result<Exit, Failure> {
    match command {
        LedgerCommand::Tail(args) => tail::run(context, args).await,
        LedgerCommand::Verify => verify::run(context).await,
        LedgerCommand::Export(args) => export::run(context, args).await,
    }
}
