//! Where it can connect to. A listener counts who came.

use std::io;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use narthex_walls::{Network, Preset, Walls};

use crate::support::{Room, attempts, preset, stand};

/// Counts who came.
struct Spy {
    tcp: TcpListener,
    udp: UdpSocket,
    unix: UnixListener,
    unnamed: UnixListener,
    tries: Vec<String>,
}

impl Spy {
    fn new(room: &Room) -> Self {
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let udp = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let path = room.path().join("owner.sock");
        let unix = UnixListener::bind(&path).expect("a listener");
        let name = room.mark().trim_start_matches('/').to_owned();
        let unnamed = SocketAddr::from_abstract_name(&name).expect("a name");
        let unnamed = UnixListener::bind_addr(&unnamed).expect("a listener");
        tcp.set_nonblocking(true).expect("set");
        udp.set_nonblocking(true).expect("set");
        unix.set_nonblocking(true).expect("set");
        unnamed.set_nonblocking(true).expect("set");
        let tries = vec![
            format!("connect={}", tcp.local_addr().expect("an address")),
            format!("datagram={}", udp.local_addr().expect("an address")),
            format!("unix={}", path.display()),
            format!("abstract={name}"),
        ];
        Self { tcp, udp, unix, unnamed, tries }
    }

    /// TCP, UDP, the socket of a path, an abstract one.
    fn hits(&self) -> [bool; 4] {
        let came = |went: io::Result<()>| went.is_ok();
        [
            came(self.tcp.accept().map(drop)),
            came(self.udp.recv_from(&mut [0; 8]).map(drop)),
            came(self.unix.accept().map(drop)),
            came(self.unnamed.accept().map(drop)),
        ]
    }
}

async fn hits(walls: Walls) -> ([bool; 4], Vec<String>) {
    let room = Room::new();
    let spy = Spy::new(&room);
    let went = attempts(&room, walls, &spy.tries).await;
    (spy.hits(), went)
}

#[tokio::test]
async fn without_walls_all_of_it_is_reached() {
    let (hits, went) = hits(preset(Preset::None)).await;
    assert_eq!(hits, [true; 4], "{went:?}");
}

#[tokio::test]
async fn offline_nothing_is_reached() {
    if !stand(&preset(Preset::Offline)) {
        return;
    }
    let (hits, went) = hits(preset(Preset::Offline)).await;
    assert_eq!(hits, [false; 4], "{went:?}");
    assert!(went.iter().all(|line| line.ends_with("EACCES")), "{went:?}");
}

/// The network, but no socket of this machine: the owner's, the session bus, a container engine.
#[tokio::test]
async fn with_files_the_network_is_reached_and_no_unix_socket() {
    if !stand(&preset(Preset::Files)) {
        return;
    }
    let (hits, went) = hits(preset(Preset::Files)).await;
    assert_eq!(hits, [true, true, false, false], "{went:?}");
}

#[tokio::test]
async fn unix_sockets_are_opened_by_name() {
    let walls = Walls { unix_sockets: true, ..preset(Preset::Offline) };
    if !stand(&walls) {
        return;
    }
    let (hits, went) = hits(walls).await;
    assert_eq!(hits, [false, false, true, true], "{went:?}");
}

#[tokio::test]
async fn only_the_ports_that_are_open() {
    let walls = |ports| Walls { network: Some(Network::Ports(ports)), ..preset(Preset::Offline) };
    if !stand(&walls(vec![])) {
        return;
    }
    let room = Room::new();
    let (open, shut) = (Spy::new(&room), Spy::new(&Room::new()));
    let port = open.tcp.local_addr().expect("an address").port();
    let tries = [open.tries.first(), shut.tries.first()].map(|tried| tried.expect("TCP").clone());
    let mut all = tries.to_vec();
    all.push("listen=127.0.0.1:0".to_owned());
    let went = attempts(&room, walls(vec![port]), &all).await;
    assert_eq!(went, ["connect ok", "connect EACCES", "listen EACCES"]);
    assert_eq!((open.hits()[0], shut.hits()[0]), (true, false));
}
