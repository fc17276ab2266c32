//! The reader.

use std::collections::HashSet;

use super::{JsonFault, Key, Kind, Node, Place};

/// What a text is held to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    /// Comments, trailing commas and a byte order mark are passed over: editors write them.
    pub(crate) comments: bool,
    pub(crate) bytes: usize,
    pub(crate) depth: usize,
    pub(crate) nodes: usize,
}

/// Reads one value: all of the text, or nothing.
pub(crate) fn read(text: &str, reading: &Reading) -> Result<Node, (Place, JsonFault)> {
    if text.len() > reading.bytes {
        return Err((Place::START, JsonFault::Bytes(reading.bytes)));
    }
    let text = if reading.comments { text.trim_start_matches('\u{feff}') } else { text };
    let mut reader = Reader { rest: text, at: Place::START, nodes: 0, reading };
    reader.skip()?;
    let node = reader.value(0)?;
    reader.skip()?;
    if reader.rest.is_empty() { Ok(node) } else { reader.fault(JsonFault::Trailing) }
}

type Outcome<T> = Result<T, (Place, JsonFault)>;

struct Reader<'a> {
    rest: &'a str,
    at: Place,
    nodes: usize,
    reading: &'a Reading,
}

impl<'a> Reader<'a> {
    fn fault<T>(&self, fault: JsonFault) -> Outcome<T> {
        Err((self.at, fault))
    }

    fn peek(&self) -> Option<u8> {
        self.rest.as_bytes().first().copied()
    }

    /// Takes so many bytes, which end on a character.
    fn advance(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        for c in taken.chars() {
            if c == '\n' {
                self.at = Place { line: self.at.line.saturating_add(1), column: 1 };
            } else {
                self.at.column = self.at.column.saturating_add(1);
            }
        }
        self.rest = rest;
        taken
    }

    /// White space, and comments where they are taken.
    fn skip(&mut self) -> Outcome<()> {
        loop {
            let blank = |b: &u8| !matches!(b, b' ' | b'\t' | b'\n' | b'\r');
            let end = self.rest.bytes().position(|b| blank(&b)).unwrap_or(self.rest.len());
            self.advance(end);
            if !self.rest.starts_with("//") && !self.rest.starts_with("/*") {
                return Ok(());
            }
            if !self.reading.comments {
                return self.fault(JsonFault::Comment);
            }
            let end = if self.rest.starts_with("//") {
                self.rest.find('\n').unwrap_or(self.rest.len())
            } else {
                let inner = self.rest.get(2..).and_then(|rest| rest.find("*/"));
                inner.map_or(self.rest.len(), |end| end + 4)
            };
            self.advance(end);
        }
    }

    fn value(&mut self, depth: usize) -> Outcome<Node> {
        self.nodes += 1;
        if self.nodes > self.reading.nodes {
            return self.fault(JsonFault::Nodes(self.reading.nodes));
        }
        if depth > self.reading.depth {
            return self.fault(JsonFault::Depth(self.reading.depth));
        }
        let at = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.object(depth)?),
            Some(b'[') => Kind::List(self.list(depth)?),
            Some(b'"') => Kind::Text(self.text()?),
            Some(b'-' | b'0'..=b'9') => Kind::Number(self.number()?),
            Some(_) => self.word()?,
            None => return self.fault(JsonFault::Expected("a value")),
        };
        Ok(Node { at, kind })
    }

    fn word(&mut self) -> Outcome<Kind> {
        let words =
            [("true", Kind::Bool(true)), ("false", Kind::Bool(false)), ("null", Kind::Null)];
        for (word, kind) in words {
            if self.rest.starts_with(word) {
                self.advance(word.len());
                return Ok(kind);
            }
        }
        self.fault(JsonFault::Expected("a value"))
    }

    fn number(&mut self) -> Outcome<String> {
        let part = |b: &u8| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
        let end = self.rest.bytes().position(|b| !part(&b)).unwrap_or(self.rest.len());
        let token = self.rest.get(..end).unwrap_or_default();
        if token.len() > LONGEST_NUMBER
            || serde_json::from_str::<serde_json::Number>(token).is_err()
        {
            return self.fault(JsonFault::Number);
        }
        Ok(self.advance(end).to_owned())
    }

    fn text(&mut self) -> Outcome<String> {
        let mut escaped = false;
        let mut end = None;
        for (n, byte) in self.rest.bytes().enumerate().skip(1) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    end = Some(n + 1);
                    break;
                }
                _ => {}
            }
        }
        let token = end.and_then(|end| self.rest.get(..end)).unwrap_or_default();
        let Ok(text) = serde_json::from_str(token) else { return self.fault(JsonFault::Text) };
        self.advance(token.len());
        Ok(text)
    }

    fn list(&mut self, depth: usize) -> Outcome<Vec<Node>> {
        let mut items = Vec::new();
        self.advance(1);
        loop {
            self.skip()?;
            if self.closes(b']', items.is_empty()) {
                return Ok(items);
            }
            items.push(self.value(depth + 1)?);
            if self.comma_or(b']', "`,` or `]`")? {
                return Ok(items);
            }
        }
    }

    fn object(&mut self, depth: usize) -> Outcome<Vec<(Key, Node)>> {
        let mut entries = Vec::new();
        let mut seen = HashSet::new();
        self.advance(1);
        loop {
            self.skip()?;
            if self.closes(b'}', entries.is_empty()) {
                return Ok(entries);
            }
            if self.peek() != Some(b'"') {
                return self.fault(JsonFault::Expected("a key in quotes"));
            }
            let at = self.at;
            let name = self.text()?;
            if !seen.insert(name.clone()) {
                return Err((at, JsonFault::DoubledKey(crate::text::shown(&name, 80))));
            }
            self.skip()?;
            if self.peek() != Some(b':') {
                return self.fault(JsonFault::Expected("`:`"));
            }
            self.advance(1);
            self.skip()?;
            let value = self.value(depth + 1)?;
            entries.push((Key { at, name }, value));
            if self.comma_or(b'}', "`,` or `}`")? {
                return Ok(entries);
            }
        }
    }

    /// Whether it ends here: at once, or after a comma that editors leave.
    fn closes(&mut self, end: u8, empty: bool) -> bool {
        let closes = self.peek() == Some(end) && (empty || self.reading.comments);
        if closes {
            self.advance(1);
        }
        closes
    }

    /// Whether it ends here; if not, a comma was taken.
    fn comma_or(&mut self, end: u8, expected: &'static str) -> Outcome<bool> {
        self.skip()?;
        let next = self.peek();
        if next != Some(end) && next != Some(b',') {
            return self.fault(JsonFault::Expected(expected));
        }
        self.advance(1);
        Ok(next == Some(end))
    }
}

/// Digits of a number: more mean nothing to anyone.
const LONGEST_NUMBER: usize = 64;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{JsonFault, Place, Reading, read};

    const STRICT: Reading = Reading { comments: false, bytes: 10_000, depth: 8, nodes: 100 };
    const LOOSE: Reading = Reading { comments: true, ..STRICT };

    #[test]
    fn what_is_json_is_read() {
        for (text, value) in [
            ("{}", json!({})),
            (" [ 1 , \"a\\n\" , null , true , false ] ", json!([1, "a\n", null, true, false])),
            (r#"{"a":{"b":[{}]},"c":-1.5e3}"#, json!({"a": {"b": [{}]}, "c": -1500.0})),
            ("\"\u{e9}\\u00e9\\ud83d\\ude00\"", json!("\u{e9}\u{e9}\u{1f600}")),
        ] {
            assert_eq!(read(text, &STRICT).unwrap().to_value(), value, "{text}");
        }
    }

    #[test]
    fn what_is_not_is_refused_with_its_place() {
        for (text, line, column, fault) in [
            ("", 1, 1, JsonFault::Expected("a value")),
            ("{", 1, 2, JsonFault::Expected("a key in quotes")),
            ("{\n  \"a\" 1}", 2, 7, JsonFault::Expected("`:`")),
            ("[1 2]", 1, 4, JsonFault::Expected("`,` or `]`")),
            ("[1,]", 1, 4, JsonFault::Expected("a value")),
            ("{\"a\":1,}", 1, 8, JsonFault::Expected("a key in quotes")),
            ("{\"\u{e9}\":1,\n \"b\":x}", 2, 6, JsonFault::Expected("a value")),
            ("{\"a\":1,\n \"a\":2}", 2, 2, JsonFault::DoubledKey("a".into())),
            ("{\"a\":1,\"\\u0061\":2}", 1, 8, JsonFault::DoubledKey("a".into())),
            ("{} x", 1, 4, JsonFault::Trailing),
            ("[01]", 1, 2, JsonFault::Number),
            ("[1e999]", 1, 2, JsonFault::Number),
            ("[\"a]", 1, 2, JsonFault::Text),
            ("[\"\\ud800\"]", 1, 2, JsonFault::Text),
            ("[\"a\u{1}\"]", 1, 2, JsonFault::Text),
            ("[1, // x\n2]", 1, 5, JsonFault::Comment),
            ("\u{feff}{}", 1, 1, JsonFault::Expected("a value")),
            ("[[[[[[[[[[]]]]]]]]]]", 1, 10, JsonFault::Depth(8)),
        ] {
            assert_eq!(read(text, &STRICT), Err((Place { line, column }, fault)), "{text}");
        }
        let wide = format!("[{}0]", "0,".repeat(200));
        assert_eq!(read(&wide, &STRICT).unwrap_err().1, JsonFault::Nodes(100));
        let long = format!("\"{}\"", "a".repeat(10_000));
        assert_eq!(read(&long, &STRICT).unwrap_err().1, JsonFault::Bytes(10_000));
    }

    #[test]
    fn what_editors_write_is_read_where_it_may_be() {
        for text in [
            "\u{feff}// one\n{ /* two */ \"a\": [1, 2,], // three\n}",
            "{\"a\": [1, 2]} // the end",
            "{\"a\": [1, 2]} /* never closed",
        ] {
            assert_eq!(read(text, &LOOSE).unwrap().to_value(), json!({"a": [1, 2]}), "{text}");
            assert!(read(text, &STRICT).is_err(), "{text}");
        }
        // What looks like a comment in a string is none.
        assert_eq!(read("\"http://x\"", &STRICT).unwrap().to_value(), json!("http://x"));
        assert!(read("[,]", &LOOSE).is_err());
    }

    proptest! {
        #[test]
        fn it_never_panics(text in "[\\[\\]{}\",:0-9a-z\\\\/* \n\u{e9}-]{0,60}") {
            let _ = read(&text, &STRICT);
            let _ = read(&text, &LOOSE);
        }

        #[test]
        fn what_it_takes_serde_json_takes_and_reads_alike(text in "[\\[\\]{}\",:0-9ae.\\-]{0,40}") {
            if let Ok(node) = read(&text, &STRICT) {
                prop_assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(node.to_value()));
            }
        }
    }
}
