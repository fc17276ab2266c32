//! `narthex ledger`.

mod check_proof;
mod export;
mod key;

mod prove;
mod prune;
mod tail;
pub(super) mod verify;

use crate::cli::LedgerCommand;
use crate::{Context, Exit, Failure};

/// Carries out `narthex ledger …`.
pub async fn run(context: &Context, command: &LedgerCommand) -> Result<Exit, Failure> {
    match command {
        LedgerCommand::Tail(args) => tail::run(context, args).await,
        LedgerCommand::Verify(args) => verify::run(context, args).await,
        LedgerCommand::Export(args) => export::run(context, args).await,
        LedgerCommand::Prove(args) => prove::run(context, args).await,
        LedgerCommand::CheckProof(args) => check_proof::run(context, args),
        LedgerCommand::Prune(args) => prune::run(context, args).await,
        LedgerCommand::Key => key::run(context),
        LedgerCommand::Checkpoint => key::checkpoint(context).await,
    }
}
