//! `narthex status`.

use narthex_server::owner::{Reply, Request, Status};

use super::{once, unexpected};
use crate::output::table::{self, verdict};
use crate::{Context, Exit, Failure, output};

/// Says how the house is.
pub async fn run(context: &Context) -> Result<Exit, Failure> {
    let Reply::Status(status) = once(context, Request::Status).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&status)?;
    } else {
        output::text(facts(&status))?;
    }
    let well = status.store && status.ledger && status.policy;
    Ok(if well { Exit::Done } else { Exit::Unavailable })
}

fn facts(status: &Status) -> String {
    // A command that holds the data directory itself is no server.
    let running = status.pid != std::process::id();
    let holder =
        if running { format!("{} (pid {})", status.holder, status.pid) } else { "none".to_owned() };
    let state = |good: bool| verdict(if good { "ok" } else { "out of order" }, good);
    let lines = [
        table::facts([
            ("server", holder),
            ("endpoint", status.mcp_url.clone().unwrap_or_else(table::dash)),
            ("version", status.version.clone()),
            ("mode", status.mode.to_string()),
        ]),
        format!("store     {}", state(status.store)),
        format!("ledger    {} ({} records)", state(status.ledger), status.records),
        format!("policy    {} ({} policies)", state(status.policy), status.policies),
        table::facts([
            ("spaces  ", status.spaces.to_string()),
            ("agents", status.agents.to_string()),
            ("inbox", format!("{} open", status.open_proposals)),
        ]),
    ];
    lines.join("\n")
}
