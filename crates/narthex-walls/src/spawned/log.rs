//! What a process says on standard error: line by line, bounded, cleaned, without its secrets.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use secrecy::SecretString;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::clean::clean;
use super::scrub::Scrub;

/// How much of what a process says is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogBounds {
    /// The longest line, in bytes; the rest of a longer one is dropped.
    pub line_bytes: usize,
    /// How many lines; older ones go.
    pub lines: usize,
    /// How many bytes in all; older lines go.
    pub bytes: usize,
}

impl Default for LogBounds {
    fn default() -> Self {
        Self { line_bytes: 4096, lines: 500, bytes: 256 * 1024 }
    }
}

/// The last lines that a process said.
#[derive(Debug, Clone)]
pub struct Log {
    bounds: LogBounds,
    scrub: Arc<Scrub>,
    ring: Arc<Mutex<Ring>>,
}

#[derive(Debug, Default)]
struct Ring {
    lines: VecDeque<String>,
    bytes: usize,
    dropped: u64,
}

impl Log {
    pub(super) fn new(bounds: LogBounds, secrets: &[SecretString]) -> Self {
        Self { bounds, scrub: Arc::new(Scrub::new(secrets)), ring: Arc::default() }
    }

    /// The lines that are kept, the oldest first.
    pub fn lines(&self) -> Vec<String> {
        self.held().lines.iter().cloned().collect()
    }

    /// How many lines were said and are not kept.
    pub fn dropped(&self) -> u64 {
        self.held().dropped
    }

    /// Reads until there is nothing more. Never holds more than a line.
    pub(super) async fn follow(self, mut from: impl AsyncRead + Unpin) {
        let mut piece = vec![0_u8; 8 * 1024];
        let mut line = Line::default();
        while let Ok(read @ 1..) = from.read(&mut piece).await {
            let mut rest = piece.get(..read).unwrap_or_default();
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let (now, next) = rest.split_at(end);
                self.grow(&mut line, now);
                self.keep(&std::mem::take(&mut line));
                rest = next.get(1..).unwrap_or_default();
            }
            self.grow(&mut line, rest);
        }
        if !line.bytes.is_empty() {
            self.keep(&line);
        }
    }

    /// A secret that starts within the bound is read to its end, or it could not be found.
    fn grow(&self, line: &mut Line, more: &[u8]) {
        let most = self.bounds.line_bytes + self.scrub.longest() + LAST_CHARACTER;
        let room = most.saturating_sub(line.bytes.len());
        line.cut |= more.len() > room;
        line.bytes.extend_from_slice(more.get(..room).unwrap_or(more));
    }

    fn keep(&self, line: &Line) {
        let cleaned = clean(&line.bytes);
        let mut text = self.scrub.scrub(cleaned);
        if line.cut {
            // The start of a secret may stand at the very end, where the rest of it was dropped.
            let whole = text.len().saturating_sub(self.scrub.longest() + LAST_CHARACTER);
            text.truncate(text.floor_char_boundary(whole));
        }
        if line.cut || text.len() > self.bounds.line_bytes {
            text.truncate(text.floor_char_boundary(self.bounds.line_bytes));
            text.push_str(CUT);
        }
        self.push(text);
    }

    fn push(&self, text: String) {
        let mut ring = self.held();
        ring.bytes += text.len();
        ring.lines.push_back(text);
        while ring.lines.len() > self.bounds.lines || ring.bytes > self.bounds.bytes {
            let Some(oldest) = ring.lines.pop_front() else { break };
            ring.bytes -= oldest.len();
            ring.dropped += 1;
        }
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Ring> {
        // A ring is whole after every step.
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
struct Line {
    bytes: Vec<u8>,
    cut: bool,
}

/// What half a character at the end became.
const LAST_CHARACTER: usize = 4;

/// Where the rest of a line was dropped.
const CUT: &str = " […]";

#[cfg(test)]
mod tests {
    use super::{CUT, Log, LogBounds};
    use secrecy::SecretString;

    async fn said(bounds: LogBounds, secret: &str, text: &[u8]) -> Log {
        let log = Log::new(bounds, &[SecretString::from(secret)]);
        log.clone().follow(text).await;
        log
    }

    const SMALL: LogBounds = LogBounds { line_bytes: 16, lines: 3, bytes: 64 };

    #[tokio::test]
    async fn lines_are_kept_and_older_ones_go() {
        let log = said(SMALL, "", b"one\ntwo\n\nfour\nfive").await;
        assert_eq!(log.lines(), ["", "four", "five"]);
        assert_eq!(log.dropped(), 2);
        let long = LogBounds { lines: 100, ..SMALL };
        let log = said(long, "", "0123456789\n".repeat(50).as_bytes()).await;
        assert_eq!(log.lines().len(), 6);
    }

    #[tokio::test]
    async fn a_line_is_cut_at_its_bound() {
        let log = said(SMALL, "", "é".repeat(100_000).as_bytes()).await;
        assert_eq!(log.lines(), ["é".repeat(8) + CUT]);
    }

    /// Wherever the secret stands, and however much of it fits, no part of it is seen.
    #[tokio::test]
    async fn a_secret_at_the_bound_is_not_half_shown() {
        let secret = "S3CRETVALUE";
        for before in 0..40 {
            let text =
                format!("{}{secret}{secret} and much more text after it", ".".repeat(before));
            let log = said(SMALL, secret, text.as_bytes()).await;
            let shown = log.lines().concat();
            assert!(!shown.contains("S3C"), "{before}: {shown}");
        }
    }

    #[tokio::test]
    async fn a_secret_broken_up_by_colours_is_still_one() {
        let log = said(LogBounds::default(), "hunter22", b"hun\x1b[1mter\x1b[0m22\n").await;
        assert_eq!(log.lines(), ["[secret]"]);
    }
}
