//! `narthex page`.

mod add;
mod delete;
mod edit;
mod editor;
mod export;
mod history;
mod import;
mod list;
mod moved;
mod show;

use narthex_server::owner::PageWritten;

use crate::cli::PageCommand;
use crate::output::table;
use crate::{Context, Exit, Failure, output};

/// Carries out `narthex page …`.
pub async fn run(context: &Context, command: &PageCommand) -> Result<Exit, Failure> {
    match command {
        PageCommand::Add(args) => add::run(context, args).await,
        PageCommand::Edit(args) => edit::run(context, args).await,
        PageCommand::Show(args) => show::run(context, args).await,
        PageCommand::List(args) => list::run(context, args).await,
        PageCommand::Import(args) => import::run(context, args).await,
        PageCommand::Export(args) => export::run(context, args).await,
        PageCommand::History(args) => history::run(context, args).await,
        PageCommand::Move(args) => moved::run(context, args).await,
        PageCommand::Delete(args) => delete::run(context, args).await,
    }
}

/// Says where a page stands after it was written.
fn print(context: &Context, written: &PageWritten) -> Result<Exit, Failure> {
    if context.is_json() {
        output::json(written)?;
    } else {
        output::text(table::facts([
            ("page", written.slug.clone()),
            ("id", written.id.to_string()),
            ("space", written.space.to_string()),
            ("revision", written.revision.to_string()),
        ]))?;
    }
    Ok(Exit::Done)
}
