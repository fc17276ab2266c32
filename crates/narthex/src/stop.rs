//! When to stop: SIGTERM or SIGINT.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::{Exit, Failure};

/// A token that is cancelled by the first signal; a second one ends the process at once.
pub(crate) fn on_signal() -> Result<CancellationToken, Failure> {
    let unheard = |error: std::io::Error| {
        Failure::new(Exit::Failed, format!("signals cannot be heard: {error}"))
    };
    let mut terminate = signal(SignalKind::terminate()).map_err(unheard)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(unheard)?;
    let stop = CancellationToken::new();
    let heard = stop.clone();
    let listening = async move {
        let mut next = async || {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        next().await;
        tracing::info!("stopping: calls under way are finished first");
        heard.cancel();
        next().await;
        std::process::exit(i32::from(Exit::Failed.code()));
    };
    #[expect(clippy::disallowed_methods, reason = "it ends with the process and holds nothing")]
    tokio::spawn(listening);
    Ok(stop)
}
