//! `narthex space`.

mod add;
mod list;
mod set;
mod show;

use narthex_server::owner::SpaceInfo;

use crate::cli::SpaceCommand;
use crate::output::table;
use crate::{Context, Exit, Failure};

/// Carries out `narthex space …`.
pub async fn run(context: &Context, command: &SpaceCommand) -> Result<Exit, Failure> {
    match command {
        SpaceCommand::Add(args) => add::run(context, args).await,
        SpaceCommand::List => list::run(context).await,
        SpaceCommand::Show(args) => show::run(context, args).await,
        SpaceCommand::Set(args) => set::run(context, args).await,
    }
}

/// A space, fact by fact.
fn facts(space: &SpaceInfo) -> String {
    table::facts([
        ("space", space.slug.to_string()),
        ("id", space.id.to_string()),
        ("name", space.name.as_str().to_owned()),
        ("ceiling", space.ceiling.map_or_else(table::dash, |tier| tier.to_string())),
        ("pages", space.pages.to_string()),
        ("created", table::moment(space.created)),
    ])
}
