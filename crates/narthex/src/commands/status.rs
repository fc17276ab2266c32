//! `narthex status`.

use std::collections::BTreeMap;

use narthex_server::FollowerStatus;
use narthex_server::owner::{Reply, Request, ServersStatus, Status};

use super::stopping::words;
use super::{once, unexpected};
use crate::output::table::{self, Said, bad, fair, good};
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
    let sessions = status.sessions.map_or_else(|| "not kept".to_owned(), |n| format!("{n} open"));
    let mut facts = vec![
        ("server", holder(status).into()),
        ("endpoint", status.mcp_url.clone().unwrap_or_else(table::dash).into()),
        ("version", status.version.clone().into()),
        ("mode", mode(status).into()),
        ("stopped", stopped(status)),
        ("store", state(status.store, String::new())),
        ("ledger", state(status.ledger, ledger(status))),
        ("policy", state(status.policy, format!(", {} policies", status.policies))),
        ("spaces", status.spaces.to_string().into()),
        ("agents", agents(status).into()),
        ("inbox", format!("{} open", status.open_proposals).into()),
        ("approvals", format!("{} waiting", status.waiting_approvals).into()),
        ("sessions", sessions.into()),
        ("servers", servers(status.servers.as_ref())),
    ];
    facts.extend(status.followers.iter().map(|one| (one.what.as_str(), follower(one))));
    table::facts(facts)
}

/// How many are how, and which of them failed.
fn servers(servers: Option<&ServersStatus>) -> Said {
    let Some(ServersStatus { servers, trouble }) = servers else {
        return "off (narthex mcp on)".to_owned().into();
    };
    if let Some(trouble) = trouble {
        return bad(trouble.clone());
    }
    let failed: Vec<String> = servers
        .iter()
        .filter_map(|one| Some(format!("{}: {}", one.name, one.error.as_ref()?)))
        .collect();
    if !failed.is_empty() {
        return bad(failed.join("; "));
    }
    let mut counts = BTreeMap::new();
    for server in servers {
        *counts.entry(server.state.as_str()).or_insert(0_usize) += 1;
    }
    let counts: Vec<String> = counts.iter().map(|(state, n)| format!("{n} {state}")).collect();
    if counts.is_empty() { "none".to_owned().into() } else { good(counts.join(", ")) }
}

fn ledger(status: &Status) -> String {
    let why = status.ledger_trouble.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    format!("{why}, {} records", status.records)
}

/// Someone who follows the ledger.
fn follower(one: &FollowerStatus) -> Said {
    match (one.failing_since, one.behind) {
        (Some(since), behind) => {
            let why = one.error.as_deref().unwrap_or("it failed");
            let since = table::moment(since);
            bad(format!("{behind} records behind, failing since {since}: {why}"))
        }
        (None, 0) => good("ok"),
        (None, behind) => fair(format!("{behind} records behind")),
    }
}

fn mode(status: &Status) -> String {
    if status.mode == status.settings_mode {
        return status.mode.to_string();
    }
    format!("{} (the settings allow {})", status.mode, status.settings_mode)
}

fn stopped(status: &Status) -> Said {
    let stops = &status.stops;
    let mut said: Vec<String> =
        stops.engaged.iter().map(|stop| words(&stop.scope, stop.name.as_ref())).collect();
    if stops.stop_file_there {
        said.push(format!("the file {} is there", stops.stop_file));
    }
    if said.is_empty() { good("nothing") } else { bad(said.join(", ")) }
}

fn agents(status: &Status) -> String {
    match status.tainted_agents {
        0 => status.agents.to_string(),
        tainted => format!("{} ({tainted} took something in)", status.agents),
    }
}

/// A command that holds the data directory itself is no server.
fn holder(status: &Status) -> String {
    if status.pid == std::process::id() {
        return "not running".to_owned();
    }
    format!("{} (pid {})", status.holder, status.pid)
}
