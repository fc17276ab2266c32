//! IPv4 addresses carried inside IPv6 ones. A translator, a tunnel or the kernel itself may turn
//! the one into the other, so the outer address is no better than the inner.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::AddressKind;
use super::registry::NAT64;

/// The verdict on what this address carries; `None` if it carries nothing, or something public in
/// a carrier that is in use (NAT64, ISATAP).
pub(super) fn find(address: Ipv6Addr) -> Option<AddressKind> {
    let segments = address.segments();
    let [.., high, low] = segments;
    let tail = ipv4(high, low);
    let held = |carrier, inner| Some(AddressKind::Holds { carrier, inner });
    let held_unless_public = |carrier| {
        if is_public(tail) { None } else { Some(AddressKind::Holds { carrier, inner: tail }) }
    };
    match segments {
        [0, 0, 0, 0, 0, 0, ..] if !address.is_unspecified() => held("IPv4-compatible", tail),
        [0, 0, 0, 0, 0, 0xffff, ..] => held("IPv4-mapped", tail),
        [0, 0, 0, 0, 0xffff, 0, ..] => held("IPv4-translated", tail),
        _ if NAT64.contains(&address) => held_unless_public("NAT64"),
        [0x64, 0xff9b, 1, ..] => held("local-use NAT64", tail),
        [0x2002, high, low, ..] => held("6to4", ipv4(high, low)),
        // The client's address is stored with every bit turned; the server's as it is.
        [0x2001, 0, server_high, server_low, ..] => {
            held("Teredo", worse(ipv4(!high, !low), ipv4(server_high, server_low)))
        }
        [.., 0 | 0x200, 0x5efe, _, _] => held_unless_public("ISATAP"),
        _ => None,
    }
}

/// The one to name in the refusal: the client's, unless only the server's is not public.
fn worse(client: Ipv4Addr, server: Ipv4Addr) -> Ipv4Addr {
    if is_public(client) && !is_public(server) { server } else { client }
}

fn is_public(address: Ipv4Addr) -> bool {
    super::of_v4(address) == AddressKind::Public
}

fn ipv4(high: u16, low: u16) -> Ipv4Addr {
    let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
    Ipv4Addr::new(a, b, c, d)
}

#[cfg(test)]
mod tests {
    use crate::address::AddressKind;

    fn kind(text: &str) -> AddressKind {
        AddressKind::of(text.parse().expect(text))
    }

    #[test]
    fn what_is_carried_is_found() {
        for (outer, carrier, inner) in [
            ("::ffff:127.0.0.1", "IPv4-mapped", "127.0.0.1"),
            ("::ffff:8.8.8.8", "IPv4-mapped", "8.8.8.8"),
            ("::127.0.0.1", "IPv4-compatible", "127.0.0.1"),
            ("::ffff:0:10.0.0.1", "IPv4-translated", "10.0.0.1"),
            ("64:ff9b::169.254.169.254", "NAT64", "169.254.169.254"),
            ("64:ff9b::168.63.129.16", "NAT64", "168.63.129.16"),
            ("64:ff9b:1::192.168.0.1", "local-use NAT64", "192.168.0.1"),
            ("2002:7f00:1::", "6to4", "127.0.0.1"),
            ("2002:808:808::1", "6to4", "8.8.8.8"),
            ("2001:0:808:808:0:0:f5ff:fffe", "Teredo", "10.0.0.1"),
            ("2001:0:a00:1:0:0:f7f7:f7f7", "Teredo", "10.0.0.1"),
            ("2606:4700::5efe:10.0.0.1", "ISATAP", "10.0.0.1"),
            ("2606:4700::200:5efe:127.0.0.1", "ISATAP", "127.0.0.1"),
        ] {
            let inner = inner.parse().expect(inner);
            assert_eq!(kind(outer), AddressKind::Holds { carrier, inner }, "{outer}");
        }
    }

    #[test]
    fn a_carrier_in_use_with_a_public_address_is_public() {
        for text in ["64:ff9b::8.8.8.8", "2606:4700::200:5efe:8.8.8.8", "2606:4700::1"] {
            assert_eq!(kind(text), AddressKind::Public, "{text}");
        }
    }

    #[test]
    fn a_private_prefix_stays_private_whatever_it_carries() {
        assert_eq!(kind("fc00::5efe:8.8.8.8"), AddressKind::Private("fc00::/7"));
        assert_eq!(kind("fe80::5efe:8.8.8.8"), AddressKind::Special("link-local"));
        assert_eq!(kind("::1"), AddressKind::Loopback);
        assert_eq!(kind("::"), AddressKind::Special("unspecified"));
    }
}
