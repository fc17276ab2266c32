//! The special-purpose ranges: the IANA registries for IPv4 (RFC 6890 and its updates) and IPv6,
//! the ranges that were given back but are still routed somewhere, and the addresses at which
//! clouds hand out credentials. A range that the registry calls globally reachable (AS112, AMT)
//! is here too: nothing Narthex fetches lives there.

use std::net::{Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

use super::AddressKind::{self, Loopback, Private, Special};

pub(super) const V4: &[(Ipv4Net, AddressKind)] = &[
    (v4([0, 0, 0, 0], 8), Special("this network")),
    (v4([10, 0, 0, 0], 8), Private("10.0.0.0/8")),
    (v4([100, 64, 0, 0], 10), Private("carrier-grade NAT")),
    (v4([127, 0, 0, 0], 8), Loopback),
    (v4([169, 254, 0, 0], 16), Special("link-local")),
    (v4([172, 16, 0, 0], 12), Private("172.16.0.0/12")),
    (v4([192, 0, 0, 0], 24), Special("protocol assignments")),
    (v4([192, 0, 2, 0], 24), Special("documentation, TEST-NET-1")),
    (v4([192, 31, 196, 0], 24), Special("AS112")),
    (v4([192, 52, 193, 0], 24), Special("AMT")),
    (v4([192, 88, 99, 0], 24), Special("6to4 relay anycast")),
    (v4([192, 168, 0, 0], 16), Private("192.168.0.0/16")),
    (v4([192, 175, 48, 0], 24), Special("AS112 direct delegation")),
    (v4([198, 18, 0, 0], 15), Special("benchmarking")),
    (v4([198, 51, 100, 0], 24), Special("documentation, TEST-NET-2")),
    (v4([203, 0, 113, 0], 24), Special("documentation, TEST-NET-3")),
    (v4([224, 0, 0, 0], 4), Special("multicast")),
    (v4([255, 255, 255, 255], 32), Special("broadcast")),
    (v4([240, 0, 0, 0], 4), Special("reserved")),
];

pub(super) const V6: &[(Ipv6Net, AddressKind)] = &[
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 128), Special("unspecified")),
    (v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48), Special("local-use NAT64")),
    (v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64), Special("discard-only")),
    (v6([0x100, 0, 0, 1, 0, 0, 0, 0], 64), Special("dummy prefix")),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), Special("protocol assignments, 2001::/23")),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), Special("documentation")),
    (v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), Special("6to4")),
    (v6([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48), Special("AS112 direct delegation")),
    (v6([0x3ffe, 0, 0, 0, 0, 0, 0, 0], 16), Special("6bone, returned")),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), Special("documentation")),
    (v6([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16), Special("segment routing")),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), Private("fc00::/7")),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), Special("link-local")),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), Special("site-local")),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), Special("multicast")),
];

/// All that is global unicast today. What is outside and not listed above is refused as well.
pub(super) const GLOBAL_V6: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// NAT64's well-known prefix; what it carries decides.
pub(super) const NAT64: Ipv6Net = v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96);

/// Where clouds hand out credentials. Some lie in no special range at all (168.63.129.16).
pub(super) const METADATA_V4: &[Ipv4Addr] = &[
    Ipv4Addr::new(169, 254, 169, 254), // nearly everywhere
    Ipv4Addr::new(169, 254, 170, 2),   // AWS, tasks
    Ipv4Addr::new(169, 254, 170, 23),  // AWS, pods
    Ipv4Addr::new(169, 254, 169, 253), // AWS, names
    Ipv4Addr::new(169, 254, 42, 42),   // Scaleway
    Ipv4Addr::new(169, 254, 0, 23),    // Tencent
    Ipv4Addr::new(100, 100, 100, 200), // Alibaba
    Ipv4Addr::new(168, 63, 129, 16),   // Azure
    Ipv4Addr::new(192, 0, 0, 192),     // Oracle
];

pub(super) const METADATA_V6: &[Ipv6Net] = &[
    v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0], 32),        // AWS
    v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128),    // Google
    v6([0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42], 128),     // Scaleway
    v6([0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe], 128), // OpenStack
];

const fn v4(octets: [u8; 4], length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::from_octets(octets), length)
}

const fn v6(segments: [u16; 8], length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::from_segments(segments), length)
}

#[cfg(test)]
mod tests;
