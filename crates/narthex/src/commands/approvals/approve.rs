//! `narthex approvals approve`.

use narthex_core::ApprovalStatus;
use narthex_server::owner::{Answer, ApprovalDetail, ApprovalRequest, Nonce, Reply, Request};

use super::{print, show};
use crate::cli::ApprovalsApproveArgs;
use crate::commands::confirm::{confirmed, is_interactive, typed};
use crate::commands::{once, unexpected};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &ApprovalsApproveArgs) -> Result<Exit, Failure> {
    let detail = super::detail(context, &args.approval).await?;
    if detail.info.status != ApprovalStatus::Waiting {
        let message = format!("the request is {} already", detail.info.status);
        return Err(Failure::new(Exit::Conflict, message)
            .hint(format!("narthex approvals show {}", detail.info.id)));
    }
    let nonce = agreed(args, &detail)?;
    let request = Request::Approval(ApprovalRequest::Answer {
        approval: detail.info.id.to_string(),
        digest: detail.info.digest,
        answer: Answer::Approve { nonce },
    });
    let Reply::ApprovalAnswered(answered) = once(context, request).await? else {
        return Err(unexpected());
    };
    print(context, &answered)
}

/// The person's word: a yes, or the nonce for what cannot be undone.
fn agreed(args: &ApprovalsApproveArgs, detail: &ApprovalDetail) -> Result<Option<Nonce>, Failure> {
    if is_interactive() && !args.yes && args.nonce.is_none() {
        output::note(format!("{}\n", show::about(detail)));
    }
    if !detail.info.needs_nonce {
        confirmed("Let exactly this call run, once?", args.yes)?;
        return Ok(None);
    }
    let said = match &args.nonce {
        Some(nonce) => Some(nonce.clone()),
        None => typed("It cannot be undone. Type the nonce to let it run, once: ")?,
    };
    Ok(said.filter(|said| !said.trim().is_empty()).map(|said| Nonce::typed(&said)))
}
