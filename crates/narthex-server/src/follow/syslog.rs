//! The second sink as the system log: RFC 5424 in datagrams.
//!
//! The system log does not say what it has, so a small file remembers how far it was told. After
//! a crash between the two the last records may be told twice, never left out.

use std::fs;
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

use narthex_store::chain::StoredRecord;

use super::{News, Sink, anchor};

#[derive(Debug)]
pub(super) struct Syslog {
    socket: PathBuf,
    state: PathBuf,
    open: Option<UnixDatagram>,
}

impl Syslog {
    pub(super) const fn new(socket: PathBuf, state: PathBuf) -> Self {
        Self { socket, state, open: None }
    }
}

impl Sink for Syslog {
    fn last(&mut self) -> io::Result<u64> {
        let socket = UnixDatagram::unbound()?;
        socket.connect(&self.socket)?;
        self.open = Some(socket);
        match fs::read_to_string(&self.state) {
            Ok(text) => text.trim().parse().map_err(io::Error::other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    fn take(&mut self, news: &News) -> io::Result<()> {
        let (News::Records(records), Some(socket)) = (news, &self.open) else { return Ok(()) };
        for record in records {
            socket.send(&message(record))?;
        }
        let last = records.last().map_or(0, |record| record.seq);
        anchor::replace(&self.state, format!("{last}\n").as_bytes())
    }
}

/// Facility 13 (audit), severity 5 (notice). The time is the record's own, so the header has none.
fn message(record: &StoredRecord) -> Vec<u8> {
    let head = format!("<109>1 - - narthex {} ledger - ", std::process::id());
    [head.as_bytes(), &record.bytes].concat()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;

    use narthex_core::Digest;
    use narthex_store::chain::StoredRecord;

    use super::{News, Sink as _, Syslog};

    #[test]
    fn each_record_is_a_datagram_and_the_last_is_remembered() {
        let dir = tempfile::tempdir().expect("a folder");
        let (log, state) = (dir.path().join("log"), dir.path().join("state"));
        let mut sink = Syslog::new(log.clone(), state.clone());
        sink.last().expect_err("there is no system log");
        let listening = UnixDatagram::bind(&log).expect("bound");
        assert_eq!(sink.last().expect("connected"), 0);
        let bytes = b"{\"seq\":7,\"v\":1}".to_vec();
        let record = StoredRecord { seq: 7, bytes, hash: Digest::of(b"") };
        sink.take(&News::Records(vec![record])).expect("sent");
        let mut heard = [0; 200];
        let length = listening.recv(&mut heard).expect("heard");
        let heard = String::from_utf8_lossy(&heard[..length]).into_owned();
        assert!(heard.starts_with("<109>1 - - narthex "), "{heard}");
        assert!(heard.ends_with(" ledger - {\"seq\":7,\"v\":1}"), "{heard}");
        assert_eq!(Syslog::new(log, state).last().expect("remembered"), 7);
    }
}
