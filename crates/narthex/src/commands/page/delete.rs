//! `narthex page delete`.

use narthex_server::owner::{Reply, Request};

use crate::cli::PageNameArgs;
use crate::commands::{once, unexpected};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &PageNameArgs) -> Result<Exit, Failure> {
    let request = Request::PageDelete { space: args.space.clone(), page: args.page.clone() };
    let (Reply::PageGone(gone) | Reply::PageWritten(gone)) = once(context, request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&gone)?;
    } else {
        output::text(format!(
            "Page {} is gone. Its history stays: narthex page history {} --space {}",
            gone.slug, gone.id, gone.space
        ))?;
    }
    Ok(Exit::Done)
}
