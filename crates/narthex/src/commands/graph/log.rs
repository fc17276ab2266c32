//! `narthex graph log`.

use narthex_server::owner::{CommitShown, GraphReply, GraphRequest};

use super::{ask, short};
use crate::cli::GraphLogArgs;
use crate::commands::unexpected;
use crate::output::table::{self, Column, Said, fair};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &GraphLogArgs) -> Result<Exit, Failure> {
    let request = GraphRequest::Log {
        graph: args.graph.clone(),
        branch: args.branch.clone(),
        before: args.before.clone(),
        limit: args.limit,
    };
    let GraphReply::Commits(commits) = ask(context, request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&commits)?;
    } else if commits.is_empty() {
        output::text("No commits before that one.")?;
    } else {
        output::text(table::rows(&COLUMNS, commits.iter().map(row)))?;
    }
    Ok(Exit::Done)
}

fn row(commit: &CommitShown) -> [Said; 6] {
    let by = if commit.by == "owner" { commit.by.as_str().into() } else { fair(&*commit.by) };
    [
        short(commit.id).into(),
        table::moment(commit.at).into(),
        commit.kind.as_str().into(),
        by,
        commit.rows.to_string().into(),
        commit.message.as_str().into(),
    ]
}

const COLUMNS: [Column; 6] = [
    Column::Whole("COMMIT"),
    Column::Whole("WHEN"),
    Column::Whole("KIND"),
    Column::Flows("BY"),
    Column::Whole("ROWS"),
    Column::Flows("MESSAGE"),
];
