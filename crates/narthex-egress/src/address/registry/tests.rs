use std::net::IpAddr;

use crate::address::AddressKind;

fn kind(text: &str) -> AddressKind {
    AddressKind::of(text.parse().expect(text))
}

/// First and last address of each range, and the public neighbours on both sides.
#[test]
fn each_range_ends_where_the_registry_says() {
    for (before, first, last, after) in [
        ("", "0.0.0.0", "0.255.255.255", "1.0.0.0"),
        ("9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"),
        ("100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"),
        ("126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"),
        ("169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"),
        ("172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"),
        ("191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"),
        ("192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"),
        ("192.31.195.255", "192.31.196.0", "192.31.196.255", "192.31.197.0"),
        ("192.52.192.255", "192.52.193.0", "192.52.193.255", "192.52.194.0"),
        ("192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"),
        ("192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"),
        ("192.175.47.255", "192.175.48.0", "192.175.48.255", "192.175.49.0"),
        ("198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"),
        ("198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"),
        ("203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"),
        ("223.255.255.255", "224.0.0.0", "255.255.255.255", ""),
        ("2000:ffff::", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"),
        ("2001:db7::", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"),
        ("2001:ffff::", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"),
        ("2620:4f:7fff::", "2620:4f:8000::", "2620:4f:8000:ffff::ffff", "2620:4f:8001::"),
        ("3ffd::", "3ffe::", "3fff:fff:ffff::", "3fff:1000::"),
        ("64:ff9b::808:808", "64:ff9b:1::", "64:ff9b:1:ffff::1", ""),
        ("", "100::", "100::ffff:ffff:ffff:ffff", ""),
        ("", "5f00::", "5f00:ffff::", ""),
        ("", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""),
        ("", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""),
        ("", "fec0::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""),
        ("2606:4700::1111", "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2a00:1450::1"),
        ("", "4000::", "fbff::", ""),
    ] {
        for inside in [first, last] {
            assert_ne!(kind(inside), AddressKind::Public, "{inside}");
        }
        for outside in [before, after] {
            assert!(outside.is_empty() || kind(outside) == AddressKind::Public, "{outside}");
        }
    }
}

#[test]
fn metadata_is_told_from_what_surrounds_it() {
    for text in [
        "169.254.169.254",
        "169.254.170.2",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
        "fe80::a9fe:a9fe",
    ] {
        assert_eq!(kind(text), AddressKind::Metadata, "{text}");
    }
    assert_eq!(kind("168.63.129.17"), AddressKind::Public);
    assert_eq!(kind("fd00:ec3::254"), AddressKind::Private("fc00::/7"));
}

#[test]
fn what_stands_for_nobody_or_for_many_cannot_be_listed() {
    for (text, can) in [
        ("10.0.0.1", true),
        ("127.0.0.1", true),
        ("169.254.169.254", true),
        ("fd00:ec2::254", true),
        ("::1", true),
        ("0.0.0.0", false),
        ("0.1.2.3", false),
        ("224.0.0.1", false),
        ("255.255.255.255", false),
        ("::", false),
        ("ff02::1", false),
        ("::ffff:10.0.0.1", false),
        ("64:ff9b::10.0.0.1", false),
    ] {
        let address: IpAddr = text.parse().expect(text);
        assert_eq!(AddressKind::of(address).can_be_listed(address), can, "{text}");
    }
}
