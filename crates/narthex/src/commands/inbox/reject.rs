//! `narthex inbox reject`.

use narthex_server::owner::{Reply, Request};

use super::print;
use crate::cli::InboxRejectArgs;
use crate::commands::{once, unexpected};
use crate::{Context, Exit, Failure};

pub(super) async fn run(context: &Context, args: &InboxRejectArgs) -> Result<Exit, Failure> {
    let request =
        Request::InboxReject { proposal: args.proposal.clone(), reason: args.reason.clone() };
    let Reply::Decided(decided) = once(context, request).await? else {
        return Err(unexpected());
    };
    print(context, &decided)
}
