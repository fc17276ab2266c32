//! Answers that are long in coming: the response's head leaves early, and something is sent now
//! and then, so that no proxy or client in between takes silence for death.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::{BufMut, Bytes, BytesMut};
use futures::stream;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use narthex_gate::Admitted;
use tokio::time::{Interval, MissedTickBehavior};

use super::endpoint::Endpoint;
use super::negotiate::Takes;
use super::refuse::{challenge, retry_after, stamp};
use crate::era::SESSION_HEADER;
use crate::progress::Said;
use crate::reply::Reply;

/// A message being answered.
pub(super) type Work = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// The answer itself if it comes soon, otherwise a response that will bring it.
pub(super) async fn respond(
    endpoint: &Arc<Endpoint>,
    admitted: Admitted,
    takes: Takes,
    mut work: Work,
    mut said: Said,
) -> Response<Body> {
    let grace = endpoint.config.early_headers_after;
    let first = tokio::select! {
        biased;
        reply = &mut work => {
            let rest = said.rest();
            if rest.is_empty() || !takes.events {
                return plain(reply);
            }
            let all = Style::Events.all(rest, reply.body.unwrap_or_default());
            return streaming(Body::from(all), Style::Events.content_type());
        }
        word = said.next() => Some(word),
        () = tokio::time::sleep(grace) => None,
    };
    let waiting = Waiting {
        endpoint: Arc::clone(endpoint),
        admitted,
        work,
        style: if takes.events { Style::Events } else { Style::Json },
        sign: ticks(endpoint.config.keep_alive_every),
        check: ticks(CHECK_EVERY),
        first,
        said,
    };
    waiting.into_response()
}

/// An answer that is there.
pub(super) fn plain(reply: Reply) -> Response<Body> {
    let Reply { status, body, retry_after: wait, session } = reply;
    let empty = body.is_none();
    let mut response = Response::new(body.map_or_else(Body::empty, Body::from));
    *response.status_mut() = status;
    stamp(&mut response, Style::Json.content_type());
    if empty {
        response.headers_mut().remove(CONTENT_TYPE);
    }
    if status == StatusCode::UNAUTHORIZED {
        challenge(&mut response);
    }
    retry_after(&mut response, wait);
    if let Some(id) = session {
        response.headers_mut().insert(SESSION_HEADER, id);
    }
    response
}

/// A response whose head has been sent and whose message has not.
struct Waiting {
    endpoint: Arc<Endpoint>,
    admitted: Admitted,
    work: Work,
    style: Style,
    sign: Interval,
    check: Interval,
    /// What was said before the head left.
    first: Option<Bytes>,
    said: Said,
}

#[derive(Clone, Copy)]
enum Style {
    /// One event with the message; comments until then.
    Events,
    /// The message; white space until then.
    Json,
}

impl Waiting {
    fn into_response(self) -> Response<Body> {
        let content_type = self.style.content_type();
        let body = Body::from_stream(stream::unfold(Some(self), Self::next));
        streaming(body, content_type)
    }

    /// The next piece. Dropping the response drops the work, which cancels the call.
    async fn next(waiting: Option<Self>) -> Option<(io::Result<Bytes>, Option<Self>)> {
        let mut waiting = waiting?;
        if let Some(first) = waiting.first.take() {
            return Some((Ok(waiting.style.message(first)), Some(waiting)));
        }
        loop {
            tokio::select! {
                biased;
                reply = &mut waiting.work => {
                    let rest = waiting.said.rest();
                    let piece = waiting.style.all(rest, reply.body.unwrap_or_default());
                    return Some((Ok(piece), None));
                }
                word = waiting.said.next() => {
                    return Some((Ok(waiting.style.message(word)), Some(waiting)));
                }
                _ = waiting.check.tick() => {
                    let good = waiting.endpoint.gate.still_good(&waiting.admitted).await;
                    if !good {
                        // Revoked meanwhile: the response is cut, not ended.
                        return Some((Err(io::ErrorKind::PermissionDenied.into()), None));
                    }
                }
                _ = waiting.sign.tick() => {
                    return Some((Ok(waiting.style.sign_of_life()), Some(waiting)));
                }
            }
        }
    }
}

impl Style {
    const fn content_type(self) -> &'static str {
        match self {
            Self::Events => "text/event-stream",
            Self::Json => "application/json",
        }
    }

    fn sign_of_life(self) -> Bytes {
        match self {
            Self::Events => Bytes::from_static(b": still working\n\n"),
            Self::Json => Bytes::from_static(b" "),
        }
    }

    /// What was said before the answer, and the answer.
    fn all(self, before: Vec<Bytes>, answer: Bytes) -> Bytes {
        if before.is_empty() {
            return self.message(answer);
        }
        let mut all = BytesMut::new();
        for message in before.into_iter().chain([answer]) {
            all.put(self.message(message));
        }
        all.freeze()
    }

    fn message(self, json: Bytes) -> Bytes {
        match self {
            Self::Json => json,
            Self::Events => {
                // JSON as we write it holds no line break.
                let mut event = BytesMut::with_capacity(json.len() + 32);
                event.put_slice(b"event: message\ndata: ");
                event.put(json);
                event.put_slice(b"\n\n");
                event.freeze()
            }
        }
    }
}

/// A response that arrives piece by piece.
pub(super) fn streaming(body: Body, content_type: &'static str) -> Response<Body> {
    let mut response = Response::new(body);
    stamp(&mut response, content_type);
    // Some proxies hold a stream back unless told not to.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

pub(super) fn ticks(every: Duration) -> Interval {
    let mut ticks = tokio::time::interval(every.max(Duration::from_millis(1)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// How soon a revoked credential ends a response that is under way.
pub(super) const CHECK_EVERY: Duration = Duration::from_millis(500);
