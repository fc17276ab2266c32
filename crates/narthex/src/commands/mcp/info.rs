//! `narthex mcp info`.

use std::fmt::Write as _;

use super::{detail, list, names, shown};
use crate::ask::Asking;
use crate::cli::McpNameArgs;
use crate::output::clean;
use crate::output::table::{self, Said};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &McpNameArgs) -> Result<Exit, Failure> {
    let mut asking = Asking::open(context).await?;
    let found = detail(&mut asking, &args.server).await;
    asking.close().await?;
    let found = found?;
    if context.is_json() {
        output::json(&found)?;
        return Ok(Exit::Done);
    }
    let shared = if found.stateless { "one for all agents" } else { "one for each agent" };
    let mut facts: Vec<(&'static str, Said)> = vec![
        ("state", list::state(&found.server)),
        ("connections", shared.into()),
        ("its tools are", format!("{} unless the file says otherwise", found.tier).into()),
        ("approved", clean::text(&names(&found.definitions)).into()),
    ];
    let limits: Vec<String> =
        found.limits.iter().map(|(name, value)| format!("{name} {value}")).collect();
    facts.push(("held to", limits.join(", ").into()));
    let mut out = format!("{}\n\n{}", shown::start(&found), table::facts(facts));
    // Writing to a String cannot fail.
    let _ = match found.start.stands.as_str() {
        "approved" => write!(out, "\n\nTry it:  narthex mcp test {}", found.server.name),
        _ => write!(out, "\n\nApprove it:  narthex mcp approve {}", found.server.name),
    };
    output::text(out)?;
    Ok(Exit::Done)
}
