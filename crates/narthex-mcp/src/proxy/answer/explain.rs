//! What went wrong on the way, in words that say what to do. Never the token, never a header.

use std::borrow::Cow;
use std::fmt::Write as _;

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http::header::RETRY_AFTER;
use reqwest::Response;
use serde_json::{Value, json};

use crate::fault::Fault;

/// An exchange that brought no answer.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The server cannot be reached, or broke off.
    Unreachable(Cow<'static, str>),
    /// It answered over HTTP with something that is no message.
    Status { status: StatusCode, code: Option<String>, said: String },
    /// It answered with more than is taken.
    TooLarge,
    /// It ended its answer without one.
    Unanswered,
}

impl Trouble {
    pub(crate) fn of_client(error: &reqwest::Error) -> Self {
        let said = if error.is_timeout() {
            "the server did not answer in time; try again"
        } else if error.is_connect() {
            "the server cannot be reached; check that it runs, and the URL given to the proxy"
        } else {
            "the connection to the server broke; try again"
        };
        Self::Unreachable(said.into())
    }

    /// From our own error body if there is one, otherwise from the status alone.
    pub(crate) fn of_status(status: StatusCode, seconds: Option<u64>, body: &[u8]) -> Self {
        let error = serde_json::from_slice::<Value>(body).ok();
        let field = |name: &str| {
            let text = error.as_ref()?.get("error")?.get(name)?.as_str()?;
            Some(text.chars().take(MAX_SAID_CHARS).collect::<String>())
        };
        let advice = match status {
            StatusCode::UNAUTHORIZED => {
                "check the token given to the proxy, or ask the owner for a new one"
            }
            StatusCode::FORBIDDEN => "the owner decides who may come in",
            StatusCode::NOT_FOUND => "check the path of the URL given to the proxy",
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => "try again later",
            status if status.is_redirection() => {
                "the server points elsewhere, and the proxy does not follow; give it the final URL"
            }
            _ => "this is not an answer an MCP server gives; check the URL given to the proxy",
        };
        let mut said = match field("message") {
            Some(message) => format!("{message} ({advice})"),
            None => format!("the server answered {}: {advice}", status.as_u16()),
        };
        if let Some(seconds) = seconds {
            // Writing to a String cannot fail.
            let _ = write!(said, "; wait {seconds} s");
        }
        Self::Status { status, code: field("code"), said }
    }

    pub(crate) fn into_fault(self) -> Fault {
        match self {
            Self::Unreachable(said) => Fault::bridge(said, json!({ "code": "unreachable" })),
            Self::Status { status, code, said } => {
                Fault::bridge(said, json!({ "code": code, "status": status.as_u16() }))
            }
            Self::TooLarge => Fault::bridge(
                "the answer is larger than the proxy takes",
                json!({ "code": "answer_too_large" }),
            ),
            Self::Unanswered => Fault::bridge(
                "the server ended its answer without one; try again",
                json!({ "code": "unanswered" }),
            ),
        }
    }
}

/// A response to a notification: accepted, or what was wrong.
pub(crate) async fn check_status(response: Response) -> Result<StatusCode, Trouble> {
    let status = response.status();
    if status.is_success() {
        return Ok(status);
    }
    let seconds = retry_after(&response);
    let body = read(response, MAX_ERROR_BYTES).await?;
    Err(Trouble::of_status(status, seconds, &body))
}

pub(crate) fn retry_after(response: &Response) -> Option<u64> {
    response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok()
}

/// A body, up to a bound.
pub(crate) async fn read(mut response: Response, max_bytes: usize) -> Result<Bytes, Trouble> {
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| Trouble::of_client(&error))? {
        if body.len() + chunk.len() > max_bytes {
            return Err(Trouble::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

const MAX_SAID_CHARS: usize = 300;
const MAX_ERROR_BYTES: usize = 64 * 1024;
