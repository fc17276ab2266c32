//! `narthex inbox list`.

use narthex_core::ProposalStatus;
use narthex_server::owner::{ProposalInfo, Reply, Request};

use super::{status, subject};
use crate::cli::InboxListArgs;
use crate::commands::{once, unexpected};
use crate::output::clean;
use crate::output::table::{self, Column, Said};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &InboxListArgs) -> Result<Exit, Failure> {
    let statuses = if args.all { ProposalStatus::ALL.to_vec() } else { args.statuses.clone() };
    let request = Request::InboxList { space: args.space.clone(), statuses, limit: args.limit };
    let Reply::Proposals(list) = once(context, request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&list)?;
        return Ok(Exit::Done);
    }
    if list.is_empty() {
        output::text("Nothing here.")?;
        return Ok(Exit::Done);
    }
    output::text(table::rows(&COLUMNS, list.iter().map(row)))?;
    Ok(Exit::Done)
}

fn row(info: &ProposalInfo) -> [Said; 5] {
    [
        info.id.to_string().into(),
        info.agent.to_string().into(),
        status(info.status),
        info.action.to_string().into(),
        // Space and page together, as the last column that gives way.
        clean::short(&format!("{}: {}", info.space, subject(info)), 120).into(),
    ]
}

const COLUMNS: [Column; 5] = [
    Column::Whole("ID"),
    Column::Flows("AGENT"),
    Column::Whole("STATUS"),
    Column::Whole("ACTION"),
    Column::Flows("PAGE"),
];
