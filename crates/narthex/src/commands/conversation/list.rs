//! `narthex conversation list`.

use narthex_server::owner::{Reply, Request};

use crate::cli::ConversationListArgs;
use crate::commands::{once, unexpected};
use crate::output::table::{self, Column};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &ConversationListArgs) -> Result<Exit, Failure> {
    let request = Request::ConversationList { limit: args.limit };
    let Reply::Conversations(list) = once(context, request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&list)?;
        return Ok(Exit::Done);
    }
    if list.is_empty() {
        output::text("No conversations yet. Keep one: narthex conversation add --title <title>")?;
        return Ok(Exit::Done);
    }
    let rows = list
        .iter()
        .map(|one| [one.id.to_string(), table::moment(one.created), one.title.as_str().to_owned()]);
    output::text(table::rows(&COLUMNS, rows))?;
    Ok(Exit::Done)
}

const COLUMNS: [Column; 3] =
    [Column::Whole("ID"), Column::Whole("CREATED"), Column::Flows("TITLE")];
