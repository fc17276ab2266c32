//! The listener that must not be reached.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Notes who connects, on every address of this machine, and answers like a metadata service.
pub(crate) struct Spy {
    pub(crate) port: u16,
    /// The ports they came from, in the order they came.
    seen: Arc<Mutex<Vec<u16>>>,
}

impl Spy {
    /// Listens on all addresses, of both families where there are two.
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("[::]:0").or_else(|_| TcpListener::bind("0.0.0.0:0"));
        Self::on(listener.expect("a listener"))
    }

    /// Listens on one address.
    pub(crate) fn at(address: &str) -> Self {
        Self::on(TcpListener::bind(address).expect("a listener"))
    }

    fn on(listener: TcpListener) -> Self {
        let port = listener.local_addr().expect("an address").port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&seen);
        std::thread::spawn(move || {
            while let Ok((stream, from)) = listener.accept() {
                notes.lock().expect("a lock").push(from.port());
                std::thread::spawn(move || leak(stream));
            }
        });
        Self { port, seen }
    }

    /// Connections so far. Knocks itself, at this address, and waits until that is noted: who
    /// came before is noted by then.
    pub(crate) fn hits(&self, address: &str) -> usize {
        let knock = TcpStream::connect((address, self.port)).expect("the spy listens");
        let own = knock.local_addr().expect("an address").port();
        loop {
            let mut seen = self.seen.lock().expect("a lock");
            if let Some(place) = seen.iter().rposition(|port| *port == own) {
                seen.remove(place);
                return place;
            }
            drop(seen);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn leak(mut stream: TcpStream) {
    let mut asked = [0; 1024];
    if stream.read(&mut asked).is_ok_and(|read| read > 0) {
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 3\r\n\r\nspy");
    }
}
