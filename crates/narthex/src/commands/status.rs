//! `narthex status`.

use narthex_server::owner::{Reply, Request, Status};

use super::{once, unexpected};
use crate::output::table::{self, Said, bad, good};
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
    let state = |well: bool, more: String| -> Said {
        if well { good(format!("ok{more}")) } else { bad(format!("out of order{more}")) }
    };
    table::facts([
        ("server", holder(status).into()),
        ("endpoint", status.mcp_url.clone().unwrap_or_else(table::dash).into()),
        ("version", status.version.clone().into()),
        ("mode", status.mode.to_string().into()),
        ("store", state(status.store, String::new())),
        ("ledger", state(status.ledger, format!(", {} records", status.records))),
        ("policy", state(status.policy, format!(", {} policies", status.policies))),
        ("spaces", status.spaces.to_string().into()),
        ("agents", status.agents.to_string().into()),
        ("inbox", format!("{} open", status.open_proposals).into()),
    ])
}

/// A command that holds the data directory itself is no server.
fn holder(status: &Status) -> String {
    if status.pid == std::process::id() {
        return "not running".to_owned();
    }
    format!("{} (pid {})", status.holder, status.pid)
}
