//! `narthex approvals deny`.

use narthex_server::owner::{Answer, ApprovalRequest, Reply, Request};

use super::print;
use crate::cli::ApprovalsDenyArgs;
use crate::commands::{once, unexpected};
use crate::{Context, Exit, Failure};

pub(super) async fn run(context: &Context, args: &ApprovalsDenyArgs) -> Result<Exit, Failure> {
    let detail = super::detail(context, &args.approval).await?;
    let request = Request::Approval(ApprovalRequest::Answer {
        approval: detail.info.id.to_string(),
        digest: detail.info.digest,
        answer: Answer::Deny { reason: args.reason.clone() },
    });
    let Reply::ApprovalAnswered(answered) = once(context, request).await? else {
        return Err(unexpected());
    };
    print(context, &answered)
}
