//! An event stream, read piece by piece: only the data of its events matters here.

use bytes::{Bytes, BytesMut};

/// A reader of events.
#[derive(Debug)]
pub(crate) struct Events {
    max_bytes: usize,
    line: BytesMut,
    data: BytesMut,
    has_data: bool,
}

/// A line or an event over the bound.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

impl Events {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, line: BytesMut::new(), data: BytesMut::new(), has_data: false }
    }

    /// Takes the next bytes; the data of each event they complete.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) -> Result<Vec<Bytes>, TooLarge> {
        let mut done = Vec::new();
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (piece, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
            self.extend(piece)?;
            bytes = rest.get(1..).unwrap_or_default();
            let line = std::mem::take(&mut self.line);
            if let Some(data) = self.take_line(line.strip_suffix(b"\r").unwrap_or(&line))? {
                done.push(data);
            }
        }
        self.extend(bytes)?;
        Ok(done)
    }

    fn extend(&mut self, piece: &[u8]) -> Result<(), TooLarge> {
        if self.line.len() + piece.len() > self.max_bytes {
            return Err(TooLarge);
        }
        self.line.extend_from_slice(piece);
        Ok(())
    }

    /// A blank line ends an event; `data:` lines add up; everything else is not for us.
    fn take_line(&mut self, line: &[u8]) -> Result<Option<Bytes>, TooLarge> {
        if line.is_empty() {
            let data = std::mem::take(&mut self.data).freeze();
            return Ok(std::mem::take(&mut self.has_data).then_some(data));
        }
        let Some(value) = line.strip_prefix(b"data:") else { return Ok(None) };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        if self.data.len() + value.len() >= self.max_bytes {
            return Err(TooLarge);
        }
        if self.has_data {
            self.data.extend_from_slice(b"\n");
        }
        self.data.extend_from_slice(value);
        self.has_data = true;
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::{Events, TooLarge};

    #[test]
    fn events_are_found_however_the_bytes_are_cut() {
        let stream =
            b": hello\n\nevent: message\ndata: {\"a\":1}\n\ndata:x\r\ndata: y\r\n\r\nid: 7\n\n";
        for size in 1..stream.len() {
            let mut events = Events::new(100);
            let seen: Vec<_> =
                stream.chunks(size).flat_map(|piece| events.feed(piece).expect("small")).collect();
            assert_eq!(seen, [&b"{\"a\":1}"[..], b"x\ny"], "cut at {size}");
        }
    }

    #[test]
    fn an_event_has_an_end() {
        let mut events = Events::new(10);
        assert_eq!(events.feed(b"data: 0123456789"), Err(TooLarge));
        let mut events = Events::new(10);
        assert_eq!(events.feed(b"data:1234\ndata:1234\ndata:1234\n"), Err(TooLarge));
    }
}
