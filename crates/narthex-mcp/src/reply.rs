//! What goes back: one message in bytes, or nothing but "accepted".

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use rmcp::model::ErrorData;
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
}

impl Reply {
    /// A notification was taken.
    pub(crate) const fn accepted() -> Self {
        Self { status: StatusCode::ACCEPTED, body: None, retry_after: None }
    }

    /// A result.
    pub(crate) fn result(id: &Id, result: &impl Serialize) -> Self {
        let message = Success { jsonrpc: "2.0", id, result };
        match serde_json::to_vec(&message) {
            Ok(bytes) => {
                Self { status: StatusCode::OK, body: Some(bytes.into()), retry_after: None }
            }
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
        Self { status: fault.status, body: Some(body.into()), retry_after: fault.retry_after }
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
