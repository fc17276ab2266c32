//! `narthex agent disable` and `narthex agent enable`: one switch.

use narthex_server::owner::{Reply, Request};

use super::print;
use crate::cli::AgentNameArgs;
use crate::commands::{once, unexpected};
use crate::{Context, Exit, Failure};

pub(super) async fn run(
    context: &Context,
    args: &AgentNameArgs,
    disabled: bool,
) -> Result<Exit, Failure> {
    let request = Request::AgentDisable { agent: args.agent.clone(), disabled };
    let Reply::Agent(agent) = once(context, request).await? else { return Err(unexpected()) };
    print(context, &agent)
}
