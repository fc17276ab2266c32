//! `narthex space show`.

use narthex_server::owner::{Reply, Request};

use super::facts;
use crate::cli::SpaceNameArgs;
use crate::commands::{once, unexpected};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &SpaceNameArgs) -> Result<Exit, Failure> {
    let request = Request::SpaceShow { space: args.space.clone() };
    let Reply::Space(space) = once(context, request).await? else { return Err(unexpected()) };
    if context.is_json() {
        output::json(&space)?;
    } else {
        output::text(facts(&space))?;
    }
    Ok(Exit::Done)
}
