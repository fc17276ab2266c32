//! `narthex agent add`.

use narthex_server::owner::{Reply, Request};

use super::print;
use crate::cli::AgentAddArgs;
use crate::commands::{once, unexpected};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &AgentAddArgs) -> Result<Exit, Failure> {
    let request = Request::AgentAdd {
        slug: args.slug.clone(),
        name: args.name.clone(),
        space: args.space.clone(),
        model: args.model.clone(),
        grants: (!args.grants.is_empty()).then(|| args.grants.clone()),
        ceiling: args.ceiling,
    };
    let Reply::Agent(agent) = once(context, request).await? else { return Err(unexpected()) };
    print(context, &agent)?;
    if !context.is_json() {
        output::note(format!("\nGive it a token: narthex token create {}", agent.slug));
    }
    Ok(Exit::Done)
}
