//! The worker's end of the pipe: standard input and output, blocking.

use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::stdio::stdin;

use crate::wire::{FromWorker, HEADER, MOST, ToWorker, framed};

/// Reads and writes frames.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    buffer: Vec<u8>,
    /// How much of the buffer was read: a small frame comes with its length, in one look.
    read: usize,
    /// How much of that was taken.
    taken: usize,
}

impl Pipe {
    /// Waits for something to be said.
    pub(super) fn receive(&mut self) -> io::Result<ToWorker> {
        self.buffer.copy_within(self.taken..self.read, 0);
        self.read -= std::mem::take(&mut self.taken);
        self.read_until(HEADER)?;
        let header = self.buffer.first_chunk::<HEADER>().ok_or(io::ErrorKind::UnexpectedEof)?;
        let length = usize::try_from(u32::from_le_bytes(*header)).unwrap_or(usize::MAX);
        if length > MOST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.read_until(HEADER + length)?;
        self.taken = HEADER + length;
        let frame = self.buffer.get(HEADER..self.taken).unwrap_or_default();
        serde_json::from_slice(frame).map_err(io::Error::other)
    }

    /// Reads until there are so many bytes, or more.
    fn read_until(&mut self, wanted: usize) -> io::Result<()> {
        if self.buffer.len() < wanted.max(AHEAD) {
            self.buffer.resize(wanted.max(AHEAD), 0);
        }
        let began = Instant::now();
        while self.read < wanted {
            let free = self.buffer.get_mut(self.read..).unwrap_or_default();
            match rustix::io::read(stdin(), free) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => self.read += read,
                Err(Errno::INTR) => {}
                // An answer that comes soon is heard sooner by whoever stays awake.
                // Whoever answers may need the very core this runs on.
                Err(Errno::AGAIN) if began.elapsed() < AWAKE => std::thread::yield_now(),
                Err(Errno::AGAIN) => wait_for_more()?,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
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
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Lets reads come back where there is nothing to be read, if that can be had.
pub(super) fn stay_awake() {
    if let Ok(flags) = fcntl_getfl(stdin()) {
        let _ = fcntl_setfl(stdin(), flags | OFlags::NONBLOCK);
    }
}

fn wait_for_more() -> io::Result<()> {
    let input = stdin();
    match poll(&mut [PollFd::new(&input, PollFlags::IN)], None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// How long an answer is waited for awake.
const AWAKE: Duration = Duration::from_micros(60);
/// Bytes of the buffer, at least.
const AHEAD: usize = 4096;
