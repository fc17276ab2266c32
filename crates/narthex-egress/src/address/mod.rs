//! What kind of place an address is.

mod embedded;
mod registry;

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of place an address is. Only [`AddressKind::Public`] is reached without being named
/// in the allow-list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressKind {
    /// Anybody's, on the internet.
    Public,
    /// Of a private network; accepted for a host on the allow-list.
    Private(&'static str),
    /// This machine.
    Loopback,
    /// Hands credentials to whoever asks from inside a cloud.
    Metadata,
    /// In a special-purpose range.
    Special(&'static str),
    /// An IPv6 address that carries an IPv4 one to which it may lead.
    Holds {
        /// How it is carried.
        carrier: &'static str,
        /// The address inside.
        inner: Ipv4Addr,
    },
}

impl AddressKind {
    /// The kind of this address. One that carries another is judged by both.
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => of_v6(address),
        }
    }

    /// Whether an owner can list it at all: not what stands for nobody or for many.
    pub(crate) fn can_be_listed(self, address: IpAddr) -> bool {
        let nobody = match address {
            IpAddr::V4(address) => matches!(address.octets(), [0 | 240.., ..]),
            IpAddr::V6(_) => matches!(self, Self::Holds { .. }),
        };
        !nobody && !address.is_multicast() && !address.is_unspecified()
    }
}

impl fmt::Display for AddressKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Public => f.write_str("a public address"),
            Self::Private(name) => write!(f, "a private address ({name})"),
            Self::Loopback => f.write_str("this machine (loopback)"),
            Self::Metadata => f.write_str("a cloud metadata service"),
            Self::Special(name) => write!(f, "a special-purpose address ({name})"),
            Self::Holds { carrier, inner } => write!(f, "{inner} inside IPv6 ({carrier})"),
        }
    }
}

fn of_v4(address: Ipv4Addr) -> AddressKind {
    if registry::METADATA_V4.contains(&address) {
        return AddressKind::Metadata;
    }
    let range = registry::V4.iter().find(|(range, _)| range.contains(&address));
    range.map_or(AddressKind::Public, |(_, kind)| *kind)
}

fn of_v6(address: Ipv6Addr) -> AddressKind {
    if registry::METADATA_V6.iter().any(|range| range.contains(&address)) {
        return AddressKind::Metadata;
    }
    if address == Ipv6Addr::LOCALHOST {
        return AddressKind::Loopback;
    }
    if let Some(held) = embedded::find(address) {
        return held;
    }
    if let Some((_, kind)) = registry::V6.iter().find(|(range, _)| range.contains(&address)) {
        return *kind;
    }
    if registry::NAT64.contains(&address) || registry::GLOBAL_V6.contains(&address) {
        return AddressKind::Public;
    }
    AddressKind::Special("not global unicast")
}
