//! Which sockets can be opened. A filter sees no addresses, only what kind of socket it is; what
//! is not opened cannot be connected.

use seccompiler::{BpfProgram, SeccompAction};

use super::rules::Test::{Has, Is, Masked, Not};
use super::rules::{Rules, When};
use crate::{Network, WallError};

/// Refuses every family but those that are opened. Bluetooth, packets, the host of a virtual
/// machine, the kernel's ciphers and all the others are refused in any case.
pub(super) fn program(network: &Network, unix_sockets: bool) -> Result<BpfProgram, WallError> {
    let mut rules = Rules::default();
    rules.add(libc::SYS_socket, others_than_opened(network, unix_sockets))?;
    for (call, when) in NEVER {
        rules.add(*call, *when)?;
    }
    if !unix_sockets {
        // Pairs are pipes, but one of datagrams can be turned to any address later.
        rules.add(libc::SYS_socketpair, When::Arg(1, Masked(KIND, DATAGRAM)))?;
    }
    if let Network::Ports(_) = network {
        for (call, when) in PAST_PORTS {
            rules.add(*call, *when)?;
        }
    }
    rules.program(SeccompAction::Errno(NOT_PERMITTED), SeccompAction::Allow)
}

fn others_than_opened(network: &Network, unix_sockets: bool) -> When {
    match (network, unix_sockets) {
        (Network::Off, false) => When::Always,
        (Network::Off, true) => When::Arg(0, Not(UNIX)),
        (Network::On | Network::Ports(_), false) => {
            When::Args(&[(0, Not(INET)), (0, Not(INET6)), (0, Not(NETLINK))])
        }
        (Network::On | Network::Ports(_), true) => {
            When::Args(&[(0, Not(UNIX)), (0, Not(INET)), (0, Not(INET6)), (0, Not(NETLINK))])
        }
    }
}

/// Whatever is opened.
const NEVER: &[(i64, When)] = &[
    // Of netlink only the part that says which addresses there are.
    (libc::SYS_socket, When::Args(&[(0, Is(NETLINK)), (2, Not(ROUTE))])),
    // No packets of its own making.
    (libc::SYS_socket, When::Args(&[(0, Not(NETLINK)), (1, Masked(KIND, RAW))])),
    (libc::SYS_socketpair, When::Arg(0, Not(UNIX))),
];

/// Landlock holds TCP to its ports; these would carry a stream past it.
const PAST_PORTS: &[(i64, When)] = &[
    (libc::SYS_socket, When::Args(&[(2, Not(ANY_PROTOCOL)), (2, Not(TCP)), (2, Not(UDP))])),
    // A connection that is opened by sending passes no check of connecting.
    (libc::SYS_sendto, When::Arg(3, Has(FAST_OPEN))),
    (libc::SYS_sendmsg, When::Arg(2, Has(FAST_OPEN))),
    (libc::SYS_sendmmsg, When::Arg(3, Has(FAST_OPEN))),
];

const UNIX: u32 = 1;
const INET: u32 = 2;
const INET6: u32 = 10;
const NETLINK: u32 = 16;
/// Which part of netlink: addresses and routes.
const ROUTE: u32 = 0;
/// The bits of a socket's type that are no flags.
const KIND: u32 = 0xf;
const DATAGRAM: u32 = 2;
const RAW: u32 = 3;
const ANY_PROTOCOL: u32 = 0;
const TCP: u32 = 6;
const UDP: u32 = 17;
/// MSG_FASTOPEN.
const FAST_OPEN: u32 = 0x2000_0000;
/// EACCES.
const NOT_PERMITTED: u32 = 13;
