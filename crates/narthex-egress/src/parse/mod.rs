//! From the text of a URL to where it leads, strictly.
//!
//! The text is read twice: here, byte by byte and without forgiveness, and by the `url` crate the
//! way a browser would. Where the two do not agree the URL is refused.

mod fault;
mod host;
mod raw;
#[cfg(test)]
mod tests;

use std::fmt;
use std::net::IpAddr;

use ::url::Url;

pub use fault::UrlFault;
pub use host::Host;
pub(crate) use raw::split_port;

/// Where a URL leads. Made only by [`crate::EgressPolicy::judge_url`].
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    url: Url,
    host: Host,
    port: u16,
}

impl Target {
    /// Reads a URL. The policy has not been asked yet.
    pub(crate) fn read(text: &str, cap: usize) -> Result<Self, UrlFault> {
        if text.len() > cap {
            return Err(UrlFault::TooLong(cap));
        }
        raw::check_characters(text)?;
        let parts = raw::split(text)?;
        let host = Host::read(parts.host)?;
        let port = parts.port.unwrap_or(if parts.secure { 443 } else { 80 });
        let url = Url::parse(text).map_err(|_| UrlFault::BadHost)?;
        let agreed = url.scheme() == if parts.secure { "https" } else { "http" }
            && url.host_str().is_some_and(|other| host.is_written(other))
            && url.port_or_known_default() == Some(port)
            && url.username().is_empty()
            && url.password().is_none()
            && url.fragment().is_none();
        if agreed { Ok(Self { url, host, port }) } else { Err(UrlFault::Ambiguous) }
    }

    /// The host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The port, said or implied.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether it is https.
    pub fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Scheme, host and port: what may be shown of it. Path and query may hold secrets.
    pub fn origin(&self) -> String {
        format!("{}://{}:{}", self.url.scheme(), self.host, self.port)
    }

    /// The text that an owner would put into `egress.allow`.
    pub fn allow_entry(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// The address, if that is what the host is.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        match self.host {
            Host::Address(address) => Some(address),
            Host::Name(_) => None,
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Target").field(&self.origin()).finish()
    }
}

/// The text of a redirect's `Location`, made whole. What comes out is judged like any other URL.
pub(crate) fn resolve_location(from: &Target, location: &str) -> Result<String, UrlFault> {
    raw::check_characters(location)?;
    if location.contains('#') {
        return Err(UrlFault::Fragment);
    }
    let first = location.split(['/', '?']).next().unwrap_or_default();
    if first.contains(':') {
        return Ok(location.to_owned());
    }
    if location.starts_with("//") {
        return Ok(format!("{}:{location}", from.url.scheme()));
    }
    let whole = from.url.join(location).map_err(|_| UrlFault::Ambiguous)?;
    Ok(whole.into())
}
