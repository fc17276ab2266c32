//! One connection: handshake, HTTP/1.1, host policy, then the service.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use futures::FutureExt as _;
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use narthex_core::Reason;
use narthex_gate::Gate;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::host::HostPolicy;
use super::linger::Lingering;
use super::refuse::closing;
use super::tls::Tls;
use crate::EdgeConfig;

/// Who may talk to us, and whose ledger counts those who may not.
pub(super) struct HostDesk {
    pub(super) policy: HostPolicy,
    pub(super) gate: Gate,
}

/// What all connections share.
pub(super) struct Connections<S> {
    service: S,
    desk: Arc<HostDesk>,
    tls: Option<Tls>,
    handshake_deadline: Duration,
    http: http1::Builder,
    stop: CancellationToken,
}

impl<S: Clone> Clone for Connections<S> {
    fn clone(&self) -> Self {
        Self {
            service: self.service.clone(),
            desk: Arc::clone(&self.desk),
            tls: self.tls.clone(),
            handshake_deadline: self.handshake_deadline,
            http: self.http.clone(),
            stop: self.stop.clone(),
        }
    }
}

impl<S> Connections<S>
where
    S: tower::Service<Request<Body>, Response = Response<Body>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send + 'static,
{
    pub(super) fn new(
        service: S,
        desk: HostDesk,
        tls: Option<Tls>,
        config: &EdgeConfig,
        stop: &CancellationToken,
    ) -> Self {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(config.header_deadline)
            .max_header_size(config.header_bytes)
            .max_buf_size((2 * config.header_bytes).max(MIN_BUFFER));
        Self {
            service,
            desk: Arc::new(desk),
            tls,
            handshake_deadline: config.handshake_deadline,
            http,
            stop: stop.clone(),
        }
    }

    pub(super) async fn serve(self, stream: TcpStream, peer: SocketAddr) {
        // A socket that is gone already shows when it is read.
        let _ = stream.set_nodelay(true);
        let Some(tls) = self.tls.clone() else { return self.talk(stream, peer).await };
        match tokio::time::timeout(self.handshake_deadline, tls.0.accept(stream)).await {
            Ok(Ok(stream)) => self.talk(stream, peer).await,
            Ok(Err(error)) => tracing::debug!(%peer, %error, "a TLS handshake failed"),
            Err(_) => tracing::debug!(%peer, "a TLS handshake took too long"),
        }
    }

    async fn talk<I: AsyncRead + AsyncWrite + Unpin + Send>(self, io: I, peer: SocketAddr) {
        let stop = self.stop.clone();
        let stopping = Stopping(stop.clone());
        let door = Door { service: self.service, desk: self.desk, peer, stopping };
        let io = TokioIo::new(Lingering::new(io));
        let mut connection = pin!(self.http.serve_connection(io, door));
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%peer, %error, "a connection ended early");
        }
    }
}

/// What every request on a connection goes through, whatever its route.
struct Door<S> {
    service: S,
    desk: Arc<HostDesk>,
    peer: SocketAddr,
    stopping: Stopping,
}

/// Cancelled when the house closes: for answers that would otherwise never end.
#[derive(Debug, Clone, Default)]
pub(super) struct Stopping(pub(super) CancellationToken);

impl<S> hyper::service::Service<Request<Incoming>> for Door<S>
where
    S: tower::Service<Request<Body>, Response = Response<Body>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        if let Err(refusal) = self.desk.policy.check(request.uri(), request.headers()) {
            let desk = Arc::clone(&self.desk);
            return Box::pin(async move {
                let reason = refusal.reason();
                desk.gate.refused_at_the_edge(reason).await;
                Ok(closing(StatusCode::FORBIDDEN, reason.code(), reason.message()))
            });
        }
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(self.peer));
        request.extensions_mut().insert(self.stopping.clone());
        let answered = AssertUnwindSafe(self.service.clone().oneshot(request)).catch_unwind();
        Box::pin(async move { answered.await.unwrap_or_else(|_| Ok(broken())) })
    }
}

/// A handler panicked: one request fails, nothing else does.
fn broken() -> Response<Body> {
    tracing::error!("a request handler panicked");
    let reason = Reason::Internal;
    closing(StatusCode::INTERNAL_SERVER_ERROR, reason.code(), reason.message())
}

/// The smallest buffer hyper works with.
const MIN_BUFFER: usize = 8 * 1024;
