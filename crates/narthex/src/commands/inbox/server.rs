//! A server that an agent asks for: how it stands, and what is to be typed next.

use narthex_core::Slug;
use narthex_server::owner::{LetIn, ProposalInfo, RequestedServer, ServerStands};

use crate::output::table::{Said, bad, fair, good};

/// How it stands, and how the agent would come by it.
pub(super) fn facts(info: &ProposalInfo, requested: &RequestedServer) -> Vec<(&'static str, Said)> {
    let mut facts = vec![("server", stands(requested))];
    if let Some(trouble) = &requested.trouble {
        facts.push(("trouble", bad(trouble)));
    }
    let profiles = if requested.given.is_empty() {
        fair(format!("none of {}'s has it", info.agent))
    } else {
        format!("{} has it by {}", info.agent, joined(&requested.given)).into()
    };
    facts.push(("profiles", profiles));
    facts
}

/// What is to be typed, in this order; only what is still to be done.
pub(super) fn next(info: &ProposalInfo, requested: &RequestedServer) -> String {
    let (id, agent) = (info.id, &info.agent);
    let name = info.slug.as_deref().unwrap_or("NAME");
    let mut lines = Vec::new();
    if requested.stands == ServerStands::ServersOff {
        lines.push("Turn them on:  narthex mcp on".to_owned());
    }
    lines.push(format!("Look at it:    narthex mcp info {name}"));
    if !is_approved(requested.stands) {
        lines.push(format!("Approve it:    narthex mcp approve {name}"));
    }
    if requested.given.is_empty() {
        // Giving replaces what the agent has.
        let has = requested.profiles.iter().map(Slug::as_str);
        let all: Vec<&str> = has.chain(["PROFILE"]).collect();
        lines.push(format!("Give it:       narthex mcp profiles set {agent} {}", all.join(" ")));
    }
    lines.push(format!("Say yes:       narthex inbox approve {id}"));
    lines.push(format!("Say no:        narthex inbox reject {id} --reason <why>"));
    format!("\n\n{}", lines.join("\n"))
}

/// What came of a yes.
pub(super) fn let_in(let_in: &LetIn) -> String {
    let LetIn { server, enabled, given } = let_in;
    let now = if *enabled { "is enabled now" } else { "may be used" };
    let given = match given.as_slice() {
        [] => "No profile of the agent's has it: narthex mcp profiles list".to_owned(),
        given => format!("The agent has it by {}.", joined(given)),
    };
    format!(" {server} {now}. {given}")
}

fn stands(requested: &RequestedServer) -> Said {
    match requested.stands {
        ServerStands::ServersOff => bad("servers are off: the request waits until they are on"),
        ServerStands::FileUnreadable => bad("the file that names the servers cannot be read"),
        ServerStands::NotInFile => bad("not in the file"),
        ServerStands::NotApproved => fair("not approved"),
        ServerStands::StartChanged => bad("what would be started is another than was approved"),
        ServerStands::Disabled => {
            fair("approved and disabled: a yes enables it for every agent that has it")
        }
        ServerStands::DisabledInFile => bad("disabled in the file"),
        ServerStands::Ready if requested.trouble.is_some() => fair("approved and enabled"),
        ServerStands::Ready => good("ready: approved and enabled"),
    }
}

/// Whether there is nothing to approve of it, as far as can be told.
const fn is_approved(stands: ServerStands) -> bool {
    matches!(stands, ServerStands::Disabled | ServerStands::DisabledInFile | ServerStands::Ready)
}

fn joined(names: &[Slug]) -> String {
    names.iter().map(Slug::as_str).collect::<Vec<_>>().join(", ")
}
