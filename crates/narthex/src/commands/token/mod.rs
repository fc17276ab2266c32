//! `narthex token`.

mod create;
mod list;
mod revoke;

use crate::cli::TokenCommand;
use crate::{Context, Exit, Failure};

/// Carries out `narthex token …`.
pub async fn run(context: &Context, command: &TokenCommand) -> Result<Exit, Failure> {
    match command {
        TokenCommand::Create(args) => create::run(context, args).await,
        TokenCommand::List(args) => list::run(context, args).await,
        TokenCommand::Revoke(args) => revoke::run(context, args).await,
    }
}
