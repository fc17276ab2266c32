//! `narthex graph branch`.

mod create;
mod delete;
mod list;
mod protect;

use crate::cli::GraphBranchCommand;
use crate::{Context, Exit, Failure};

/// Carries out `narthex graph branch …`.
pub(super) async fn run(context: &Context, command: &GraphBranchCommand) -> Result<Exit, Failure> {
    match command {
        GraphBranchCommand::List(args) => list::run(context, args).await,
        GraphBranchCommand::Create(args) => create::run(context, args).await,
        GraphBranchCommand::Delete(args) => delete::run(context, args).await,
        GraphBranchCommand::Protect(args) => protect::run(context, args, true).await,
        GraphBranchCommand::Unprotect(args) => protect::run(context, args, false).await,
    }
}
