//! The accept loop: a bounded number of connections, each in a task that is waited for.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use futures::FutureExt as _;
use http::{Request, Response};
use narthex_gate::Gate;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::{Connections, HostDesk};
use super::host::HostPolicy;
use super::tls::Tls;
use crate::EdgeConfig;

/// Where requests are taken, and who may send them.
#[derive(Debug)]
pub struct Listening {
    /// The socket.
    pub listener: TcpListener,
    /// How to speak TLS; none for plain HTTP (on loopback, or behind a proxy that was declared).
    pub tls: Option<Tls>,
    /// Which hosts and origins are answered, on every route.
    pub policy: HostPolicy,
    /// Whose ledger counts the requests that were refused here.
    pub gate: Gate,
}

/// Serves HTTP/1.1 until `stop` is cancelled, then lets requests under way finish and returns.
///
/// `service` (an axum router, usually) meets only requests that the host policy let through;
/// they carry the peer's address as `ConnectInfo<SocketAddr>`.
pub async fn serve<S>(
    listening: Listening,
    service: S,
    config: &EdgeConfig,
    stop: CancellationToken,
) -> io::Result<()>
where
    S: tower::Service<Request<Body>, Response = Response<Body>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send + 'static,
{
    let Listening { listener, tls, policy, gate } = listening;
    let places = Arc::new(Semaphore::new(config.connections.min(Semaphore::MAX_PERMITS)));
    let tasks = TaskTracker::new();
    let abandon = CancellationToken::new();
    let connections = Connections::new(service, HostDesk { policy, gate }, tls, config, &stop);
    let take = |stream: TcpStream, peer: SocketAddr, place: OwnedSemaphorePermit| {
        let serving = connections.clone().serve(stream, peer);
        let abandoned = abandon.clone();
        tasks.spawn(async move {
            let _place = place;
            tokio::select! {
                () = serving => {}
                () = abandoned.cancelled() => tracing::warn!(%peer, "a request was cut off"),
            }
        });
    };
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            accepted = accept(&listener, &places) => {
                if let Some((stream, peer, place)) = accepted {
                    take(stream, peer, place);
                }
            }
        }
    }
    // Whoever had knocked before the stop is still let in.
    while let Some(Some((stream, peer, place))) = accept(&listener, &places).now_or_never() {
        take(stream, peer, place);
    }
    drop(listener);
    tasks.close();
    if tokio::time::timeout(config.drain_deadline, tasks.wait()).await.is_err() {
        abandon.cancel();
        tasks.wait().await;
    }
    Ok(())
}

/// The next connection, once there is a place for it. None if one could not be taken.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => Some((stream, peer, place)),
        Err(error) => {
            // The other side gave up, or we have no file descriptor left: go on, but not in a
            // circle that burns a processor.
            tracing::warn!(%error, "a connection could not be accepted");
            tokio::time::sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
