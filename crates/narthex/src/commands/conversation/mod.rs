//! `narthex conversation`.

mod add;
mod list;
mod show;

use narthex_core::Conversation;

use crate::cli::ConversationCommand;
use crate::output::{clean, table};
use crate::{Context, Exit, Failure};

/// Carries out `narthex conversation …`.
pub async fn run(context: &Context, command: &ConversationCommand) -> Result<Exit, Failure> {
    match command {
        ConversationCommand::Add(args) => add::run(context, args).await,
        ConversationCommand::List(args) => list::run(context, args).await,
        ConversationCommand::Show(args) => show::run(context, args).await,
    }
}

fn facts(conversation: &Conversation) -> String {
    table::facts([
        ("conversation", clean::line(conversation.title.as_str())),
        ("id", conversation.id.to_string()),
        ("created", table::moment(conversation.created)),
    ])
}
