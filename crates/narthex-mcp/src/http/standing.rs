//! What a legacy session is for besides messages: a stream that stands open, and an end.
//!
//! What changes under a client is what somebody else defines: that a list of theirs is another, or that
//! a resource which the client watches has changed. Nothing is replayed, whatever `Last-Event-ID` says.

use std::io;
use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use futures::stream;
use http::request::Parts;
use http::{Response, StatusCode};
use narthex_core::Reason;
use narthex_gate::{Admitted, Method, OpenSession};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, broadcast};
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
        dispatch: Arc<Dispatch>,
        admitted: Admitted,
        parts: &Parts,
    ) -> Response<Body> {
        match place(&dispatch, &admitted, parts).await {
            Ok((session, place)) => {
                let Stopping(stop) = parts.extensions.get().cloned().unwrap_or_default();
                let standing = Standing {
                    endpoint: Arc::clone(self),
                    path: parts.uri.path().to_owned(),
                    changes: dispatch.changes(&admitted),
                    dispatch,
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
    path: String,
    /// What the path led to when it was last looked at.
    dispatch: Arc<Dispatch>,
    /// Resources that change.
    changes: Option<broadcast::Receiver<Arc<str>>>,
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
                    match standing.look_again().await {
                        // There is nothing left to listen to.
                        None => return None,
                        Some(news) if news.is_empty() => {}
                        Some(news) => return Some((Ok(news), Some(standing))),
                    }
                }
                uri = changed(&mut standing.changes) => {
                    let news = said("notifications/resources/updated", &json!({"uri": uri}));
                    return Some((Ok(news), Some(standing)));
                }
                _ = standing.sign.tick() => {
                    return Some((Ok(Bytes::from_static(b": listening\n\n")), Some(standing)));
                }
            }
        }
    }
}

impl Standing {
    /// What to say of lists that are others than before; none if the path leads nowhere any more.
    async fn look_again(&mut self) -> Option<Bytes> {
        if !self.dispatch.announces() {
            return Some(Bytes::new());
        }
        // What cannot be looked at now is looked at the next time.
        let Ok(room) = self.endpoint.rooms.room(&self.path, &self.admitted).await else {
            return Some(Bytes::new());
        };
        let now = room?.0;
        if Arc::ptr_eq(&now, &self.dispatch) {
            return Some(Bytes::new());
        }
        let before = std::mem::replace(&mut self.dispatch, now);
        if self.changes.is_none() {
            self.changes = self.dispatch.changes(&self.admitted);
        }
        let lists = before.lists_that_differ(&self.dispatch);
        let news = lists.into_iter().flat_map(|list| {
            said(&format!("notifications/{list}/list_changed"), &json!({})).to_vec()
        });
        Some(news.collect::<Vec<u8>>().into())
    }
}

/// The next resource that changes; never, where nobody says so.
async fn changed(changes: &mut Option<broadcast::Receiver<Arc<str>>>) -> Arc<str> {
    while let Some(open) = changes {
        match open.recv().await {
            Ok(uri) => return uri,
            // Who was slow to listen missed some.
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => *changes = None,
        }
    }
    std::future::pending().await
}

/// A message nobody asked for, as an event.
fn said(method: &str, params: &Value) -> Bytes {
    let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
    format!("event: message\ndata: {message}\n\n").into()
}

fn named(name: &str) -> Method {
    Method { name: name.to_owned(), ..Method::default() }
}

/// What the ledger calls a stream being opened, which is no method of the protocol.
const LISTEN: &str = "(session stream)";
/// What it calls a session being ended.
const END: &str = "(session end)";
