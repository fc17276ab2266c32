//! `narthex page add`.

use narthex_server::owner::{Reply, Request};

use super::print;
use crate::cli::PageAddArgs;
use crate::commands::{once, text_input, unexpected};
use crate::{Context, Exit, Failure};

pub(super) async fn run(context: &Context, args: &PageAddArgs) -> Result<Exit, Failure> {
    let request = Request::PageAdd {
        space: args.space.clone(),
        slug: args.slug.clone(),
        title: args.title.clone(),
        body: text_input::required(&args.text)?,
        tags: args.tags.clone(),
    };
    let Reply::PageWritten(written) = once(context, request).await? else {
        return Err(unexpected());
    };
    print(context, &written)
}
