//! `narthex agent`.

mod add;
mod list;
mod set;
mod show;
mod standing;
mod switch;

use narthex_server::owner::AgentInfo;

use crate::cli::AgentCommand;
use crate::output::table::{self, Said, bad, good};
use crate::{Context, Exit, Failure, output};

/// Carries out `narthex agent …`.
pub async fn run(context: &Context, command: &AgentCommand) -> Result<Exit, Failure> {
    match command {
        AgentCommand::Add(args) => add::run(context, args).await,
        AgentCommand::List => list::run(context).await,
        AgentCommand::Show(args) => show::run(context, args).await,
        AgentCommand::Set(args) => set::run(context, args).await,
        AgentCommand::Disable(args) => switch::run(context, args, true).await,
        AgentCommand::Enable(args) => switch::run(context, args, false).await,
    }
}

/// Prints one agent.
fn print(context: &Context, agent: &AgentInfo) -> Result<Exit, Failure> {
    if context.is_json() {
        output::json(agent)?;
    } else {
        output::text(facts(agent))?;
    }
    Ok(Exit::Done)
}

fn facts(agent: &AgentInfo) -> String {
    let mut facts: Vec<(&str, Said)> = vec![
        ("agent", agent.slug.to_string().into()),
        ("id", agent.id.to_string().into()),
        ("name", agent.name.as_str().into()),
        ("kind", agent.kind.as_str().into()),
        ("model", agent.model.clone().unwrap_or_else(table::dash).into()),
        ("space", space(agent)),
        ("can", agent.grants.to_string().into()),
        ("ceiling", standing::ceiling(agent).into()),
        ("state", state(agent)),
        ("tokens", format!("{} live", agent.live_tokens).into()),
        ("proposals", format!("{} open", agent.open_proposals).into()),
        ("approvals", format!("{} waiting", agent.waiting_approvals).into()),
    ];
    facts.extend(standing::facts(agent));
    facts.push(("created", table::moment(agent.created).into()));
    table::facts(facts)
}

fn state(agent: &AgentInfo) -> Said {
    match (agent.disabled, agent.stops.first()) {
        (true, _) => bad("disabled"),
        (false, None) => good("enabled"),
        (false, Some(stop)) => {
            let what = crate::commands::stopping::words(&stop.scope, stop.name.as_ref());
            bad(format!("stopped ({what})"))
        }
    }
}

/// INVARIANT: an agent without a space is refused everywhere, and is shown so; the companion is
/// the one that was let into all of them on purpose.
fn space(agent: &AgentInfo) -> Said {
    match (&agent.space, agent.kind) {
        (Some(space), _) => space.to_string().into(),
        (None, narthex_core::AgentKind::Companion) => "all".into(),
        (None, narthex_core::AgentKind::External) => bad("none"),
    }
}
