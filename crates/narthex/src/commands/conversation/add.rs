//! `narthex conversation add`.

use narthex_server::owner::{Reply, Request};

use super::facts;
use crate::cli::ConversationAddArgs;
use crate::commands::{once, text_input, unexpected};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &ConversationAddArgs) -> Result<Exit, Failure> {
    let body = text_input::required(&args.text)?;
    let request = Request::ConversationAdd { title: args.title.clone(), body };
    let Reply::Conversation(kept) = once(context, request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&kept)?;
    } else {
        output::text(facts(&kept))?;
    }
    Ok(Exit::Done)
}
