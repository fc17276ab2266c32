//! `narthex inbox approve`.

use narthex_server::owner::{Reply, Request};

use super::print;
use crate::cli::InboxIdArgs;
use crate::commands::{once, unexpected};
use crate::{Context, Exit, Failure};

pub(super) async fn run(context: &Context, args: &InboxIdArgs) -> Result<Exit, Failure> {
    let request = Request::InboxApprove { proposal: args.proposal.clone() };
    let asked = once(context, request).await.map_err(|failure| match failure.exit {
        Exit::Conflict if failure.hint.is_none() => {
            failure.hint(format!("narthex inbox show {}", args.proposal))
        }
        _ => failure,
    });
    let Reply::Decided(decided) = asked? else { return Err(unexpected()) };
    print(context, &decided)
}
