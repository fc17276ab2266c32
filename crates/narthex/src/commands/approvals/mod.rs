//! `narthex approvals`.

mod approve;
mod deny;
mod list;
mod show;
mod watch;

pub(super) use self::watch::line;

use narthex_core::ApprovalStatus;
use narthex_server::owner::{ApprovalAnswered, ApprovalDetail, ApprovalRequest, Reply, Request};

use super::{once, unexpected};
use crate::cli::ApprovalsCommand;
use crate::output::table::{self, Said, bad, fair, good};
use crate::{Context, Exit, Failure, output};

/// Carries out `narthex approvals …`.
pub async fn run(context: &Context, command: &ApprovalsCommand) -> Result<Exit, Failure> {
    match command {
        ApprovalsCommand::List(args) if args.watch => watch::run(context, args).await,
        ApprovalsCommand::List(args) => list::run(context, args).await,
        ApprovalsCommand::Show(args) => show::run(context, args).await,
        ApprovalsCommand::Approve(args) => approve::run(context, args).await,
        ApprovalsCommand::Deny(args) => deny::run(context, args).await,
    }
}

/// How many calls wait.
pub(super) async fn waiting(asking: &mut crate::ask::Asking) -> Result<usize, Failure> {
    let list = ApprovalRequest::List { agent: None, all: false, limit: u32::MAX };
    match asking.ask(Request::Approval(list)).await? {
        Reply::Approvals(list) => Ok(list.len()),
        _ => Err(unexpected()),
    }
}

/// One request with everything that belongs to it.
async fn detail(context: &Context, id: &str) -> Result<Box<ApprovalDetail>, Failure> {
    let show = ApprovalRequest::Show { approval: id.to_owned() };
    match once(context, Request::Approval(show)).await? {
        Reply::Approval(detail) => Ok(detail),
        _ => Err(unexpected()),
    }
}

/// Says what became of a request.
fn print(context: &Context, answered: &ApprovalAnswered) -> Result<Exit, Failure> {
    if context.is_json() {
        output::json(answered)?;
        return Ok(Exit::Done);
    }
    output::text(match answered.good_until {
        Some(until) => format!(
            "Approved: the same call runs once, if it comes before {}.",
            table::moment(until)
        ),
        None => format!("Request {} is {}.", answered.id, answered.status),
    })?;
    Ok(Exit::Done)
}

fn status(status: ApprovalStatus) -> Said {
    match status {
        ApprovalStatus::Waiting => fair("waiting"),
        ApprovalStatus::Approved => good("approved"),
        ApprovalStatus::Used => good("used"),
        ApprovalStatus::Denied => bad("denied"),
        ApprovalStatus::Void => "void".into(),
    }
}
