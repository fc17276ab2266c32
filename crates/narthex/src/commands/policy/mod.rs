//! `narthex policy`.

mod check;
mod explain;

use crate::cli::PolicyCommand;
use crate::{Context, Exit, Failure};

/// Carries out `narthex policy …`.
pub async fn run(context: &Context, command: &PolicyCommand) -> Result<Exit, Failure> {
    match command {
        PolicyCommand::Check(args) => check::run(context, args),
        PolicyCommand::Explain(args) => explain::run(context, args).await,
    }
}
