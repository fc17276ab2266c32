//! `narthex inbox list`.

use narthex_core::{EntityType, ProposalStatus};
use narthex_server::owner::{ProposalInfo, Reply, Request};

use super::{status, subject};
use crate::ask::Asking;
use crate::cli::InboxListArgs;
use crate::commands::{approvals, taint, unexpected};
use crate::output::clean;
use crate::output::table::{self, Column, Said};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &InboxListArgs) -> Result<Exit, Failure> {
    let statuses = if args.all { ProposalStatus::ALL.to_vec() } else { args.statuses.clone() };
    let request = Request::InboxList { space: args.space.clone(), statuses, limit: args.limit };
    let mut asking = Asking::open(context).await?;
    let asked = both(&mut asking, request).await;
    asking.close().await?;
    let (list, waiting) = asked?;
    if context.is_json() {
        output::json(&list)?;
        return Ok(Exit::Done);
    }
    if list.is_empty() {
        output::text("Nothing here.")?;
    } else {
        output::text(table::rows(&COLUMNS, list.iter().map(row)))?;
    }
    if waiting > 0 {
        let calls = if waiting == 1 { "call waits" } else { "calls wait" };
        output::note(format!("\n{waiting} {calls} for your approval: narthex approvals list"));
    }
    Ok(Exit::Done)
}

/// The proposals, and how many calls wait for an approval.
async fn both(
    asking: &mut Asking,
    request: Request,
) -> Result<(Vec<ProposalInfo>, usize), Failure> {
    let Reply::Proposals(list) = asking.ask(request).await? else { return Err(unexpected()) };
    Ok((list, approvals::waiting(asking).await?))
}

fn row(info: &ProposalInfo) -> [Said; 6] {
    [
        info.id.to_string().into(),
        info.agent.to_string().into(),
        status(info.status),
        info.action.to_string().into(),
        taint::said(info.taint),
        // Space and page together, as the last column that gives way. A graph goes by its own name.
        clean::short(&about(info), 120).into(),
    ]
}

fn about(info: &ProposalInfo) -> String {
    match info.entity_type {
        EntityType::Graph => subject(info),
        EntityType::Server => format!("server {}", subject(info)),
        _ => format!("{}: {}", info.space, subject(info)),
    }
}

const COLUMNS: [Column; 6] = [
    Column::Whole("ID"),
    Column::Flows("AGENT"),
    Column::Whole("STATUS"),
    Column::Whole("ACTION"),
    Column::Flows("TAKEN IN"),
    Column::Flows("ABOUT"),
];
