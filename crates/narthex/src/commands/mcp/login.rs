//! `narthex mcp login|logout`: the owner's browser goes out, and comes back to this machine.

use std::time::Duration;

use narthex_oauth::{Callback, Waiting};
use narthex_server::owner::{CameBack, ServerReply, ServerRequest, SignInBegun, SignedInNow};
use secrecy::ExposeSecret as _;

use super::{ask, go_on};
use crate::ask::Asking;
use crate::cli::{McpLoginArgs, McpNameArgs};
use crate::commands::unexpected;
use crate::output::clean;
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &McpLoginArgs) -> Result<Exit, Failure> {
    let mut asking = Asking::open(context).await?;
    let done = sign_in(context, &mut asking, args).await;
    asking.close().await?;
    let now = done?;
    if context.is_json() {
        output::json(&now)?;
        return Ok(Exit::Done);
    }
    let lasts = if now.renews {
        "It is renewed by itself."
    } else {
        "It lasts until the server ends it; then sign in again."
    };
    let issuer = clean::text(now.issuer.as_deref().unwrap_or("its issuer"));
    output::text(format!("You are signed in to {} by {issuer}. {lasts}", now.server))?;
    Ok(Exit::Done)
}

async fn sign_in(
    context: &Context,
    asking: &mut Asking,
    args: &McpLoginArgs,
) -> Result<SignedInNow, Failure> {
    let server = || args.server.clone();
    let request = ServerRequest::SignIn { server: server(), redirect: None };
    let ServerReply::ComesBackTo(port) = go_on(asking, request).await? else {
        return Err(unexpected());
    };
    let callback = Callback::bind(port).await.map_err(|fault| {
        Failure::new(Exit::Unavailable, fault.to_string())
            .hint("another program has `redirectPort`; end it, or take the key out for a free port")
    })?;
    let request = ServerRequest::SignIn { server: server(), redirect: Some(callback.redirect()) };
    let ServerReply::SignIn(begun) = go_on(asking, request).await? else {
        return Err(unexpected());
    };
    show(context, &begun)?;
    let patience = Duration::from_secs(args.wait);
    let came = callback.wait(patience).await;
    let (brought, waiting) =
        came.map_err(|fault| Failure::new(Exit::Unavailable, fault.to_string()))?;
    let back = CameBack {
        state: brought.state.expose_secret().to_owned(),
        code: brought.code.map(|code| code.expose_secret().to_owned()),
        issuer: brought.issuer,
        error: brought.error,
    };
    let done = go_on(asking, ServerRequest::SignedIn { server: server(), back }).await;
    tell(waiting, &args.server, done.is_ok()).await;
    match done? {
        ServerReply::SignedIn(now) => Ok(now),
        _ => Err(unexpected()),
    }
}

/// Nothing is opened by itself: the owner sees where the browser goes before it does.
fn show(context: &Context, begun: &SignInBegun) -> Result<(), Failure> {
    let text = format!(
        "{} asks you to sign in to {}. Open this in a browser on this machine:\n\n  {}\n",
        clean::text(&begun.issuer),
        begun.server,
        clean::text(&begun.url)
    );
    if context.is_json() {
        output::note(text);
        return Ok(());
    }
    output::text(text)
}

async fn tell(waiting: Waiting, server: &str, signed_in: bool) {
    let text = if signed_in {
        format!("You are signed in to {server}. You can close this page.")
    } else {
        format!("You are not signed in to {server}. The terminal says why.")
    };
    waiting.tell(&text).await;
}

pub(super) async fn out(context: &Context, args: &McpNameArgs) -> Result<Exit, Failure> {
    let request = ServerRequest::SignOut { server: args.server.clone() };
    let ServerReply::SignedIn(now) = ask(context, request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&now)?;
    } else if now.changed {
        output::text(format!("You are signed out of {}; what was kept is gone.", now.server))?;
    } else {
        output::text(format!("You were not signed in to {}.", now.server))?;
    }
    Ok(Exit::Done)
}
