//! A socket that closes politely: after the last answer it stops talking, and for a moment
//! still listens (to nothing), so that a client in the middle of sending gets to read the
//! answer instead of a reset.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::first_head::FirstHead;

#[derive(Debug)]
pub(super) struct Lingering<S> {
    socket: S,
    head: FirstHead,
    end: Option<End>,
}

/// The time after the last byte was written.
#[derive(Debug)]
struct End {
    discarded: usize,
    deadline: Pin<Box<Sleep>>,
}

impl<S> Lingering<S> {
    pub(super) fn new(socket: S) -> Self {
        Self { socket, head: FirstHead::default(), end: None }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Lingering<S> {
    /// Reads into nothing until the client is done, has sent too much, or time is up.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let end = self.end.get_or_insert_with(|| End {
            discarded: 0,
            deadline: Box::pin(tokio::time::sleep(LINGER)),
        });
        let mut scratch = [0_u8; 4096];
        while end.discarded < DISCARD_BYTES {
            let mut buffer = ReadBuf::new(&mut scratch);
            match Pin::new(&mut self.socket).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    end.discarded += buffer.filled().len();
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => break,
            }
        }
        end.deadline.as_mut().poll(cx)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lingering<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.socket).poll_read(cx, buffer))?;
        if let Some(new) = buffer.filled_mut().get_mut(before..) {
            self.head.watch(new);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Lingering<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.end.is_none() {
            ready!(Pin::new(&mut self.socket).poll_shutdown(cx))?;
        }
        self.poll_linger(cx).map(Ok)
    }
}

/// How long to listen on.
const LINGER: Duration = Duration::from_secs(1);
/// How much to throw away; past it nothing more is read.
const DISCARD_BYTES: usize = 64 * 1024;
