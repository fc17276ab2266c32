//! What can stop a fetch, and what the owner can do about it.

use std::net::IpAddr;

use crate::address::AddressKind;
use crate::parse::UrlFault;
use crate::resolve::ResolveError;

/// Why nothing was fetched. No message holds a header's value, a user name, a path or a query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EgressError {
    /// The text of the URL.
    #[error("the URL is refused: {0}")]
    Url(#[from] UrlFault),
    /// A name that only means something inside.
    #[error("{host} is a name of the inside; if it is yours, add `{entry}` to egress.allow")]
    Name {
        /// The name.
        host: String,
        /// What to add.
        entry: String,
    },
    /// An address that is not anybody's on the internet. One is enough for all of a name.
    #[error("{host} leads to {address}, {kind}; {}", advice(.kind, .entry, *.address))]
    Address {
        /// As the URL names it.
        host: String,
        /// Where it leads.
        address: IpAddr,
        /// What that is.
        kind: AddressKind,
        /// What to add.
        entry: String,
    },
    /// No usable answer from the name server.
    #[error("{host} was not resolved: {why}")]
    Unresolved {
        /// The name.
        host: String,
        /// What went wrong.
        why: ResolveError,
    },
    /// A redirect that is not followed.
    #[error("a redirect from {from} is not followed: {fault}")]
    Redirect {
        /// The origin that sent it.
        from: String,
        /// Why not.
        fault: RedirectFault,
    },
    /// A header that the client sets itself, or that is for proxies.
    #[error("the header {0} is not the caller's to set")]
    Header(String),
    /// Too many at once.
    #[error("too many requests are waiting (egress.waiting)")]
    Busy,
    /// Out of time.
    #[error("no complete answer within {0:?} (egress.deadline)")]
    Deadline(std::time::Duration),
    /// No connection, no handshake, or the other side broke off.
    #[error("{origin} could not be reached: {detail}")]
    Unreachable {
        /// Whom.
        origin: String,
        /// What the connection said, in one line.
        detail: String,
    },
    /// The connection went somewhere that was not checked. Cannot happen; looked at all the same.
    #[error("{origin} was connected to an address that was not checked")]
    Peer {
        /// Whom.
        origin: String,
    },
    /// The body is too long.
    #[error("{origin} answered with more than {cap} bytes (egress.response_bytes)")]
    ResponseBytes {
        /// Who.
        origin: String,
        /// How much would have been read.
        cap: usize,
    },
    /// The headers are too long.
    #[error("{origin} answered with more than {cap} bytes of headers (egress.header_bytes)")]
    HeaderBytes {
        /// Who.
        origin: String,
        /// How much would have been taken.
        cap: usize,
    },
    /// Compressed, although that was not asked for.
    #[error("{origin} answered in an encoding that was not asked for")]
    Encoded {
        /// Who.
        origin: String,
    },
    /// The inner client could not be built.
    #[error("the HTTP client could not be built: {0}")]
    Client(String),
}

/// Why a redirect is not followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedirectFault {
    /// One more than allowed.
    #[error("it is one more than {0} (egress.redirects)")]
    TooMany(usize),
    /// None, several, or not text.
    #[error("it does not say where to in one Location")]
    Location,
    /// From https to http.
    #[error("it leads from https to http")]
    Downgrade,
    /// From outside to a host that is allowed only by its own name.
    #[error("it leads from outside to {0}, which is only for who names it")]
    Inside(String),
    /// The body, or a method that changes something, would go to another origin.
    #[error("it asks to send a {0} again, elsewhere or without saying how")]
    Resend(http::Method),
    /// A kept line stays where it leads, and sends nothing again unless it was told how.
    #[error("a kept line follows 307 and 308 on its own origin, and nothing else")]
    OffTheLine,
    /// The target was judged like any other, and refused.
    #[error("{0}")]
    Target(Box<EgressError>),
}

impl EgressError {
    /// Whether the filter said no (so that trying again changes nothing), rather than the network.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Redirect { fault: RedirectFault::Target(inner), .. } => inner.is_refusal(),
            Self::Unresolved { why, .. } => !why.may_pass(),
            Self::Busy | Self::Deadline(_) | Self::Unreachable { .. } => false,
            _ => true,
        }
    }
}

fn advice(kind: &AddressKind, entry: &str, address: IpAddr) -> String {
    let literal = match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    };
    let port = entry.rsplit(':').next().unwrap_or_default();
    match kind {
        AddressKind::Private(_) => format!("if it is yours, add `{entry}` to egress.allow"),
        _ if !kind.can_be_listed(address) => "it is never reached".to_owned(),
        _ if entry == format!("{literal}:{port}") => {
            format!("it is reached only if `{entry}` is in egress.allow")
        }
        _ => format!(
            "it is reached only if `{entry}` and the address `{literal}:{port}` are in egress.allow"
        ),
    }
}
