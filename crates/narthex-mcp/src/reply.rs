//! What goes back: one message in bytes, or nothing but "accepted".

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use rmcp::model::ErrorData;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;

use crate::fault::Fault;
use crate::message::Id;

/// An answer, ready to be sent on any transport.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    /// None for a notification.
    pub(crate) body: Option<Bytes>,
    pub(crate) retry_after: Option<Duration>,
    /// The id of the session that was opened with it.
    pub(crate) session: Option<HeaderValue>,
}

impl Reply {
    /// A notification was taken.
    pub(crate) const fn accepted() -> Self {
        Self { status: StatusCode::ACCEPTED, body: None, retry_after: None, session: None }
    }

    /// A result.
    pub(crate) fn result(id: &Id, result: &impl Serialize) -> Self {
        let message = Success { jsonrpc: "2.0", id, result };
        match serde_json::to_vec(&message) {
            Ok(bytes) => Self {
                status: StatusCode::OK,
                body: Some(bytes.into()),
                retry_after: None,
                session: None,
            },
            Err(error) => {
                tracing::error!(%error, "a result could not be written");
                Self::fault(Some(id), &Fault::internal())
            }
        }
    }

    /// An error.
    pub(crate) fn fault(id: Option<&Id>, fault: &Fault) -> Self {
        let message = Failure { jsonrpc: "2.0", id, error: &fault.error };
        let body = serde_json::to_vec(&message).unwrap_or_default();
        Self {
            status: fault.status,
            body: Some(body.into()),
            retry_after: fault.retry_after,
            session: None,
        }
    }

    /// The same, with the id of the session it opens: told here and never again.
    pub(crate) fn in_session(mut self, id: &SecretString) -> Self {
        self.session = HeaderValue::from_str(id.expose_secret()).ok().map(|mut value| {
            value.set_sensitive(true);
            value
        });
        self
    }
}

#[derive(Serialize)]
struct Success<'a, R> {
    jsonrpc: &'static str,
    id: &'a Id,
    result: &'a R,
}

#[derive(Serialize)]
struct Failure<'a> {
    jsonrpc: &'static str,
    id: Option<&'a Id>,
    error: &'a ErrorData,
}
