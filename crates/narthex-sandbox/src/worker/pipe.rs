//! The worker's end of the pipe: standard input and output, blocking.

use std::io;

use crate::wire::{FromWorker, HEADER, MOST, ToWorker, framed};

/// Reads and writes frames.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    buffer: Vec<u8>,
}

impl Pipe {
    /// Waits for something to be said.
    pub(super) fn receive(&mut self) -> io::Result<ToWorker> {
        let mut header = [0; HEADER];
        fill(&mut header)?;
        let length = usize::try_from(u32::from_le_bytes(header)).unwrap_or(usize::MAX);
        if length > MOST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.buffer.clear();
        self.buffer.resize(length, 0);
        fill(&mut self.buffer)?;
        serde_json::from_slice(&self.buffer).map_err(io::Error::other)
    }

    /// Says something.
    #[expect(clippy::unused_self, reason = "whoever speaks has the pipe")]
    pub(super) fn send(&mut self, frame: &FromWorker) -> io::Result<()> {
        let bytes = framed(frame).map_err(io::Error::other)?;
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match rustix::io::write(rustix::stdio::stdout(), rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

fn fill(mut into: &mut [u8]) -> io::Result<()> {
    while !into.is_empty() {
        match rustix::io::read(rustix::stdio::stdin(), &mut *into) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => into = into.get_mut(read..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
