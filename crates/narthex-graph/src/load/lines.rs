//! Bytes as they arrive, parted into lines, with no more in memory than a line and a chunk.

use super::LoadError;

/// Parts chunks of bytes into lines. Whatever the chunks, the lines are the same.
///
/// ```
/// # fn main() -> Result<(), narthex_graph::load::LoadError> {
/// # use narthex_graph::load::Lines;
/// let mut lines = Lines::default();
/// let mut found = Vec::new();
/// for chunk in [&b"{\"a\":1}\n\n{\"b"[..], b"\":2}"] {
///     lines.push(chunk);
///     while let Some((number, text)) = lines.next_line()? {
///         found.push((number, text.to_owned()));
///     }
/// }
/// lines.finish();
/// while let Some((number, text)) = lines.next_line()? {
///     found.push((number, text.to_owned()));
/// }
/// assert_eq!(found, [(1, r#"{"a":1}"#.to_owned()), (3, r#"{"b":2}"#.to_owned())]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Lines {
    buffer: Vec<u8>,
    /// Where the line begins that is next.
    start: usize,
    /// Up to where no end of it was found.
    searched: usize,
    /// How many lines there were.
    number: u64,
    finished: bool,
}

impl Lines {
    /// Takes a chunk. Ask for the lines in it before the next one comes.
    pub fn push(&mut self, chunk: &[u8]) {
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.buffer.extend_from_slice(chunk);
    }

    /// Nothing more comes: what is left is the last line.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// The next line that is not blank, with its number from 1. None until more comes, or at the
    /// end. After an error there is nothing to be had.
    pub fn next_line(&mut self) -> Result<Option<(u64, &str)>, LoadError> {
        loop {
            let (start, end) = match self.find_end() {
                Some(end) => {
                    let start = std::mem::replace(&mut self.start, end + 1);
                    (start, end)
                }
                None if self.finished && self.start < self.buffer.len() => {
                    let end = self.buffer.len();
                    (std::mem::replace(&mut self.start, end), end)
                }
                // A line that is too long is refused before all of it has come.
                None if self.buffer.len() - self.start <= MAX_LINE_BYTES => return Ok(None),
                None => (self.start, self.buffer.len()),
            };
            self.searched = self.searched.max(self.start);
            self.number += 1;
            if end - start > MAX_LINE_BYTES {
                let message = format!("longer than {MAX_LINE_BYTES} bytes");
                return Err(LoadError::new(self.number, None, message));
            }
            let line = self.buffer.get(start..end).unwrap_or_default();
            // Some editors begin a file with a mark that is no text.
            let mark = if self.number == 1 && line.starts_with(MARK) { MARK.len() } else { 0 };
            let start = start + mark;
            let blank = line.get(mark..).is_none_or(|line| line.trim_ascii().is_empty());
            if !blank {
                let number = self.number;
                let line = self.buffer.get(start..end).unwrap_or_default();
                return match std::str::from_utf8(line) {
                    Ok(text) => Ok(Some((number, text.trim_end_matches('\r')))),
                    Err(error) => {
                        let at = error.valid_up_to() + 1;
                        Err(LoadError::new(number, None, format!("not UTF-8, at byte {at}")))
                    }
                };
            }
        }
    }

    fn find_end(&mut self) -> Option<usize> {
        let rest = self.buffer.get(self.searched..).unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == b'\n').map(|at| self.searched + at);
        self.searched = end.unwrap_or(self.buffer.len());
        end
    }
}

/// Bytes of one line.
pub const MAX_LINE_BYTES: usize = 1024 * 1024;
const MARK: &[u8] = "\u{feff}".as_bytes();

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Lines, MAX_LINE_BYTES};

    fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<(u64, String)>, String> {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        let mut drain = |lines: &mut Lines| {
            while let Some((n, text)) = lines.next_line().map_err(|error| error.to_string())? {
                found.push((n, text.to_owned()));
            }
            Ok::<_, String>(())
        };
        for chunk in chunks {
            lines.push(chunk);
            drain(&mut lines)?;
            assert!(lines.buffer.len() <= MAX_LINE_BYTES + chunk.len());
        }
        lines.finish();
        drain(&mut lines)?;
        Ok(found)
    }

    #[test]
    fn lines_are_counted_and_blank_ones_passed_over() {
        for (text, expected) in [
            ("", &[][..]),
            ("\n\n", &[]),
            ("a", &[(1, "a")]),
            ("a\n", &[(1, "a")]),
            ("\n \r\n\na\r\nb", &[(4, "a"), (5, "b")]),
            ("\u{feff}a\nb", &[(1, "a"), (2, "b")]),
            ("\u{feff}\nb", &[(2, "b")]),
            ("é\né", &[(1, "é"), (2, "é")]),
        ] {
            let expected: Vec<_> = expected.iter().map(|(n, t)| (*n, (*t).to_owned())).collect();
            assert_eq!(read([text.as_bytes()]), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn a_line_has_an_end() {
        let whole = "x".repeat(MAX_LINE_BYTES);
        assert_eq!(read([whole.as_bytes(), b"\nb"]).unwrap().len(), 2);
        let too_long = Err(format!("line 2: longer than {MAX_LINE_BYTES} bytes"));
        assert_eq!(read([b"a\n", whole.as_bytes(), b"x", b"\n"]), too_long);
        assert_eq!(read([b"a\n", whole.as_bytes(), b"x\nb"]), too_long);
        // Refused while it still comes.
        let mut lines = Lines::default();
        lines.push(&vec![b'x'; MAX_LINE_BYTES + 1]);
        assert!(lines.next_line().is_err());
    }

    #[test]
    fn what_is_no_text_is_refused_where_it_is() {
        assert_eq!(read([&b"a\nb\xff\n"[..]]), Err("line 2: not UTF-8, at byte 2".to_owned()));
        assert_eq!(read([&b"a\n\xc3"[..]]), Err("line 2: not UTF-8, at byte 1".to_owned()));
    }

    proptest! {
        #[test]
        fn where_chunks_are_cut_does_not_matter(
            text in "([aé{}\u{feff}]{0,3}(\r?\n| ){0,2}){0,8}",
            mut cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let bytes = text.as_bytes();
            cuts.sort_by_key(|cut| cut.index(bytes.len() + 1));
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts {
                let to = cut.index(bytes.len() + 1);
                chunks.push(&bytes[from..to]);
                from = to;
            }
            chunks.push(&bytes[from..]);
            let expected: Vec<(u64, String)> = text
                .strip_prefix('\u{feff}').unwrap_or(&text)
                .split('\n')
                .zip(1..)
                .filter(|(line, _)| !line.trim_ascii().is_empty())
                .map(|(line, n)| (n, line.trim_end_matches('\r').to_owned()))
                .collect();
            prop_assert_eq!(read(chunks), Ok(expected));
        }
    }
}
