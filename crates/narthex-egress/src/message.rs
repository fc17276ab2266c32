//! What is asked and what comes back.

use std::fmt;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName};
use http::{Method, StatusCode};

use crate::error::EgressError;

/// What to fetch. Headers are for the origin of `url` alone.
#[derive(Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The URL, as it came: it is judged as text.
    pub url: String,
    /// Headers to send. Those about the connection are the client's.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Request {
    /// A GET without headers.
    pub fn get(url: impl Into<String>) -> Self {
        Self { method: Method::GET, url: url.into(), headers: HeaderMap::new(), body: Bytes::new() }
    }

    pub(crate) fn check_headers(&self) -> Result<(), EgressError> {
        check_headers(&self.headers)
    }
}

/// Whether these are the caller's to set.
pub(crate) fn check_headers(headers: &HeaderMap) -> Result<(), EgressError> {
    let not_ours =
        |name: &&HeaderName| NOT_THE_CALLERS.contains(name) || name.as_str().starts_with("proxy-");
    match headers.keys().find(not_ours) {
        Some(name) => Err(EgressError::Header(name.to_string())),
        None => Ok(()),
    }
}

/// Shows neither path, query, header values nor body.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// What came back: the answer to the last hop.
#[derive(Clone)]
pub struct Fetched {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The whole body, under its cap.
    pub body: Bytes,
}

/// Shows neither header values nor body.
impl fmt::Debug for Fetched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetched")
            .field("status", &self.status)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("body_bytes", &self.body.len())
            .finish()
    }
}

/// They decide whom a request reaches, where it ends, or how the answer is packed.
const NOT_THE_CALLERS: &[HeaderName] = &[
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    header::EXPECT,
    header::ACCEPT_ENCODING,
    header::RANGE,
];
