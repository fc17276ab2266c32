//! `narthex page history`.

use narthex_core::{Author, PageRevision};
use narthex_server::owner::{Reply, Request};

use crate::cli::PageNameArgs;
use crate::commands::{once, unexpected};
use crate::output::clean;
use crate::output::table::{self, Column};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &PageNameArgs) -> Result<Exit, Failure> {
    let request = Request::PageHistory { space: args.space.clone(), page: args.page.clone() };
    let Reply::Revisions(list) = once(context, request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&list)?;
    } else {
        output::text(table::rows(&COLUMNS, list.iter().map(row)))?;
    }
    Ok(Exit::Done)
}

fn row(revision: &PageRevision) -> [String; 4] {
    let by = match revision.provenance.author {
        Author::Owner => "owner".to_owned(),
        Author::Agent(id) => id.to_string(),
    };
    let title = revision.draft.as_ref().map(|draft| clean::short(draft.title.as_str(), 60));
    [
        revision.revision.to_string(),
        table::moment(revision.at),
        by,
        title.unwrap_or_else(|| "(deleted)".to_owned()),
    ]
}

const COLUMNS: [Column; 4] =
    [Column::Whole("REV"), Column::Whole("AT"), Column::Whole("BY"), Column::Flows("TITLE")];
