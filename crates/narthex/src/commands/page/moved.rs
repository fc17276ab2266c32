//! `narthex page move`.

use narthex_server::owner::{Reply, Request};

use super::print;
use crate::cli::PageMoveArgs;
use crate::commands::{once, unexpected};
use crate::{Context, Exit, Failure};

pub(super) async fn run(context: &Context, args: &PageMoveArgs) -> Result<Exit, Failure> {
    let request = Request::PageMove {
        space: args.space.clone(),
        page: args.page.clone(),
        to: args.to.clone(),
    };
    match once(context, request).await? {
        Reply::PageWritten(written) | Reply::PageGone(written) => print(context, &written),
        _ => Err(unexpected()),
    }
}
