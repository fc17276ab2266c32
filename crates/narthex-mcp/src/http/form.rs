//! What a request looks like from outside: its method, its media types, the session it names.
//! Known before anyone is asked who they are.

use axum::body::Body;
use http::header::{self, HeaderValue};
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};

use super::early::plain;
use super::negotiate::{Takes, sends_json, takes, takes_events};
use super::refuse::closing;
use crate::era::{Era, SESSION_HEADER};
use crate::reply::Reply;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A message, and what may be answered.
    Message(Takes),
    /// A stream to listen to, in a session.
    Listen,
    /// The end of a session.
    End,
}

/// A response that was decided before the message was read. Boxed: it is the rare case.
pub(super) type Refused = Box<Response<Body>>;

impl Form {
    /// GET and DELETE are for sessions, so only where those are kept, and only for the revisions
    /// that know them.
    pub(super) fn of(parts: &Parts, sessions: bool) -> Result<Self, Refused> {
        match parts.method {
            Method::POST => message(&parts.headers),
            Method::GET | Method::DELETE if sessions => in_session(parts),
            _ => Err(Box::new(not_allowed(sessions))),
        }
    }
}

/// The session a request names, if it names exactly one.
pub(super) fn session_id(headers: &HeaderMap) -> Option<&str> {
    let mut ids = headers.get_all(SESSION_HEADER).iter();
    match (ids.next(), ids.next()) {
        (Some(id), None) => id.to_str().ok(),
        _ => None,
    }
}

fn message(headers: &HeaderMap) -> Result<Form, Refused> {
    if !sends_json(headers) {
        return Err(Box::new(closing(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            "the body must be application/json, in UTF-8 and not compressed",
        )));
    }
    takes(headers).map(Form::Message).ok_or_else(|| {
        Box::new(not_acceptable(
            "answers are application/json, and text/event-stream for calls that take long",
        ))
    })
}

fn in_session(parts: &Parts) -> Result<Form, Refused> {
    match Era::of_headers(&parts.headers) {
        Ok(Era::Legacy) => {}
        Ok(Era::Modern) => return Err(Box::new(not_allowed(true))),
        Err(fault) => return Err(Box::new(plain(Reply::fault(None, &fault)))),
    }
    if parts.method == Method::DELETE {
        return Ok(Form::End);
    }
    if takes_events(&parts.headers) {
        Ok(Form::Listen)
    } else {
        Err(Box::new(not_acceptable("a stream is text/event-stream")))
    }
}

fn not_acceptable(why: &str) -> Response<Body> {
    closing(StatusCode::NOT_ACCEPTABLE, "not_acceptable", why)
}

fn not_allowed(sessions: bool) -> Response<Body> {
    let (allowed, why) = if sessions {
        ("GET, POST, DELETE", "this endpoint takes POST, and GET and DELETE for sessions")
    } else {
        ("POST", "this endpoint takes POST; there are no sessions to open or end")
    };
    let mut response = closing(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", why);
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    response
}
