//! `init`, `serve`, `stdio` and `proxy`.

use std::net::SocketAddr;

use clap::{ArgGroup, Args};

/// Make a house in the data directory
///
/// Makes the data directory with its keys, an empty database and a narthex.toml in which every
/// key is written down with its default. What is there already stays as it is.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex init
  narthex init --data-dir ./house")]
pub struct InitArgs {}

/// Open the door: serve agents over HTTP
///
/// Serves agents over MCP until it is told to stop (SIGTERM or Ctrl-C), then finishes the calls
/// under way. With `--output json`, one JSON line on standard output says when it is ready; logs
/// go to standard error.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex serve --demo
  narthex serve
  narthex serve --listen 127.0.0.1:0 --output json")]
pub struct ServeArgs {
    /// Start in a fresh folder with two spaces of pages, an agent and its token
    #[arg(long)]
    pub demo: bool,

    /// Listen here instead of where narthex.toml says; port 0 takes a free one
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
}

/// Serve one agent, or your own companion, on standard input and output
///
/// With `--agent`, exactly what that agent sees over HTTP. With `--companion`, the four tools for
/// your own local assistant, across all spaces (or one, with `--space`): it may read
/// conversations, and still only propose.
#[derive(Debug, Clone, Args)]
#[command(
    group = ArgGroup::new("who").required(true).args(["agent", "companion"]),
    after_help = "\
Examples:
  narthex stdio --agent claude
  narthex stdio --companion
  narthex stdio --companion --space research
  claude mcp add narthex -- narthex stdio --companion"
)]
pub struct StdioArgs {
    /// Speak for this agent
    #[arg(long, value_name = "SLUG")]
    pub agent: Option<String>,

    /// Speak for your own companion
    #[arg(long)]
    pub companion: bool,

    /// Bind the companion to one space
    #[arg(long, value_name = "SLUG", conflicts_with = "agent")]
    pub space: Option<String>,
}

/// Bridge a client that only speaks stdio to a remote Narthex
///
/// Forwards what a client says on standard input to a remote Narthex, and its answers back. The
/// token comes from the environment, so that it is in no process list.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  NARTHEX_TOKEN=nx_… narthex proxy --url https://narthex.example/mcp
  narthex proxy --url http://127.0.0.1:7377/mcp --token-env RESEARCH_TOKEN")]
pub struct ProxyArgs {
    /// The endpoint to forward to
    #[arg(long, value_name = "URL")]
    pub url: String,

    /// The environment variable that holds the token
    #[arg(long, value_name = "NAME", default_value = "NARTHEX_TOKEN")]
    pub token_env: String,
}
