//! Logs: to standard error, never to standard output.

use anstream::{AutoStream, ColorChoice};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

use crate::commands::Ready;
use crate::config::{LogFormat, env};

/// Starts logging. What stays up speaks as `log.level` says; a command that ends speaks only of
/// trouble, unless it is asked for more.
pub fn start(ready: &Ready) {
    let log = &ready.context.config.log;
    let level = match ready.context.verbose {
        0 if ready.stays_up() => log.level.as_str(),
        0 => "warn",
        1 => "debug",
        _ => "trace",
    };
    let filter = env::variable("RUST_LOG")
        .and_then(|said| EnvFilter::try_new(said).ok())
        .unwrap_or_else(|| EnvFilter::new(level));
    let colours = AutoStream::choice(&std::io::stderr()) != ColorChoice::Never;
    // Whoever reads the log may go away, and its disk may be full: a line that cannot be written is
    // dropped, and never takes down what wanted to write it.
    let lines = fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(colours)
        .log_internal_errors(false);
    // A second start would be a mistake of ours and is no reason to end.
    let _ = match log.format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().try_init(),
    };
}
