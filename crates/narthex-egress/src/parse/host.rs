//! A host: a name or an address, each in its one spelling.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use super::UrlFault;

/// Who a URL names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name, in lower case.
    Name(String),
    /// An address.
    Address(IpAddr),
}

impl Host {
    /// Reads what stands between `//` and the port.
    pub(crate) fn read(text: &str) -> Result<Self, UrlFault> {
        if let Some(rest) = text.strip_prefix('[') {
            return v6(rest.strip_suffix(']').ok_or(UrlFault::BadHost)?);
        }
        if text.ends_with('.') {
            return Err(UrlFault::TrailingDot);
        }
        let lower = text.to_ascii_lowercase();
        match ::url::Host::parse(&lower).map_err(|_| UrlFault::BadHost)? {
            ::url::Host::Ipv4(address) if address.to_string() == text => {
                Ok(Self::Address(address.into()))
            }
            ::url::Host::Ipv4(address) => Err(UrlFault::Spelling(address.to_string())),
            ::url::Host::Domain(name) if name == lower && is_well_formed(&name) => {
                Ok(Self::Name(name))
            }
            _ => Err(UrlFault::BadHost),
        }
    }

    /// Whether a second reader's spelling means this host.
    pub(super) fn is_written(&self, other: &str) -> bool {
        match self {
            Self::Name(name) => name == other,
            Self::Address(IpAddr::V4(address)) => address.to_string() == other,
            Self::Address(IpAddr::V6(address)) => {
                let inner = other.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
                inner.and_then(|inner| inner.parse().ok()) == Some(*address)
            }
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

fn v6(text: &str) -> Result<Host, UrlFault> {
    let address: Ipv6Addr = text.parse().map_err(|_| UrlFault::BadHost)?;
    if text.eq_ignore_ascii_case(&address.to_string()) {
        Ok(Host::Address(address.into()))
    } else {
        Err(UrlFault::Spelling(address.to_string()))
    }
}

fn is_well_formed(name: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(label)
}
