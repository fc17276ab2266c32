//! `narthex mcp profiles`.

use narthex_core::Slug;
use narthex_server::owner::{ServerReply, ServerRequest};

use super::ask;
use crate::cli::McpProfilesCommand;
use crate::commands::unexpected;
use crate::output::table::{self, Column, Said, bad, fair};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, command: &McpProfilesCommand) -> Result<Exit, Failure> {
    let request = match command {
        McpProfilesCommand::List => ServerRequest::Profiles,
        McpProfilesCommand::Set(args) => ServerRequest::SetProfiles {
            agent: args.agent.clone(),
            profiles: args.profiles.clone(),
        },
    };
    let ServerReply::Profiles(profiles) = ask(context, request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&profiles)?;
        return Ok(Exit::Done);
    }
    if profiles.is_empty() {
        output::text(
            "No profiles in the file. An agent has no server without one:\n  \"profiles\": {\"work\": {\"servers\": [\"github\"]}}",
        )?;
        return Ok(Exit::Done);
    }
    let rows = profiles.iter().map(|profile| -> [Said; 3] {
        let agents: Vec<&str> = profile.agents.iter().map(Slug::as_str).collect();
        [
            profile.name.to_string().into(),
            if profile.known {
                profile.servers.join(", ").into()
            } else {
                bad("not in the file".to_owned())
            },
            if agents.is_empty() { fair("nobody".to_owned()) } else { agents.join(", ").into() },
        ]
    });
    output::text(table::rows(&COLUMNS, rows))?;
    Ok(Exit::Done)
}

const COLUMNS: [Column; 3] =
    [Column::Whole("PROFILE"), Column::Flows("SERVERS"), Column::Flows("AGENTS")];
