//! `narthex space add`.

use narthex_server::owner::{Reply, Request};

use super::facts;
use crate::cli::SpaceAddArgs;
use crate::commands::{once, unexpected};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &SpaceAddArgs) -> Result<Exit, Failure> {
    let request = Request::SpaceAdd { slug: args.slug.clone(), name: args.name.clone() };
    let Reply::Space(space) = once(context, request).await? else { return Err(unexpected()) };
    if context.is_json() {
        output::json(&space)?;
    } else {
        output::text(facts(&space))?;
    }
    Ok(Exit::Done)
}
