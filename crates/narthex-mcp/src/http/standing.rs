//! What a legacy session is for besides messages: a stream that stands open, and an end.
//!
//! Nothing is ever announced on the stream, since nothing here changes under a client; it is kept
//! for clients that insist on one. So nothing is replayed either, whatever `Last-Event-ID` says.

use std::io;
use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use futures::stream;
use http::request::Parts;
use http::{Response, StatusCode};
use narthex_core::Reason;
use narthex_gate::{Admitted, Method, OpenSession};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Interval;

use super::connection::Stopping;
use super::early::{CHECK_EVERY, plain, streaming, ticks};
use super::endpoint::Endpoint;
use super::form::session_id;
use crate::dispatch::Dispatch;
use crate::fault::Fault;
use crate::reply::Reply;

impl Endpoint {
    /// Opens a stream. It ends with its session, with the credential it was opened with, and with
    /// the house.
    pub(super) async fn listen(
        self: &Arc<Self>,
        dispatch: &Dispatch,
        admitted: Admitted,
        parts: &Parts,
    ) -> Response<Body> {
        match place(dispatch, &admitted, parts).await {
            Ok((session, place)) => {
                let Stopping(stop) = parts.extensions.get().cloned().unwrap_or_default();
                let standing = Standing {
                    endpoint: Arc::clone(self),
                    admitted,
                    session,
                    stop,
                    sign: ticks(self.config.keep_alive_every),
                    check: ticks(CHECK_EVERY),
                    _place: place,
                };
                let body = Body::from_stream(stream::unfold(Some(standing), Standing::next));
                streaming(body, "text/event-stream")
            }
            Err(fault) => plain(Reply::fault(None, &fault)),
        }
    }

    /// Ends a session and everything that listens in it.
    pub(super) async fn end_session(
        &self,
        dispatch: &Dispatch,
        admitted: Admitted,
        parts: &Parts,
    ) -> Response<Body> {
        match ended(dispatch, &admitted, parts).await {
            Ok(()) => plain(Reply { status: StatusCode::NO_CONTENT, ..Reply::accepted() }),
            Err(fault) => plain(Reply::fault(None, &fault)),
        }
    }
}

async fn place(
    dispatch: &Dispatch,
    admitted: &Admitted,
    parts: &Parts,
) -> Result<(OpenSession, OwnedSemaphorePermit), Fault> {
    let mut method = named(LISTEN);
    let id = session_id(&parts.headers);
    let session = dispatch.session(admitted, id, &method).await?;
    method.session = Some(session.id.clone());
    let Some(place) = session.listen() else {
        let fault = Fault::too_many_streams();
        return dispatch.refuse(admitted, &method, Reason::LimitReached, fault).await;
    };
    dispatch.note(admitted, &method).await?;
    Ok((session, place))
}

async fn ended(dispatch: &Dispatch, admitted: &Admitted, parts: &Parts) -> Result<(), Fault> {
    let mut method = named(END);
    let id = session_id(&parts.headers);
    let session = dispatch.session(admitted, id, &method).await?;
    method.session = Some(session.id);
    dispatch.note(admitted, &method).await?;
    // If it ended meanwhile, it has ended.
    dispatch.gate.end_session(admitted, id.unwrap_or_default());
    Ok(())
}
/// A stream that is open.
struct Standing {
    endpoint: Arc<Endpoint>,
    admitted: Admitted,
    session: OpenSession,
    stop: tokio_util::sync::CancellationToken,
    sign: Interval,
    check: Interval,
    _place: OwnedSemaphorePermit,
}

impl Standing {
    /// The next sign of life: the first at once, so that the head of the response leaves.
    async fn next(standing: Option<Self>) -> Option<(io::Result<Bytes>, Option<Self>)> {
        let mut standing = standing?;
        loop {
            tokio::select! {
                biased;
                () = standing.session.ended.cancelled() => return None,
                () = standing.stop.cancelled() => return None,
                _ = standing.check.tick() => {
                    let gate = &standing.endpoint.gate;
                    if !gate.still_good(&standing.admitted).await {
                        // Revoked meanwhile: the response is cut, not ended.
                        return Some((Err(io::ErrorKind::PermissionDenied.into()), None));
                    }
                }
                _ = standing.sign.tick() => {
                    return Some((Ok(Bytes::from_static(b": listening\n\n")), Some(standing)));
                }
            }
        }
    }
}

fn named(name: &str) -> Method {
    Method { name: name.to_owned(), ..Method::default() }
}

/// What the ledger calls a stream being opened, which is no method of the protocol.
const LISTEN: &str = "(session stream)";
/// What it calls a session being ended.
const END: &str = "(session end)";
