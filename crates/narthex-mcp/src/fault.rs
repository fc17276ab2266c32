//! The one mapper: what went wrong, as a JSON-RPC error and an HTTP status.

use std::borrow::Cow;
use std::time::Duration;

use http::StatusCode;
use narthex_core::{Bound, Reason};
use narthex_gate::{CallError, Refusal};
use rmcp::model::{ErrorCode, ErrorData, ProtocolVersion};
use serde_json::{Value, json};

use crate::era::{Era, SERVED};
use crate::strict;

/// Something the client's message ran into. Holds nothing internal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    pub(crate) error: Box<ErrorData>,
    pub(crate) status: StatusCode,
    pub(crate) retry_after: Option<Duration>,
}

impl Fault {
    fn new(status: StatusCode, code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { error: Box::new(ErrorData::new(code, message, None)), status, retry_after: None }
    }

    fn with_data(mut self, data: Value) -> Self {
        self.error.data = Some(data);
        self
    }

    /// The bytes are no JSON.
    pub(crate) fn unparsable(fault: strict::Fault) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::PARSE_ERROR, fault.to_string())
    }

    /// JSON, but no message.
    pub(crate) fn invalid_request(why: &'static str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::INVALID_REQUEST, why)
    }

    /// The parameters of a method are not what it needs.
    pub(crate) fn invalid_params(why: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::OK, ErrorCode::INVALID_PARAMS, why)
    }

    /// What a modern request must carry in `_meta` is missing or misshapen.
    pub(crate) fn invalid_meta(why: &'static str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::INVALID_PARAMS, why)
    }

    /// A header is missing, doubled, unreadable, or says something else than the body.
    pub(crate) fn header_mismatch(why: &'static str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::HEADER_MISMATCH, why)
    }

    /// A revision that is not served.
    pub(crate) fn unsupported_version(requested: &str) -> Self {
        let requested: String = requested.chars().take(MAX_ECHO_CHARS).collect();
        let supported: Vec<&str> = SERVED.iter().map(ProtocolVersion::as_str).collect();
        Self::new(
            StatusCode::BAD_REQUEST,
            ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
            "unsupported protocol version",
        )
        .with_data(json!({ "supported": supported, "requested": requested }))
    }

    /// A method that does not exist, or whose capability is not advertised.
    pub(crate) fn method_not_found(era: Era) -> Self {
        let status = match era {
            Era::Modern => StatusCode::NOT_FOUND,
            Era::Legacy => StatusCode::OK,
        };
        Self::new(status, ErrorCode::METHOD_NOT_FOUND, Reason::UnknownMethod.message())
    }

    /// A resource that does not exist, or not for this caller: the same to the byte.
    pub(crate) fn unknown_resource(uri: &str, era: Era) -> Self {
        let uri: String = uri.chars().take(MAX_URI_CHARS).collect();
        let code = match era {
            Era::Modern => ErrorCode::INVALID_PARAMS,
            Era::Legacy => ErrorCode::RESOURCE_NOT_FOUND,
        };
        Self::new(StatusCode::OK, code, "unknown resource").with_data(json!({ "uri": uri }))
    }

    /// A legacy message that names no session, where sessions are kept.
    pub(crate) fn session_required() -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            ErrorCode::INVALID_REQUEST,
            "one Mcp-Session-Id header is required here; start a session with initialize",
        )
        .with_data(json!({ "code": Reason::UnknownSession.code() }))
    }

    /// A session that never was, that ended, or that is another agent's.
    pub(crate) fn unknown_session() -> Self {
        let reason = Reason::UnknownSession;
        Self::new(StatusCode::NOT_FOUND, ErrorCode::INVALID_REQUEST, reason.message())
            .with_data(json!({ "code": reason.code() }))
    }

    /// One session more than an agent may have.
    pub(crate) fn too_many_sessions() -> Self {
        Self::limit(
            StatusCode::TOO_MANY_REQUESTS,
            "this agent has as many sessions open as it may have; end one with DELETE, or wait until one was idle for long enough",
        )
    }

    /// One stream more than a session may have.
    pub(crate) fn too_many_streams() -> Self {
        Self::limit(StatusCode::CONFLICT, "this session has as many streams open as it may have")
    }

    fn limit(status: StatusCode, why: &'static str) -> Self {
        Self::new(status, ErrorCode::INVALID_REQUEST, why)
            .with_data(json!({ "code": Reason::LimitReached.code() }))
    }

    /// A person must go somewhere first (2025-11-25).
    pub(crate) fn url_elicitation_required(why: &'static str, data: Value) -> Self {
        Self::new(StatusCode::OK, URL_ELICITATION_REQUIRED, why).with_data(data)
    }

    /// Something of ours that could not be written as JSON.
    pub(crate) fn internal() -> Self {
        Self::because(StatusCode::INTERNAL_SERVER_ERROR, Reason::Internal)
    }

    /// A call that ended without an answer.
    pub(crate) fn of_call(error: CallError) -> Self {
        match error {
            CallError::UnknownTool { name } => unknown_tool(&name),
            CallError::Refused { reason, message } => {
                Self::invalid_params(message).with_data(json!({ "code": reason.code() }))
            }
            CallError::Input(_) => Self::invalid_params(Reason::InputNeeded.message()),
            CallError::Waiting(waiting) => {
                Self::invalid_params(waiting.message()).with_data(json!({
                    "code": waiting.because.code(),
                    "approval": { "id": waiting.approval, "until": waiting.until },
                }))
            }
            CallError::Upstream { code, message, data } => {
                let code = ErrorCode(i32::try_from(code).unwrap_or(ErrorCode::INTERNAL_ERROR.0));
                let fault = Self::new(StatusCode::OK, code, message);
                match data.and_then(|data| serde_json::from_str(&data).ok()) {
                    Some(data) => fault.with_data(data),
                    None => fault,
                }
            }
            CallError::Unavailable => Self::because(UNAVAILABLE, Reason::Unavailable).retry(RETRY),
            CallError::Overloaded => Self::new(
                UNAVAILABLE,
                ErrorCode::INTERNAL_ERROR,
                "too many calls are under way; try again later",
            )
            .with_data(json!({ "code": "overloaded" }))
            .retry(RETRY),
            CallError::Unauthorized => {
                Self::because(StatusCode::UNAUTHORIZED, Reason::Unauthorized)
            }
            CallError::Internal => Self::internal(),
        }
    }

    /// Someone who is not let in, on a transport without status codes.
    pub(crate) fn of_refusal(refusal: &Refusal) -> Self {
        let fault = Self::because(UNAVAILABLE, refusal.reason);
        match refusal.retry_after {
            Some(wait) => fault.retry(wait),
            None => fault,
        }
    }

    /// The bridge could not bring an answer back.
    pub(crate) fn bridge(said: impl Into<Cow<'static, str>>, data: Value) -> Self {
        Self::new(UNAVAILABLE, ErrorCode::INTERNAL_ERROR, said).with_data(data)
    }

    fn because(status: StatusCode, reason: Reason) -> Self {
        Self::new(status, ErrorCode::INTERNAL_ERROR, reason.message())
            .with_data(json!({ "code": reason.code() }))
    }

    /// As a client of this era takes it: one that lacks a capability is told so by the status too,
    /// where the protocol has that error.
    pub(crate) fn in_era(mut self, era: Era) -> Self {
        let lacks = self.error.code == ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY;
        if lacks && era == Era::Modern {
            self.status = StatusCode::BAD_REQUEST;
        }
        self
    }

    fn retry(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }
}

/// Unknown and denied are the same to the byte; the name is cut, since it is the client's.
fn unknown_tool(name: &str) -> Fault {
    let name: String = name.chars().take(Bound::TOOL_NAME_CHARS).collect();
    Fault::invalid_params(format!("unknown tool: {name}"))
}

/// Of revision 2025-11-25 alone, so that rmcp has no name for it.
const URL_ELICITATION_REQUIRED: ErrorCode = ErrorCode(-32042);
const UNAVAILABLE: StatusCode = StatusCode::SERVICE_UNAVAILABLE;
const RETRY: Duration = Duration::from_secs(1);
const MAX_ECHO_CHARS: usize = 64;
const MAX_URI_CHARS: usize = 256;

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use narthex_gate::CallError;

    use super::{Era, Fault};

    #[test]
    fn a_server_that_wants_more_of_a_client_is_a_bad_request_in_the_newer_era_alone() {
        for (code, era, status) in [
            (-32021, Era::Modern, StatusCode::BAD_REQUEST),
            (-32021, Era::Legacy, StatusCode::OK),
            (-32603, Era::Modern, StatusCode::OK),
        ] {
            let said = CallError::Upstream { code, message: "no".to_owned(), data: None };
            assert_eq!(Fault::of_call(said).in_era(era).status, status, "{code} {era:?}");
        }
    }
}
