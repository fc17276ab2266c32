//! `narthex mcp list`.

use narthex_server::owner::{ServerReply, ServerRequest, ServerShown};

use super::ask;
use crate::commands::unexpected;
use crate::output::clean;
use crate::output::table::{self, Column, Said, bad, fair, good};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context) -> Result<Exit, Failure> {
    let ServerReply::Servers(listed) = ask(context, ServerRequest::List).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&listed)?;
        return Ok(Exit::Done);
    }
    for warning in &listed.warnings {
        output::note(format!("warning: {}:{}", listed.file, clean::text(warning)));
    }
    if listed.servers.is_empty() {
        output::text(format!(
            "No servers in {}. Take some over: narthex mcp import claude-code",
            listed.file
        ))?;
        return Ok(Exit::Done);
    }
    let rows = listed.servers.iter().map(|server| -> [Said; 6] {
        [
            server.name.clone().into(),
            server.kind.clone().into(),
            state(server),
            start(server),
            definitions(server),
            profiles(server),
        ]
    });
    output::text(table::rows(&COLUMNS, rows))?;
    Ok(Exit::Done)
}

pub(super) fn state(server: &ServerShown) -> Said {
    match (&server.error, server.state.as_str()) {
        (Some(why), _) => bad(format!("error: {}", clean::text(why))),
        (None, "connected") => good("connected".to_owned()),
        (None, other) => other.to_owned().into(),
    }
}

fn start(server: &ServerShown) -> Said {
    match server.start.as_str() {
        "yes" => good("approved".to_owned()),
        "no" => fair("not approved".to_owned()),
        other => bad(other.to_owned()),
    }
}

fn definitions(server: &ServerShown) -> Said {
    match server.waiting {
        Some(waiting) if waiting > 0 => fair(format!("{}, {waiting} waiting", server.approved)),
        _ => server.approved.to_string().into(),
    }
}

fn profiles(server: &ServerShown) -> Said {
    let names: Vec<&str> = server.profiles.iter().map(narthex_core::Slug::as_str).collect();
    if names.is_empty() { fair("none".to_owned()) } else { names.join(", ").into() }
}

const COLUMNS: [Column; 6] = [
    Column::Whole("SERVER"),
    Column::Whole("KIND"),
    Column::Flows("STATE"),
    Column::Whole("START"),
    Column::Whole("APPROVED"),
    Column::Flows("PROFILES"),
];
