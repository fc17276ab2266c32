//! `narthex approvals list`.

use narthex_server::owner::{ApprovalInfo, ApprovalRequest, Reply, Request};

use super::status;
use crate::cli::ApprovalsListArgs;
use crate::commands::{once, unexpected};
use crate::output::clean;
use crate::output::table::{self, Column, Said, bad};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &ApprovalsListArgs) -> Result<Exit, Failure> {
    let Reply::Approvals(list) = once(context, request(args)).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&list)?;
    } else {
        output::text(drawn(&list))?;
    }
    Ok(Exit::Done)
}

pub(super) fn request(args: &ApprovalsListArgs) -> Request {
    let agent = args.agent.clone();
    Request::Approval(ApprovalRequest::List { agent, all: args.all, limit: args.limit })
}

/// The list as a table.
pub(super) fn drawn(list: &[ApprovalInfo]) -> String {
    if list.is_empty() {
        return "Nothing waits for your approval.".to_owned();
    }
    table::rows(&COLUMNS, list.iter().map(row))
}

fn row(info: &ApprovalInfo) -> [Said; 7] {
    let tier = info.tier.to_string();
    let target = info.target.as_ref().map(|target| format!(" → {target}")).unwrap_or_default();
    [
        info.id.to_string().into(),
        info.agent.to_string().into(),
        status(info.status),
        if info.needs_nonce { bad(tier) } else { tier.into() },
        table::moment(info.until).into(),
        crate::commands::taint::said(info.taint),
        clean::short(&format!("{} on {}{target}", info.tool, info.surface), 120).into(),
    ]
}

const COLUMNS: [Column; 7] = [
    Column::Whole("ID"),
    Column::Flows("AGENT"),
    Column::Whole("STATUS"),
    Column::Whole("TIER"),
    Column::Whole("UNTIL"),
    Column::Flows("TAKEN IN"),
    Column::Flows("CALL"),
];
