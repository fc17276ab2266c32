//! Signals: SIGTERM and SIGINT end the process, SIGUSR1 stops every agent.

use narthex_core::EngagedBy;
use narthex_server::House;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::{Exit, Failure};

/// A token that is cancelled by the first signal; a second one ends the process at once.
pub(crate) fn on_signal() -> Result<CancellationToken, Failure> {
    let mut terminate = heard_as(SignalKind::terminate())?;
    let mut interrupt = heard_as(SignalKind::interrupt())?;
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

/// The kill signal, heard from now on: one that comes before the house is open is not lost.
#[derive(Debug)]
pub(crate) struct KillSignal(Signal);

impl KillSignal {
    /// Hears SIGUSR1, which would otherwise end the process.
    pub(crate) fn hear() -> Result<Self, Failure> {
        heard_as(SignalKind::user_defined1()).map(Self)
    }

    /// Returns when it comes.
    pub(crate) async fn came(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Stops everything whenever it comes, until told that it is over.
    pub(crate) async fn heed(&mut self, house: &House, over: CancellationToken) {
        loop {
            tokio::select! {
                () = over.cancelled() => return,
                () = self.came() => {}
            }
            match house.desk().stop_everything(EngagedBy::Signal, "SIGUSR1").await {
                Ok(stopped) => {
                    tracing::warn!(kept = ?stopped.kept, "SIGUSR1: everything is stopped");
                }
                Err(error) => tracing::error!(%error, "SIGUSR1"),
            }
        }
    }
}

fn heard_as(kind: SignalKind) -> Result<Signal, Failure> {
    signal(kind)
        .map_err(|error| Failure::new(Exit::Failed, format!("signals cannot be heard: {error}")))
}
