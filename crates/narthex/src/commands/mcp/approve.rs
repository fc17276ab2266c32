//! `narthex mcp approve`: first the start, then what is offered.

use narthex_core::{DefinitionName, Digest};
use narthex_server::owner::{ApprovedNow, OfferShown, ServerReply, ServerRequest};

use super::{detail, go_on, offer, shown};
use crate::ask::Asking;
use crate::cli::McpApproveArgs;
use crate::commands::{confirm, unexpected};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &McpApproveArgs) -> Result<Exit, Failure> {
    let mut asking = Asking::open(context).await?;
    let done = both(context, &mut asking, args).await;
    asking.close().await?;
    let approved = done?;
    if context.is_json() {
        output::json(&approved)?;
        return Ok(Exit::Done);
    }
    let name = &args.server;
    if args.start_only {
        output::text(format!(
            "{name} may be started. What it offers is shown to nobody yet: narthex mcp approve {name}"
        ))?;
        return Ok(Exit::Done);
    }
    output::text(format!(
        "{} of its definitions are approved. Agents reach it at /servers/{name}/mcp once a profile gives \
         it to them:\n  narthex mcp profiles set <AGENT> <PROFILE>",
        approved.definitions
    ))?;
    Ok(Exit::Done)
}

async fn both(
    context: &Context,
    asking: &mut Asking,
    args: &McpApproveArgs,
) -> Result<ApprovedNow, Failure> {
    let started = start(context, asking, args).await?;
    if args.start_only {
        return Ok(started);
    }
    let offered = offer(asking, &args.server).await?;
    let wanted = wanted(args, &offered)?;
    if !context.is_json() {
        output::text(shown::offer(&offered))?;
        let kept = kept_back(&offered);
        if kept > 0 && args.only.is_empty() {
            output::text(format!(
                "\nKept back for what was found in them: {kept}. Approve one by its name, if you must:\n  \
                 narthex mcp approve {} --only tool:NAME",
                args.server
            ))?;
        }
    }
    if wanted.is_empty() {
        return Ok(started);
    }
    let question = format!("Show these {} definitions of {} to agents?", wanted.len(), args.server);
    confirm::confirmed(&question, args.yes)?;
    let request =
        ServerRequest::ApproveDefinitions { server: args.server.clone(), definitions: wanted };
    approved(go_on(asking, request).await?)
}

async fn start(
    context: &Context,
    asking: &mut Asking,
    args: &McpApproveArgs,
) -> Result<ApprovedNow, Failure> {
    let found = detail(asking, &args.server).await?;
    let Some(digest) = found.start.digest else {
        let why = found.trouble.unwrap_or_else(|| "it cannot be started".to_owned());
        return Err(
            Failure::new(Exit::Usage, why).hint(format!("narthex mcp info {}", args.server))
        );
    };
    if found.start.stands == "approved" {
        return Ok(ApprovedNow {
            server: args.server.clone(),
            start: true,
            definitions: found.definitions.len(),
            disabled: found.server.start == "disabled",
            changed: false,
        });
    }
    if !context.is_json() {
        output::text(shown::start(&found))?;
    }
    let question = if found.server.kind == "http" {
        "Reach this server?"
    } else if found.start.walls.starts_with("none") {
        "Start this program? It will run with all of your permissions."
    } else {
        "Start this program, inside these walls?"
    };
    confirm::confirmed(question, args.yes)?;
    let request = ServerRequest::ApproveStart { server: args.server.clone(), digest };
    approved(go_on(asking, request).await?)
}

/// What would be approved: what was named, or everything in which nothing grave was found.
fn wanted(
    args: &McpApproveArgs,
    offered: &OfferShown,
) -> Result<Vec<(DefinitionName, Digest)>, Failure> {
    if args.only.is_empty() {
        let fit = offered.definitions.iter().filter(|definition| {
            definition.stands != "approved"
                && !definition.quarantined
                && definition.barred.is_none()
        });
        return Ok(fit.map(|definition| (definition.name.clone(), definition.digest)).collect());
    }
    let named = |name: &DefinitionName| {
        let found = offered.definitions.iter().find(|definition| definition.name == *name);
        found.map(|found| (name.clone(), found.digest)).ok_or_else(|| {
            Failure::new(Exit::NotFound, format!("{} offers no {name}", args.server))
                .hint(format!("narthex mcp diff {}", args.server))
        })
    };
    args.only.iter().map(named).collect()
}

fn kept_back(offered: &OfferShown) -> usize {
    let kept = offered.definitions.iter().filter(|definition| {
        definition.stands != "approved" && definition.quarantined && definition.barred.is_none()
    });
    kept.count()
}

fn approved(reply: ServerReply) -> Result<ApprovedNow, Failure> {
    match reply {
        ServerReply::Approved(now) => Ok(now),
        _ => Err(unexpected()),
    }
}
