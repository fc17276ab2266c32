//! `narthex conversation show`.

use narthex_server::owner::{Reply, Request};

use super::facts;
use crate::cli::ConversationShowArgs;
use crate::commands::{once, unexpected};
use crate::output::clean;
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &ConversationShowArgs) -> Result<Exit, Failure> {
    let request = Request::ConversationShow { conversation: args.conversation.clone() };
    let Reply::Conversation(one) = once(context, request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&one)?;
    } else {
        output::text(format!("{}\n\n{}", facts(&one), clean::text(one.body.trim_end())))?;
    }
    Ok(Exit::Done)
}
