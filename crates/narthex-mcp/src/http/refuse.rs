//! Answers that are given before a message was read: `{"error":{"code","message"}}`.

use std::time::Duration;

use axum::body::Body;
use http::header::{self, HeaderValue};
use http::{Response, StatusCode};
use narthex_core::Reason;
use narthex_gate::Refusal;
use serde_json::json;

/// An error body in the form every route of the house uses, with the headers that go with it.
pub fn error_response(status: StatusCode, code: &str, message: &str) -> Response<Body> {
    let body = json!({ "error": { "code": code, "message": message } }).to_string();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    stamp(&mut response, "application/json");
    response
}

/// The same, and the connection ends with it: the request's body was not read, and nothing that
/// was sent after it is looked at.
pub(super) fn closing(status: StatusCode, code: &str, message: &str) -> Response<Body> {
    let mut response = error_response(status, code, message);
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Someone the gate does not let in.
pub(super) fn turned_away(refusal: &Refusal) -> Response<Body> {
    let status = match refusal.reason {
        Reason::Unauthorized | Reason::AgentRequired => StatusCode::UNAUTHORIZED,
        Reason::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Reason::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::FORBIDDEN,
    };
    let mut response = closing(status, refusal.reason.code(), refusal.reason.message());
    if status == StatusCode::UNAUTHORIZED {
        challenge(&mut response);
    }
    let wait = match status {
        StatusCode::SERVICE_UNAVAILABLE => Some(refusal.retry_after.unwrap_or(Duration::ZERO)),
        _ => refusal.retry_after,
    };
    retry_after(&mut response, wait);
    response
}

/// Too much is held already.
pub(super) fn overloaded() -> Response<Body> {
    let mut response = closing(
        StatusCode::SERVICE_UNAVAILABLE,
        Reason::Unavailable.code(),
        "too much is under way; try again later",
    );
    retry_after(&mut response, Some(Duration::ZERO));
    response
}

pub(super) fn challenge(response: &mut Response<Body>) {
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
}

/// Whole seconds, rounded up, at least one.
pub(super) fn retry_after(response: &mut Response<Body>, wait: Option<Duration>) {
    if let Some(wait) = wait {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)));
    }
}

/// The headers every answer carries.
pub(super) fn stamp(response: &mut Response<Body>, content_type: &'static str) {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}
