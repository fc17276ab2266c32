//! What an owner decides about fetching, with a named bound for everything.

use std::time::Duration;

/// What may be reached, and how much of it is read.
#[derive(Debug, Clone)]
pub struct EgressConfig {
    /// Hosts inside, exactly as a URL names them: `host` (port 443) or `host:port`. A name's
    /// private addresses are then accepted. A special address (loopback, link-local, metadata) is
    /// accepted only if it is listed itself, as an address.
    pub allow: Vec<String>,
    /// Whether http and https to this machine are fetched.
    pub loopback_http: LoopbackHttp,
    /// Certificates (PEM) that are trusted besides the public authorities.
    pub extra_roots: Option<Vec<u8>>,
    /// Bytes a URL may have.
    pub url_bytes: usize,
    /// Bytes of an answer's body.
    pub response_bytes: usize,
    /// Bytes of an answer's headers, names and values.
    pub header_bytes: usize,
    /// Redirects followed, at most ten.
    pub redirects: usize,
    /// Addresses an answer of the name server may have.
    pub addresses: usize,
    /// Aliases (CNAME) an answer of the name server may go through.
    pub aliases: usize,
    /// From the first look-up to the last byte, all redirects and waiting included.
    pub deadline: Duration,
    /// For one connection.
    pub connect_deadline: Duration,
    /// Requests under way at once.
    pub concurrent: usize,
    /// Requests that wait for their turn; one more is refused.
    pub waiting: usize,
}

impl Default for EgressConfig {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            loopback_http: LoopbackHttp::Refused,
            extra_roots: None,
            url_bytes: 2048,
            response_bytes: 1 << 20,
            header_bytes: 32 << 10,
            redirects: 5,
            addresses: 32,
            aliases: 8,
            deadline: Duration::from_secs(10),
            connect_deadline: Duration::from_secs(3),
            concurrent: 16,
            waiting: 64,
        }
    }
}

/// Whether this machine itself may be reached, and in clear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoopbackHttp {
    /// No.
    #[default]
    Refused,
    /// Yes, for `localhost` and the loopback addresses by those names alone: a name that resolves
    /// to this machine stays refused, and so does a redirect from outside.
    Allowed,
}

/// A policy that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// An entry is not a host or `host:port`.
    #[error("egress.allow: `{entry}` is not a host or host:port: {fault}")]
    Entry {
        /// As it was written.
        entry: String,
        /// What is wrong.
        fault: crate::UrlFault,
    },
    /// An entry is an address that stands for nobody or for many.
    #[error("egress.allow: `{0}` is not the address of one machine")]
    Unlistable(String),
    /// More redirects than anybody needs.
    #[error("egress.redirects: at most {MAX_REDIRECTS}")]
    Redirects,
    /// A bound of nothing.
    #[error("egress.{0}: must be more than zero")]
    Zero(&'static str),
    /// The extra certificates cannot be used.
    #[error("egress.extra_roots: {0}")]
    Roots(String),
}

/// The most redirects that can be configured.
const MAX_REDIRECTS: usize = 10;

impl EgressConfig {
    pub(crate) fn check_bounds(&self) -> Result<(), PolicyError> {
        if self.redirects > MAX_REDIRECTS {
            return Err(PolicyError::Redirects);
        }
        let zero = [
            ("url_bytes", self.url_bytes == 0),
            ("response_bytes", self.response_bytes == 0),
            ("header_bytes", self.header_bytes == 0),
            ("addresses", self.addresses == 0),
            ("deadline", self.deadline.is_zero()),
            ("connect_deadline", self.connect_deadline.is_zero()),
            ("concurrent", self.concurrent == 0),
        ];
        match zero.iter().find(|(_, is_zero)| *is_zero) {
            Some((name, _)) => Err(PolicyError::Zero(name)),
            None => Ok(()),
        }
    }
}
