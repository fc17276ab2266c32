//! Lines of a process, each under a bound. One that is longer is passed over in pieces; its ends are
//! kept to see whose answer it would have been.

use std::io;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// What a process writes.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    most: usize,
}

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Text(Bytes),
    /// Longer than the bound, with the id of the answer in it if that could be seen.
    TooLong {
        id: Option<u64>,
        size: u64,
    },
    /// So long that its end was not waited for.
    Endless,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R, most: usize) -> Self {
        Self { input: BufReader::with_capacity(BUFFER, input), most }
    }

    /// The next line; none at the end. Not to be dropped half way and then called again.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        let mut line = BytesMut::new();
        let mut over: Option<Over> = None;
        loop {
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                let nothing = line.is_empty() && over.is_none();
                return Ok((!nothing).then(|| finished(line, over)));
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let piece = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            match &mut over {
                Some(over) => over.add(piece),
                None if line.len() + piece.len() > self.most => {
                    let mut first = Over::default();
                    first.add(&std::mem::take(&mut line));
                    first.add(piece);
                    over = Some(first);
                }
                None => line.extend_from_slice(piece),
            }
            let used = piece.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                return Ok(Some(finished(line, over)));
            }
            let furthest = self.most.saturating_mul(ENDLESS_AFTER) as u64;
            if over.as_ref().is_some_and(|over| over.size > furthest) {
                return Ok(Some(Line::Endless));
            }
        }
    }
}

fn finished(line: BytesMut, over: Option<Over>) -> Line {
    match over {
        Some(over) => Line::TooLong { id: over.id(), size: over.size },
        None => Line::Text(line.freeze()),
    }
}

/// A line that is not kept: how long it was, and its two ends.
#[derive(Debug, Default)]
struct Over {
    size: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Over {
    fn add(&mut self, piece: &[u8]) {
        self.size += piece.len() as u64;
        let room = END.saturating_sub(self.head.len()).min(piece.len());
        self.head.extend_from_slice(piece.get(..room).unwrap_or_default());
        let last = piece.get(piece.len().saturating_sub(END)..).unwrap_or_default();
        self.tail.extend_from_slice(last);
        let surplus = self.tail.len().saturating_sub(END);
        self.tail.drain(..surplus);
    }

    /// The id, if it stands before or after what makes the line so long. Only to fail the right
    /// question: whoever lies about it fails one of its own.
    fn id(&self) -> Option<u64> {
        let head = String::from_utf8_lossy(&self.head);
        let tail = String::from_utf8_lossy(&self.tail);
        id_in_front(&head).or_else(|| id_at_the_end(&tail))
    }
}

/// Of a line that begins with the id, or with the version and the id.
fn id_in_front(head: &str) -> Option<u64> {
    let rest = head.trim_start().strip_prefix('{')?.trim_start();
    let rest = after_version(rest).map_or(rest, |rest| rest.trim_start_matches([',', ' ']));
    number(after_key(rest, "\"id\"")?).map(|(id, _)| id)
}

/// Of a line that ends with the id, or with the id and the version.
fn id_at_the_end(tail: &str) -> Option<u64> {
    let start = tail.rfind("\"id\"")?;
    let before = tail.get(..start)?.trim_end();
    let (id, rest) = number(after_key(tail.get(start..)?, "\"id\"")?)?;
    let rest = rest.trim_start();
    let rest =
        rest.strip_prefix(',').and_then(|rest| after_version(rest.trim_start())).unwrap_or(rest);
    (before.ends_with([',', '{']) && rest.trim() == "}").then_some(id)
}

fn after_version(text: &str) -> Option<&str> {
    after_key(text, "\"jsonrpc\"")?.strip_prefix("\"2.0\"")
}

fn after_key<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    Some(text.strip_prefix(key)?.trim_start().strip_prefix(':')?.trim_start())
}

fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}

const BUFFER: usize = 64 << 10;
/// Of a line that is too long, so much is kept of each end.
const END: usize = 256;
/// A line that is so many times too long is not waited for.
const ENDLESS_AFTER: usize = 8;

#[cfg(test)]
mod tests {
    use super::{Line, Lines};

    async fn all(text: &str, most: usize) -> Vec<Line> {
        let mut lines = Lines::new(text.as_bytes(), most);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await.expect("bytes in memory") {
            let endless = line == Line::Endless;
            seen.push(line);
            if endless {
                break;
            }
        }
        seen
    }

    #[tokio::test]
    async fn f13_a_long_line_is_passed_over_and_whose_it_was_is_seen() {
        let x = "x".repeat(200_000);
        for (line, id) in [
            (format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"a":"{x}"}}}}"#), Some(7)),
            (format!(r#"{{ "id" : 7 , "result":{{"a":"{x}"}}}}"#), Some(7)),
            (format!(r#"{{"result":{{"a":"{x}"}},"jsonrpc":"2.0","id":7}}"#), Some(7)),
            (format!(r#"{{"result":{{"a":"{x}"}},"id":7,"jsonrpc":"2.0"}}"#), Some(7)),
            (format!(r#"{{"result":{{"a":"{x}","id":7}},"jsonrpc":"2.0"}}"#), None),
            (format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{"a":"{x}\"id\":7}}"}}}}"#), None),
            (format!(r#"{{"id":"7","result":"{x}"}}"#), None),
            (x.clone(), None),
        ] {
            let size = line.len() as u64;
            let seen = all(&format!("one\n{line}\ntwo"), 100_000).await;
            let text = |text: &'static str| Line::Text(text.into());
            assert_eq!(seen, [text("one"), Line::TooLong { id, size }, text("two")]);
        }
    }

    #[tokio::test]
    async fn f13_a_line_without_an_end_is_left() {
        let seen = all(&"x".repeat(2_000_000), 100_000).await;
        assert_eq!(seen, [Line::Endless]);
    }
}
