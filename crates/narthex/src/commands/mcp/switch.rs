//! `narthex mcp on|off|enable|disable|revoke`.

use narthex_server::owner::{ServerReply, ServerRequest};

use super::ask;
use crate::cli::{McpNameArgs, McpRevokeArgs};
use crate::commands::unexpected;
use crate::{Context, Exit, Failure, output};

pub(super) async fn all(context: &Context, on: bool) -> Result<Exit, Failure> {
    let ServerReply::Switched(switched) = ask(context, ServerRequest::Switch { on }).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&switched)?;
        return Ok(Exit::Done);
    }
    let file = &switched.file;
    output::text(match (on, switched.changed) {
        (true, _) => format!(
            "Other people's servers are on. Nothing of theirs runs before you approve it.\n\
             They are named in {file}:\n  \
             narthex mcp import claude-code   take over what Claude Code has\n  \
             narthex mcp list                 see them"
        ),
        (false, true) => "Other people's servers are off: every connection has ended.".to_owned(),
        (false, false) => "Other people's servers were off already.".to_owned(),
    })?;
    Ok(Exit::Done)
}

pub(super) async fn one(context: &Context, args: &McpNameArgs, on: bool) -> Result<Exit, Failure> {
    let request = ServerRequest::Enable { server: args.server.clone(), on };
    told(context, request, if on { "may be used" } else { "is off" }).await
}

pub(super) async fn revoke(context: &Context, args: &McpRevokeArgs) -> Result<Exit, Failure> {
    let (server, definitions) = (args.server.clone(), args.only.clone());
    let what =
        if definitions.is_empty() { "has no approval any more" } else { "has fewer approvals" };
    told(context, ServerRequest::Revoke { server, definitions }, what).await
}

async fn told(context: &Context, request: ServerRequest, what: &str) -> Result<Exit, Failure> {
    let ServerReply::Approved(now) = ask(context, request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&now)?;
    } else {
        output::text(format!(
            "{} {what}; {} of its definitions are approved.",
            now.server, now.definitions
        ))?;
    }
    Ok(Exit::Done)
}
