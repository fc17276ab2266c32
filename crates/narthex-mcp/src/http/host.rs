//! Who may be addressed here, and from where: one total value, closed unless opened.
//!
//! A browser can be made to send requests to this machine under any name (DNS rebinding) and
//! from any page. So a request must name a host we answer to, and if it says which page it comes
//! from, that page must be listed, on loopback as anywhere else.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderName, Uri};
use narthex_core::Reason;

/// Which hosts and origins are answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPolicy {
    hosts: Vec<Allowed>,
    origins: Vec<Origin>,
}

/// A policy that cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostPolicyError {
    /// Nothing says under which names it will be reached.
    #[error("listening on {0} needs the host names it is reached by (hosts)")]
    NeedsHosts(IpAddr),
    /// Not a host.
    #[error("{0:?} is no host: write a name or address, with :port if only that port is meant")]
    Host(String),
    /// Not an origin.
    #[error("{0:?} is no origin: write scheme://host or scheme://host:port in lower case")]
    Origin(String),
}

/// A request that is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostRefusal {
    /// It names no host, several, or one that is not ours.
    #[error("this host name is not served here")]
    Host,
    /// It comes from a page that is not listed.
    #[error("requests from this origin are not served")]
    Origin,
}

impl HostRefusal {
    /// The reason, as the error body and the ledger name it.
    pub const fn reason(self) -> Reason {
        match self {
            Self::Host => Reason::ForbiddenHost,
            Self::Origin => Reason::ForbiddenOrigin,
        }
    }
}

impl HostPolicy {
    /// The policy for an address to listen on: a loopback address is reached as `localhost`,
    /// `127.0.0.1` and `[::1]`; any other needs names. Entries are exact; there are no wildcards.
    pub fn from_bind(
        bind: IpAddr,
        hosts: &[String],
        origins: &[String],
    ) -> Result<Self, HostPolicyError> {
        let mut allowed: Vec<Allowed> = Vec::new();
        if bind.is_loopback() {
            let names = [
                Host::Name("localhost".to_owned()),
                Host::Address(Ipv4Addr::LOCALHOST.into()),
                Host::Address(Ipv6Addr::LOCALHOST.into()),
                Host::Address(bind),
            ];
            allowed.extend(names.map(|host| Allowed { host, port: None }));
        } else if hosts.is_empty() {
            return Err(HostPolicyError::NeedsHosts(bind));
        }
        for text in hosts {
            let entry = authority(text).ok_or_else(|| HostPolicyError::Host(text.clone()))?;
            allowed.push(Allowed { host: entry.0, port: entry.1 });
        }
        let origins = origins
            .iter()
            .map(|text| Origin::read(text).ok_or_else(|| HostPolicyError::Origin(text.clone())))
            .collect::<Result<_, _>>()?;
        Ok(Self { hosts: allowed, origins })
    }

    /// Whether a request may be answered at all, on any route.
    pub fn check(&self, target: &Uri, headers: &HeaderMap) -> Result<(), HostRefusal> {
        self.check_host(target, headers)?;
        if !headers.contains_key(ORIGIN) {
            return Ok(());
        }
        let origin = only(headers, ORIGIN).and_then(Origin::read).ok_or(HostRefusal::Origin)?;
        if self.origins.contains(&origin) { Ok(()) } else { Err(HostRefusal::Origin) }
    }

    fn check_host(&self, target: &Uri, headers: &HeaderMap) -> Result<(), HostRefusal> {
        let named = only(headers, HOST).and_then(authority).ok_or(HostRefusal::Host)?;
        // A target in absolute form names the host a second time.
        if let Some(again) = target.authority()
            && authority(again.as_str()).as_ref() != Some(&named)
        {
            return Err(HostRefusal::Host);
        }
        let (host, port) = named;
        let known = self.hosts.iter().any(|allowed| {
            allowed.host == host && (allowed.port.is_none() || allowed.port == port)
        });
        if known { Ok(()) } else { Err(HostRefusal::Host) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Allowed {
    host: Host,
    /// None: any port, since a port is nothing a name can be rebound to.
    port: Option<u16>,
}

/// A host by name (in lower case) or by address.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Name(String),
    Address(IpAddr),
}

/// Scheme, host and port, all three.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    scheme: String,
    host: Host,
    port: u16,
}

impl Origin {
    /// As a browser writes it: lower case, no path, no user. `null` is nobody's origin.
    fn read(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let default = match scheme {
            "http" => 80,
            "https" => 443,
            _ => return None,
        };
        if rest.bytes().any(|b| b.is_ascii_uppercase()) {
            return None;
        }
        let (host, port) = authority(rest)?;
        Some(Self { scheme: scheme.to_owned(), host, port: port.unwrap_or(default) })
    }
}

/// `host` or `host:port`, strictly. Case does not matter in a name; everything else does.
fn authority(text: &str) -> Option<(Host, Option<u16>)> {
    if let Some(rest) = text.strip_prefix('[') {
        let (inner, after) = rest.split_once(']')?;
        let address: Ipv6Addr = inner.parse().ok()?;
        return Some((Host::Address(address.into()), port_of(after).ok()?));
    }
    let (name, after) = match text.find(':') {
        Some(colon) => text.split_at_checked(colon)?,
        None => (text, ""),
    };
    Some((host_name(name)?, port_of(after).ok()?))
}

fn host_name(name: &str) -> Option<Host> {
    if let Ok(address) = name.parse::<Ipv4Addr>() {
        return Some(Host::Address(address.into()));
    }
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    // A last label of digits only would be a way to write an address.
    let last = name.rsplit('.').next()?;
    let good = name.len() <= 253
        && name.split('.').all(label)
        && !last.bytes().all(|b| b.is_ascii_digit())
        && !last.starts_with("0x");
    good.then(|| Host::Name(name.to_ascii_lowercase()))
}

struct NoPort;

/// Nothing, or a colon and a port.
fn port_of(after: &str) -> Result<Option<u16>, NoPort> {
    if after.is_empty() {
        return Ok(None);
    }
    let digits = after.strip_prefix(':').ok_or(NoPort)?;
    let good = (1..=5).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    if good { digits.parse().map(Some).map_err(|_| NoPort) } else { Err(NoPort) }
}

fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
