//! `narthex taint clear`.

use narthex_server::owner::{Reply, Request, TaintRequest};

use super::show::facts;
use crate::cli::TaintClearArgs;
use crate::commands::{once, unexpected};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &TaintClearArgs) -> Result<Exit, Failure> {
    let both = !args.private && !args.untrusted;
    let request = Request::Taint(TaintRequest::Clear {
        agent: args.agent.clone(),
        space: args.space.clone(),
        private: args.private || both,
        untrusted: args.untrusted || both,
    });
    let Reply::Latches(cleared) = once(context, request).await? else { return Err(unexpected()) };
    if context.is_json() {
        output::json(&cleared)?;
    } else if cleared.is_empty() {
        output::text("Nothing of it was set.")?;
    } else {
        let shown: Vec<String> = cleared.iter().map(facts).collect();
        output::text(format!("Cleared. What is left:\n\n{}", shown.join("\n\n")))?;
    }
    Ok(Exit::Done)
}
