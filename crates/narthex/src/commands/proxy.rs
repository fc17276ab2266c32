//! `narthex proxy`.

use narthex_mcp::{ProxyConfig, ProxyError, run_proxy};

use crate::cli::ProxyArgs;
use crate::config::env;
use crate::{Context, Exit, Failure, stop};

/// Bridges standard input and output to a remote Narthex.
pub async fn run(_context: &Context, args: &ProxyArgs) -> Result<Exit, Failure> {
    let token = env::variable(&args.token_env).ok_or_else(|| {
        Failure::new(
            Exit::Usage,
            format!("no token: the environment variable {} is not set", args.token_env),
        )
        .hint("the owner makes one with: narthex token create <agent>")
    })?;
    let config = ProxyConfig::new(args.url.clone(), token.into());
    run_proxy(config, tokio::io::stdin(), tokio::io::stdout(), stop::on_signal()?)
        .await
        .map_err(|error| ended(&error))?;
    Ok(Exit::Done)
}

fn ended(error: &ProxyError) -> Failure {
    Failure::new(Exit::Unavailable, error.to_string())
}
