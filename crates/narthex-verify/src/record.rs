//! A record's bytes: JSON in its one form, told apart from everything else in one pass.
//!
//! One form means: no space between tokens, the keys of an object in the order of their bytes and
//! none twice, printable ASCII as it is, `"` and `\` escaped by `\`, every other character as
//! `\uXXXX` in lower case. Nothing is allocated, and nothing is understood but the number and the
//! version.

/// What is read of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) version: u64,
    pub(crate) seq: u64,
}

/// Reads a record. None if it is not in its one form or lacks number or version.
pub(crate) fn read(bytes: &[u8]) -> Option<Said> {
    let (mut version, mut seq) = (None, None);
    let mut parser = Parser { rest: bytes };
    parser.object(DEEPEST, &mut |key, value| match key {
        b"v" => version = number(value),
        b"seq" => seq = number(value),
        _ => {}
    })?;
    if !parser.rest.is_empty() {
        return None;
    }
    Some(Said { version: version?, seq: seq? })
}

struct Parser<'a> {
    rest: &'a [u8],
}

impl<'a> Parser<'a> {
    fn object(&mut self, depth: u8, each: &mut dyn FnMut(&'a [u8], &'a [u8])) -> Option<()> {
        self.take(b'{')?;
        if self.take(b'}').is_some() {
            return Some(());
        }
        let mut last: Option<&[u8]> = None;
        loop {
            let key = self.string()?;
            if last.is_some_and(|last| !is_before(last, key)) {
                return None;
            }
            last = Some(key);
            self.take(b':')?;
            let start = self.rest;
            self.value(depth)?;
            each(key, start.get(..start.len() - self.rest.len())?);
            if self.take(b',').is_none() {
                return self.take(b'}');
            }
        }
    }

    fn value(&mut self, depth: u8) -> Option<()> {
        match self.rest.first()? {
            b'"' => self.string().map(drop),
            b'{' => self.object(depth.checked_sub(1)?, &mut |_, _| {}),
            b'[' => self.array(depth.checked_sub(1)?),
            b'n' => self.word(b"null"),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            _ => self.number(),
        }
    }

    fn array(&mut self, depth: u8) -> Option<()> {
        self.take(b'[')?;
        if self.take(b']').is_some() {
            return Some(());
        }
        loop {
            self.value(depth)?;
            if self.take(b',').is_none() {
                return self.take(b']');
            }
        }
    }

    /// What stands between the quotes, as it is written.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.take(b'"')?;
        let start = self.rest;
        loop {
            let plain = self.rest.iter().position(|c| !is_plain(*c))?;
            self.rest = self.rest.get(plain..)?;
            match self.rest {
                [b'"', after @ ..] => {
                    let text = start.get(..start.len() - self.rest.len());
                    self.rest = after;
                    return text;
                }
                [b'\\', b'"' | b'\\', after @ ..] => self.rest = after,
                [b'\\', b'u', a, b, c, d, after @ ..] => {
                    let unit = [a, b, c, d].into_iter().try_fold(0, |unit: u32, c| {
                        let digit = char::from(*c).to_digit(16)?;
                        (!c.is_ascii_uppercase()).then_some(unit << 4 | digit)
                    })?;
                    if (u32::from(b' ')..=u32::from(b'~')).contains(&unit) {
                        return None;
                    }
                    self.rest = after;
                }
                _ => return None,
            }
        }
    }

    fn number(&mut self) -> Option<()> {
        let _ = self.take(b'-');
        let whole = self.digits()?;
        if whole.len() > 1 && whole.first() == Some(&b'0') {
            return None;
        }
        if self.take(b'.').is_some() {
            self.digits()?;
        }
        if self.take(b'e').is_some() {
            let _ = self.take(b'+').or_else(|| self.take(b'-'));
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<&'a [u8]> {
        let count = self.rest.iter().take_while(|c| c.is_ascii_digit()).count();
        let (digits, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        (count > 0).then_some(digits)
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(word)?;
        Some(())
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        let (first, rest) = self.rest.split_first()?;
        (*first == byte).then(|| self.rest = rest)
    }
}

const fn is_plain(c: u8) -> bool {
    matches!(c, b' '..=b'~') && c != b'"' && c != b'\\'
}

/// Keys are ordered by the bytes of what they say, not of how it is escaped.
fn is_before(a: &[u8], b: &[u8]) -> bool {
    if !a.contains(&b'\\') && !b.contains(&b'\\') {
        return a < b;
    }
    let said = |key: &[u8]| -> Option<String> {
        let quoted = [b"\"", key, b"\""].concat();
        serde_json::from_slice(&quoted).ok()
    };
    matches!((said(a), said(b)), (Some(a), Some(b)) if a.as_bytes() < b.as_bytes())
}

fn number(bytes: &[u8]) -> Option<u64> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

/// How deep objects and lists may lie in each other.
const DEEPEST: u8 = 16;

#[cfg(test)]
mod tests {
    use super::{Said, read};

    #[test]
    fn number_and_version_are_found() {
        for (text, version, seq) in [
            (r#"{"seq":7,"v":1}"#, 1, 7),
            (r#"{"phase":"intent","reserve":{"bytes":9,"cost":8,"micros":7},"seq":7,"v":1}"#, 1, 7),
            (r#"{"a":{"seq":9,"v":9},"b":[1,-2.5e+3,null,true,false,[],{}],"seq":7,"v":1}"#, 1, 7),
            (r#"{"\u000a":"\u2028\"\\","A":"","seq":18446744073709551615,"v":2}"#, 2, u64::MAX),
        ] {
            assert_eq!(read(text.as_bytes()), Some(Said { version, seq }), "{text}");
        }
    }

    #[test]
    fn another_form_of_the_same_is_none() {
        for text in [
            "",
            "null",
            "{}",
            r#"{"seq":7}"#,
            r#"{"v":1}"#,
            r#"{"v":1,"seq":7}"#,
            r#"{"seq":7,"seq":7,"v":1}"#,
            r#" {"seq":7,"v":1}"#,
            r#"{"seq":7,"v":1} "#,
            "{\"seq\":7,\"v\":1}\n",
            r#"{"seq": 7,"v":1}"#,
            r#"{"seq":7,"v":1,}"#,
            r#"{"seq":07,"v":1}"#,
            r#"{"seq":7.0,"v":1}"#,
            r#"{"seq":-7,"v":1}"#,
            r#"{"seq":"7","v":1}"#,
            r#"{"seq":7,"v":1}{"seq":8,"v":1}"#,
            r#"{"a":"\n","seq":7,"v":1}"#,
            r#"{"a":"\u000A","seq":7,"v":1}"#,
            r#"{"a":"\u0041","seq":7,"v":1}"#,
            "{\"a\":\"\u{e9}\",\"seq\":7,\"v\":1}",
            "{\"a\":\"\n\",\"seq\":7,\"v\":1}",
            r#"{"a":tru,"seq":7,"v":1}"#,
            r#"{"a":.5,"seq":7,"v":1}"#,
            r#"{"a":[1,],"seq":7,"v":1}"#,
            r#"{"\u00e9":1,"\u000a":2,"seq":7,"v":1}"#,
        ] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
        let deep = format!("{{\"a\":{}{},\"seq\":7,\"v\":1}}", "[".repeat(99), "]".repeat(99));
        assert_eq!(read(deep.as_bytes()), None);
    }
}
