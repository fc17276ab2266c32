//! `narthex mcp`.

mod approve;
mod call;
mod diff;
mod import;
mod info;
mod list;
mod login;
mod profiles;
mod shown;
mod switch;
mod test;

use narthex_core::DefinitionName;
use narthex_server::owner::{OfferShown, Reply, Request, ServerDetail, ServerReply, ServerRequest};

use super::{once, unexpected};
use crate::ask::Asking;
use crate::cli::McpCommand;
use crate::{Context, Exit, Failure};

/// Carries out `narthex mcp …`.
pub async fn run(context: &Context, command: &McpCommand) -> Result<Exit, Failure> {
    match command {
        McpCommand::On => switch::all(context, true).await,
        McpCommand::Off => switch::all(context, false).await,
        McpCommand::List => list::run(context).await,
        McpCommand::Info(args) => info::run(context, args).await,
        McpCommand::Approve(args) => approve::run(context, args).await,
        McpCommand::Revoke(args) => switch::revoke(context, args).await,
        McpCommand::Enable(args) => switch::one(context, args, true).await,
        McpCommand::Disable(args) => switch::one(context, args, false).await,
        McpCommand::Diff(args) => diff::run(context, args).await,
        McpCommand::Test(args) => test::run(context, args).await,
        McpCommand::Call(args) => call::run(context, args).await,
        McpCommand::Logs(args) => test::logs(context, args).await,
        McpCommand::Import(args) => import::run(context, args).await,
        McpCommand::Login(args) => login::run(context, args).await,
        McpCommand::Logout(args) => login::out(context, args).await,
        McpCommand::Profiles(command) => profiles::run(context, command).await,
    }
}

/// Asks one thing about servers.
async fn ask(context: &Context, request: ServerRequest) -> Result<ServerReply, Failure> {
    match once(context, Request::Server(request)).await? {
        Reply::Server(reply) => Ok(reply),
        _ => Err(unexpected()),
    }
}

/// The same where more is asked over one connection: a server that was started for one question is
/// there for the next.
async fn go_on(asking: &mut Asking, request: ServerRequest) -> Result<ServerReply, Failure> {
    match asking.ask(Request::Server(request)).await? {
        Reply::Server(reply) => Ok(reply),
        _ => Err(unexpected()),
    }
}

async fn detail(asking: &mut Asking, server: &str) -> Result<ServerDetail, Failure> {
    match go_on(asking, ServerRequest::Info { server: server.to_owned() }).await? {
        ServerReply::Server(detail) => Ok(*detail),
        _ => Err(unexpected()),
    }
}

async fn offer(asking: &mut Asking, server: &str) -> Result<OfferShown, Failure> {
    match go_on(asking, ServerRequest::Look { server: server.to_owned() }).await? {
        ServerReply::Offer(offer) => Ok(*offer),
        _ => Err(unexpected()),
    }
}

fn names(definitions: &[DefinitionName]) -> String {
    let names: Vec<String> = definitions.iter().map(ToString::to_string).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
