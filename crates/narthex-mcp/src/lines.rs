//! Messages on lines: read with a bound, written one after the other.

use std::io;

use bytes::{Buf as _, Bytes, BytesMut};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

/// Lines of an input, each no longer than a bound.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: BufReader<R>,
    max_bytes: usize,
}

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Text(Bytes),
    /// Longer than the bound: passed over up to its end.
    TooLong,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(input: R, max_bytes: usize) -> Self {
        Self { input: BufReader::new(input), max_bytes }
    }

    /// The next line that is not blank; none at the end. Not to be dropped half way and then
    /// called again.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            match self.read_one().await? {
                Some(Line::Text(text)) if text.iter().all(u8::is_ascii_whitespace) => {}
                other => return Ok(other),
            }
        }
    }

    async fn read_one(&mut self) -> io::Result<Option<Line>> {
        let mut line = BytesMut::new();
        let mut too_long = false;
        loop {
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                let nothing = line.is_empty() && !too_long;
                return Ok((!nothing).then(|| finish(line, too_long)));
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let piece = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            too_long |= line.len() + piece.len() > self.max_bytes;
            if too_long {
                line = BytesMut::new();
            } else {
                line.extend_from_slice(piece);
            }
            let used = piece.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                return Ok(Some(finish(line, too_long)));
            }
        }
    }
}

fn finish(line: BytesMut, too_long: bool) -> Line {
    if too_long { Line::TooLong } else { Line::Text(line.freeze()) }
}

/// Writes what comes, a line each, until nobody can send any more.
pub(crate) async fn write_lines<W: AsyncWrite + Unpin>(
    mut output: W,
    mut lines: mpsc::Receiver<Bytes>,
) -> io::Result<()> {
    while let Some(line) = lines.recv().await {
        // At once: whoever reads is woken once.
        output.write_all_buf(&mut line.chain(&b"\n"[..])).await?;
        // While more is waiting, it goes out together.
        if lines.is_empty() {
            output.flush().await?;
        }
    }
    output.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::{Line, Lines};

    #[tokio::test]
    async fn a_line_that_is_too_long_is_passed_over_and_the_next_is_read() {
        let long = "x".repeat(100_000);
        let text = format!("one\n\n  \r\n{long}\ntwo\nthree");
        let mut lines = Lines::new(text.as_bytes(), 10);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await.expect("bytes in memory") {
            seen.push(line);
        }
        let text = |text: &'static str| Line::Text(text.into());
        assert_eq!(seen, [text("one"), Line::TooLong, text("two"), text("three")]);
    }
}
